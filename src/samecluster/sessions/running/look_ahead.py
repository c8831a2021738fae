"""Questions for whoever would have to wait for another's answer.

A plan asks what it needs to know next. While others look at that, a second run goes on as if nobody
could say where their items belong; what it asks is worth knowing whatever they answer.
"""

from __future__ import annotations

from collections.abc import Iterable

from samecluster._typing import FloatArray, IntArray
from samecluster.sessions.running.engine import Engine
from samecluster.sessions.state.state import State

__all__ = ["LookAhead"]


class LookAhead:
    """The second run, begun anew when there is news."""

    def __init__(self, X: FloatArray, hints: IntArray | None) -> None:
        self._X, self._hints = X, hints
        self._made_for: tuple[int, frozenset[str]] | None = None
        self._pairs: list[tuple[str, str]] = []

    def pairs(self, state: State, looked_at: Iterable[str]) -> list[tuple[str, str]]:
        """Pairs to ask about while others place the items that they look at."""
        wanted = (state.n_events, frozenset(looked_at))
        if wanted != self._made_for:
            self._pairs, self._made_for = self._asked(state, wanted[1]), wanted
        return self._pairs

    def _asked(self, state: State, looked_at: frozenset[str]) -> list[tuple[str, str]]:
        engine = Engine(self._X, state.items, hints=self._hints, passing_over=looked_at)
        engine.follow(state)
        if engine.run.labelling.audit is not None:
            # An audit would have to begin anew after an answer that it did not ask for.
            return []
        keys = state.items.keys
        return [(keys[q.item], keys[q.comparator]) for q in engine.run.pending]
