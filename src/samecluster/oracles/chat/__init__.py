"""Language models that answer, behind any server that speaks the OpenAI-compatible chat API."""

from samecluster.oracles.chat.oracle import ChatOracle

__all__ = ["ChatOracle"]
