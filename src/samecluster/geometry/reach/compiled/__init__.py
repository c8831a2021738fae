"""The linear programs compiled by numba: one flat array of lanes, the same results as NumPy."""
