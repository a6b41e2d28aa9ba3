"""Benchmarks. ``make bench`` prints the main tables; ``python -m bench network_search ad_tree`` the others."""
