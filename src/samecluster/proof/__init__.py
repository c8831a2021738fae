"""Proofs: the log that a recovery writes, and a checker that trusts none of it.

``checker.py`` imports nothing of this package and is meant to be read in one sitting; the format
that joins the two is described in docs/proofs.md.
"""
