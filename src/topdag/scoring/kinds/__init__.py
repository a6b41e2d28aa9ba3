"""The kinds of score: BDeu, BIC and similar, Gaussian and mixed ones, and those under bounds on probabilities.

Comes in: a table and a family. Goes out: its local score. Knows: ``search``, ``knowledge``, ``networks``, ``data``.
"""
