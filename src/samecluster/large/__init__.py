"""Data larger than memory: a sample is asked about, and sweeps label all other rows."""
