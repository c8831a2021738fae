"""Guesses which points belong together, so that good questions come first; never a label."""
