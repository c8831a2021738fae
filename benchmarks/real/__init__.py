"""Real data, pairs, k unknown: the sets that are measured."""
