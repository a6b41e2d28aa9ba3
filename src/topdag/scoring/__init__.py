"""From a ``Table`` to ``Scores``: which families are scored, which are kept, and how they are rounded.

Comes in: a table, a kind of score, constraints. Goes out: ``Scores``, on which every question is asked.
Knows: ``search``, ``knowledge``, ``networks``, ``data``.
"""
