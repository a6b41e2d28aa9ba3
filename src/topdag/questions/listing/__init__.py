"""How a list is made: from lattices, by partition, under constraints; and what it holds when it was stopped early.

Comes in: scores, and how many are wanted or how far behind the best. Goes out: networks or classes, best first. Knows:
what ``questions`` decides, and all below.
"""
