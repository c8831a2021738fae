"""Questions for people who would have to wait for another person's answer.

A plan asks what it needs to know next. While others look at that, a second run goes on as if nobody
could say where their items belong; what it asks is worth knowing whatever they answer.
"""

from __future__ import annotations

from collections.abc import Iterable

from samecluster.sessions.running.engine import Engine
from samecluster.sessions.state.state import State


class LookAhead:
    """The pairs of the second run, which begins again when there is an event or another look."""

    def __init__(self) -> None:
        self._made_for: tuple[int, frozenset[str]] | None = None
        self._pairs: list[tuple[str, str]] = []

    def pairs(
        self, engine: Engine, state: State, looked_at: Iterable[str]
    ) -> list[tuple[str, str]]:
        """Pairs to ask about while others place the items that they look at.

        ``engine`` is the first run, which is left as it is.
        """
        wanted = (state.n_events, frozenset(looked_at))
        if wanted != self._made_for:
            self._pairs = _pending_pairs(engine.fresh(skipped=wanted[1]), state)
            self._made_for = wanted
        return self._pairs


def _pending_pairs(engine: Engine, state: State) -> list[tuple[str, str]]:
    engine.follow(state)
    if engine.run.labelling.audit is not None:
        # An audit would have to begin again after an answer that it did not ask for.
        return []
    keys = state.items.keys
    return [(keys[q.item], keys[q.comparator]) for q in engine.run.pending]
