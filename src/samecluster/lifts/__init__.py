"""Maps of columns to more columns, in which clusters that no ellipsoid separates have a margin."""
