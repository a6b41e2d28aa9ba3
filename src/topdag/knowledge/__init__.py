"""What an expert knows: constraints on edges, paths and parents, rules, priors, bounds on probabilities.

Comes in: what the user writes. Goes out: ``Constraints``, compiled to masks and rules; ``Prior``. Knows: ``networks``.
"""
