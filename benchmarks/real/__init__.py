"""Real data, pairs, k unknown: samecluster beside a graph baseline, an SVM and tools that ask."""
