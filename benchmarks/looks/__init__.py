"""How many looks it takes, against the goals; ``python -m benchmarks.looks``."""
