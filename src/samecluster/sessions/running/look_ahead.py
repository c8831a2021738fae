"""Questions for people who would have to wait for another person's answer.

A plan asks what it needs to know next. While others look at that, a second run goes on as if nobody
could say where their items belong; what it asks is worth knowing whatever they answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from samecluster.sessions.running.engine import Engine
from samecluster.sessions.state.state import State

_MOST_NEW = 1 / 32
"""The share of all answers that may have come since the second run began: beginning again takes as
long as there are answers, so that this bounds the work per answer. With few answers each counts."""

_MOST_REPLAYED = 256
"""Once all labels are known a plan checks some. A run from all answers would begin its checks again
and again, so the second run has to be told all answers in their order; with more than these that
takes too long, and whoever gets none of the checks waits for those who do."""


class LookAhead:
    """The second run. It goes on as long as people want more, and begins again with new answers."""

    def __init__(self) -> None:
        self._engine: Engine | None = None
        self._begun_at = (-1, 0)
        self._pairs: list[tuple[str, str]] = []

    def pairs(
        self, engine: Engine, state: State, looked_at: Iterable[str]
    ) -> Iterator[tuple[str, str]]:
        """Pairs to ask about while others place the items that they look at.

        ``engine`` is the first run, which is left as it is.
        """
        taken = frozenset(looked_at)
        epoch, n_events = self._begun_at
        n_new = state.n_events - n_events
        if self._engine is None or epoch != state.epoch or n_new > _MOST_NEW * len(state.facts):
            self._engine = _second_run(engine, state, taken)
            self._begun_at, self._pairs = (state.epoch, state.n_events), []
        ahead = self._engine
        if ahead is None:
            return

        def is_open(pair: tuple[str, str]) -> bool:
            return pair[0] not in taken and engine.run.ledger.known(engine.question(pair)) is None

        yield from filter(is_open, tuple(self._pairs))
        keys = state.items.keys
        # An audit would have to begin again after an answer that it did not ask for.
        while ahead.run.labelling.audit is None and (asked := ahead.run.pending):
            more = [(keys[question.item], keys[question.comparator]) for question in asked]
            self._pairs += more
            ahead.go_past(asked)
            yield from filter(is_open, more)


def _second_run(engine: Engine, state: State, skipped: frozenset[str]) -> Engine | None:
    ahead = engine.fresh(skipped)
    if engine.run.labelling.n_labelled < len(state.items.keys):
        ahead.follow_from_all(state)
    elif len(state.facts) <= _MOST_REPLAYED:
        ahead.follow(state)
    else:
        return None
    return ahead
