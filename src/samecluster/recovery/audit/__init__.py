"""Audits: a bound on the share of wrong labels from questions about random ones."""

from samecluster.recovery.audit.audit import Audit

__all__ = ["Audit"]
