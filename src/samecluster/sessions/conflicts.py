"""What does not fit together in a session, and what can be done about it.

Nothing here decides: it lists the answers concerned and the remedies, and `Effect` says what a
remedy would change before anybody chooses it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from samecluster.errors import RefutedError
from samecluster.questions.conflicts.answer_book import AnswerBook
from samecluster.questions.pair import Answer, Question
from samecluster.recovery.result.result import Recovery
from samecluster.sessions.running.engine import Engine, weaker_margin
from samecluster.sessions.state.state import State
from samecluster.sessions.state.votes import Pair, Vote, pair_of, tied

__all__ = ["Conflict", "Effect", "Remedy", "contradictions_in", "trouble_in"]


@dataclass(frozen=True)
class Remedy:
    """Something that would end a trouble, and the events that it takes (kind, body)."""

    text: str
    events: tuple[tuple[str, Mapping[str, Any]], ...]


@dataclass(frozen=True)
class Conflict:
    """Answers that cannot all be right together, or with what was declared.

    ``kind`` is "contradiction", "tie" or "refutation".
    """

    kind: str
    text: str
    answers: tuple[Vote, ...]
    remedies: tuple[Remedy, ...]

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Effect:
    """What a change would do to labels: how many would go, come, and be others.

    >>> print(Effect(12304, 0, 2))
    12,304 labels become undecided, 2 change
    """

    undecided: int
    decided: int
    changed: int

    @classmethod
    def between(cls, before: Recovery, after: Recovery) -> Effect:
        """Both of the same rows, with public numbers."""
        was, is_ = before.labels >= 0, after.labels >= 0
        return cls(
            int(np.count_nonzero(was & ~is_)),
            int(np.count_nonzero(~was & is_)),
            int(np.count_nonzero(was & is_ & (before.labels != after.labels))),
        )

    def __str__(self) -> str:
        counts = [
            (self.undecided, "become undecided", "becomes undecided"),
            (self.decided, "become known", "becomes known"),
            (self.changed, "change", "changes"),
        ]
        told = [(count, one if count == 1 else many) for count, many, one in counts if count]
        if not told:
            return "no label changes"
        noun = "label" if told[0][0] == 1 else "labels"
        first, *others = (f"{count:,} {verb}" for count, verb in told)
        return ", ".join([first.replace(" ", f" {noun} ", 1), *others])


def trouble_in(state: State, engine: Engine) -> list[Conflict]:
    """All that does not fit together now; the engine must be where the state is."""
    found = [_contradiction(said) for said in contradictions_in(state)]
    for pair in state.facts:
        votes = state.votes(pair)
        if tied(votes):
            found.append(_tie(pair, votes))
    if engine.refuted is not None:
        found.append(_refutation(state, engine.refuted))
    return found


def contradictions_in(state: State) -> list[tuple[Vote, ...]]:
    """For each fact that earlier ones contradict, a smallest set of answers with it."""
    row_of = state.items.row_of
    statements = AnswerBook(
        Answer(Question(row_of[fact.items[0]], row_of[fact.items[1]]), fact.verdict)
        for fact in state.facts.values()
    )
    return [
        tuple(said for answer in cycle for said in _behind(state, answer))
        for cycle in statements.contradictions
    ]


def _behind(state: State, answer: Answer) -> list[Vote]:
    """Those who said what the run was told about a pair of rows."""
    pair = pair_of(state.items.keys[row] for row in answer.question.pair)
    return [said for said in state.votes(pair) if said.verdict is answer.verdict]


def _contradiction(said: tuple[Vote, ...]) -> Conflict:
    listed = "; ".join(map(str, said))
    text = f"these answers cannot all be right: {listed}"
    return Conflict("contradiction", text, said, tuple(_take_back(said)))


def _tie(pair: Pair, votes: list[Vote]) -> Conflict:
    listed = "; ".join(map(str, votes))
    text = f"as many say that {pair[0]} and {pair[1]} are the same as say they are not: {listed}"
    return Conflict("tie", text, tuple(votes), tuple(_take_back(votes)))


def _refutation(state: State, error: Exception) -> Conflict:
    if not isinstance(error, RefutedError):
        text = f"the run failed and goes on without assumptions: {error}"
        return Conflict("refutation", text, (), ())
    item = state.items.keys[error.item]
    said = [said for answer in error.answers for said in _behind(state, answer)]
    # An answer about the item itself is the first to look at.
    said.sort(key=lambda one: (item not in one.items, one.sequence))
    conflict = (
        f"{item} would have to be in a cluster that answers put it outside of"
        if error.cluster is not None
        else f"{item} would be in none of the clusters"
    )
    text = (
        f"with margin {error.margin:g} {conflict} ({len(said)} answers lead there); labels rest "
        "on weaker assumptions until this is decided"
    )
    remedies = (*_assume_less(state, error), _except(item), *_take_back(said))
    return Conflict("refutation", text, tuple(said), remedies)


def _assume_less(state: State, error: RefutedError) -> Iterator[Remedy]:
    margin, k = state.parameters.get("margin"), state.parameters.get("n_clusters")
    if error.cluster is None and k is not None:
        yield _with("let the number of clusters be unknown", n_clusters=None)
    if isinstance(margin, int | float) and error.largest_margin > 0:
        lower = float(f"{weaker_margin(margin, error.largest_margin):.3g}")
        yield _with(f"lower the margin to {lower:g}", margin=lower)


def _with(text: str, **parameters: Any) -> Remedy:
    return Remedy(text, (("parameters", {"parameters": parameters}),))


def _except(item: str) -> Remedy:
    body = {"item": item, "note": "an exception: its answers do not count"}
    return Remedy(f"make {item} an exception", (("flagged", body),))


def _take_back(said: Iterable[Vote]) -> Iterator[Remedy]:
    for one in said:
        body: dict[str, Any] = {"sequence": one.sequence}
        if one.source is not None:
            body["items"] = list(one.items)
        yield Remedy(f"take back {one}", (("retracted", body),))
