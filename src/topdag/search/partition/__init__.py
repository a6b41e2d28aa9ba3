"""Lists of networks or classes by partition: the best of a part, then what is left of the part without it, in parts.

Comes in: a store of listed families and a run. Goes out: the best networks or classes, and up to which cost none is
missing. Begin reading at ``listing.py``.
"""
