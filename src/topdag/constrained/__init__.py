"""Search under knowledge that no single family tells: paths, orders, rules across variables.

Comes in: ``Scores`` with compiled constraints. Goes out: networks that satisfy them, and a bound. Knows: ``scoring``,
``search``, ``knowledge``.
"""
