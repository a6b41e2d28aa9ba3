"""Files: scores, networks, lists, posteriors and constraints, written and read.

Comes in: a path, or an object and a path. Goes out: an object, or a file written whole or not at all.
Knows: ``answers`` and all below them.
"""
