"""Questions for people who would have to wait for another person's answer.

A plan asks what it needs to know next. While others look at that, a second run goes on as if nobody
could say where their items belong; what it asks is worth knowing whatever they answer.
"""

from __future__ import annotations

from collections.abc import Iterable

from samecluster.questions.look import Look
from samecluster.sessions.running.engine import Engine
from samecluster.sessions.state.state import State


class LookAhead:
    """The looks of the second run, which begins again when there is an event or another look."""

    def __init__(self) -> None:
        self._made_for: tuple[int, frozenset[str]] | None = None
        self._looks: tuple[Look, ...] = ()

    def looks(self, engine: Engine, state: State, looked_at: Iterable[str]) -> tuple[Look, ...]:
        """What to ask while others place the items that they look at.

        ``engine`` is the first run, which is left as it is.
        """
        wanted = (state.n_events, frozenset(looked_at))
        if wanted != self._made_for:
            self._looks = _open_looks(engine.fresh(skipped=wanted[1]), state)
            self._made_for = wanted
        return self._looks


def _open_looks(engine: Engine, state: State) -> tuple[Look, ...]:
    engine.follow(state)
    if engine.run.labelling.audit is not None:
        # An audit would have to begin again after an answer that it did not ask for.
        return ()
    return engine.run.looks
