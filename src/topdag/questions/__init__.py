"""One function for each question: request, plan, scores, engine, answer.

Comes in: scores or a table, and options. Goes out: an answer. Knows: ``constrained``, ``effects``,
``answers`` and all below them.
"""
