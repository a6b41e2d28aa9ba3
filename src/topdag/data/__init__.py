"""From a source to a ``Table``: files, frames and arrays read, columns coded, numbers cut, rows counted.

Comes in: a path, frame, array or dict. Goes out: a ``Table``, with notes of what was done. Knows: ``_util``.
"""
