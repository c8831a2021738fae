"""What a recovery returns: labels, how each is known, what they rest on, and why."""

from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import MarginSearch, Recovery, Round

__all__ = ["How", "MarginSearch", "Recovery", "Round"]
