"""What would follow if a variable were set: adjustment for the parents of the cause, averaged over parent sets.

Comes in: a table, a score and the weight of each parent set of a cause. Goes out: the mean of what follows, and draws.
Knows: ``scoring``, ``data``.
"""
