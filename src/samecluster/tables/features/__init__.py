"""From a table to a matrix: which columns count, and how each becomes numbers."""
