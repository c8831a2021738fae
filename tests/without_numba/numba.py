"""Stands before the real one on the path of processes that tests start; see tests/conftest.py."""

raise ImportError("tests do without numba, unless they are about compiled programs")
