"""The command line: options to requests, answers to text, errors to messages and exit codes.

Comes in: words of a shell. Goes out: text and an exit code. Knows: everything; nothing knows it.
"""
