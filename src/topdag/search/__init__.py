"""Every engine that needs local scores only: lattices, order search, relaxation, branch and cut, partition, cycles.

Comes in: a store of local scores and a run. Goes out: networks found, and a bound. Knows: ``_util`` and the core; no
table, no names, no constraints.
"""
