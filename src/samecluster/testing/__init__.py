"""Conformance suites for what others may bring: an oracle, a method, a store; and claims.

Each check raises AssertionError with the sentence that does not hold. Run it in your own tests;
CONTRIBUTING.md has an example of each. `check_claims` judges what a result says against the truth.
"""

from samecluster.testing.claim_check import Held, JudgedClaim, check_claims
from samecluster.testing.method_suite import check_method
from samecluster.testing.oracle_suite import check_oracle
from samecluster.testing.store_suite import check_store

__all__ = ["Held", "JudgedClaim", "check_claims", "check_method", "check_oracle", "check_store"]
