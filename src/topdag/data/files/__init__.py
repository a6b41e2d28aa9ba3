"""Files of tables: what a file is, and text cut into cells.

Comes in: a path. Goes out: columns of distinct texts, or a frame, and from there a ``Table``. Knows: ``_util``.
"""
