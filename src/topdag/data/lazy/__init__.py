"""Rows that an engine reads: the files of many parts that it finds, and rows that are too many to be held.

Comes in: a folder, a pattern or a lazy frame. Goes out: lazy frames of files, and counts that were added up chunk by
chunk. Knows: ``_util``.
"""
