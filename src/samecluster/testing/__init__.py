"""Conformance suites for what others may bring: an oracle, a method, a store.

Each check raises AssertionError with the sentence that does not hold. Run it in your own tests;
CONTRIBUTING.md has an example of each.
"""

from samecluster.testing.method_suite import check_method
from samecluster.testing.oracle_suite import check_oracle
from samecluster.testing.store_suite import check_store

__all__ = ["check_method", "check_oracle", "check_store"]
