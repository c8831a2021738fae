"""Several people, asked until a stated confidence, with each one's reliability learned."""

from samecluster.oracles.panel.panel import Panel

__all__ = ["Panel"]
