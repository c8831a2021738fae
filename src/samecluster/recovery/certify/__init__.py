"""Certificates: asks where proofs grow most and proves every other label."""

from samecluster.recovery.certify.plan import Certify

__all__ = ["Certify"]
