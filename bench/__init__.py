"""Benchmarks. ``make bench`` prints the main table; ``python -m bench scaling|ad_tree`` the others."""
