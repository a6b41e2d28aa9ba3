"""Formats of network files, one module each: text to parts of a network and back.

Comes in: text. Goes out: variables with parents and probabilities. Knows: ``networks``.
"""
