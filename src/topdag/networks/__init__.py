"""Networks, equivalence classes and fitted networks: what they are, how they are drawn, handed to other programs.

Comes in: names and parents, or a table to fit. Goes out: ``Network``, ``EquivalenceClass``, ``FittedNetwork``.
Knows: ``data``.
"""
