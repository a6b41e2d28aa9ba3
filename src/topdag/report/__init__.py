"""A report: one self-contained page with every answer, to look at in a browser.

Comes in: scores or a table, and answers that are there already. Goes out: HTML. Knows: ``questions`` and all below.
"""
