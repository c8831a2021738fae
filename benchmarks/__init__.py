"""Benchmarks: ratios and counts measured in one run, never a bare time. ``make bench-NAME``."""
