"""Sessions on data in blocks: the sample that is asked about, and all other rows."""
