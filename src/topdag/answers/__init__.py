"""What a question gives back, and what is read off it: answers, lists, posteriors, samples, comparisons.

Comes in: what an engine found, with names. Goes out: frozen objects that print, draw and convert themselves.
Knows: ``scoring``, ``networks``, ``data``.
"""
