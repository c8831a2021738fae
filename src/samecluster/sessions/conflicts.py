"""What does not fit together in a session, and what can be done about it.

Nothing here decides: it lists the answers concerned and the remedies, and `Effect` says what a
remedy would change before a person chooses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from samecluster.errors import AnswerError, RefutedError, SameClusterError
from samecluster.questions.conflicts.answer_book import AnswerBook
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.recovery.result.result import Recovery
from samecluster.sessions.question import SessionLook, SessionQuestion
from samecluster.sessions.running.engine import weaker_margin
from samecluster.sessions.state.state import State
from samecluster.sessions.state.votes import Pair, Vote, is_tie, pair_of

_N_LISTED = 5
"""Contradictions of an import that its error names: what a person reads before mending one."""

_OPPOSITE = {Verdict.SAME: Verdict.DIFFERENT, Verdict.DIFFERENT: Verdict.SAME}


@dataclass(frozen=True)
class Remedy:
    """Something that would end a conflict, and the events that it takes (kind, body)."""

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
class SecondLook:
    """A question that puts an answer from another side which does not fit the others; or a look
    that checks several answers at once, the least certain ones, without a word on any of them."""

    answer: Vote | None
    question: SessionQuestion | SessionLook

    def __str__(self) -> str:
        if self.answer is None:
            return "a check for slips"
        return f"{self.answer} does not fit the other answers: look again"


@dataclass(frozen=True)
class Effect:
    """What a change would do to labels: the numbers that would go, come, and be others.

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
        parts = [(count, one if count == 1 else many) for count, many, one in counts if count]
        if not parts:
            return "no label changes"
        noun = "label" if parts[0][0] == 1 else "labels"
        first, *others = (f"{count:,} {verb}" for count, verb in parts)
        return ", ".join([first.replace(" ", f" {noun} ", 1), *others])


def conflicts_in(state: State, refutation: SameClusterError | None) -> list[Conflict]:
    """All that does not fit together now; ``refutation`` is why the run assumes less."""
    found = [_contradiction(votes) for votes in _contradictions(state)]
    for pair in state.facts:
        votes = state.votes(pair)
        if is_tie(votes):
            found.append(_tie(pair, votes))
    if refutation is not None:
        found.append(_refutation(state, refutation))
    return found


def ranked(conflict: Conflict, strange: Callable[[Sequence[Vote]], list[float]]) -> Conflict:
    """The same with the answer that is likeliest to be wrong first: ``strange`` is highest."""
    scores = dict(zip(conflict.answers, strange(conflict.answers), strict=True))
    votes = sorted(conflict.answers, key=lambda vote: -scores[vote])
    others = [one for one in conflict.remedies if one.events[0][0] != "retracted"]
    return replace(conflict, answers=tuple(votes), remedies=(*others, *_retractions(votes)))


def new_contradictions(before: State, after: State) -> list[tuple[Vote, ...]]:
    """The sets of answers that cannot all be right and that were not there before."""
    known = set(_contradictions(before))
    return [votes for votes in _contradictions(after) if votes not in known]


def direct_contradictions(state: State, votes: Iterable[Vote]) -> list[tuple[Vote, ...]]:
    """The votes that say the opposite of what stands on the same pair, or of one of themselves.

    As votes they would only make a tie, or replace each other.
    """
    found: list[tuple[Vote, ...]] = []
    first: dict[Pair, Vote] = {}
    for vote in votes:
        pair, opposite = vote.pair, _OPPOSITE.get(vote.verdict)
        fact = state.facts.get(pair)
        if opposite is not None and fact is not None and fact.verdict is opposite:
            said = [one for one in state.votes(pair) if one.verdict is opposite]
            found.append((*said, vote))
        elif opposite is not None and first.setdefault(pair, vote).verdict is opposite:
            found.append((first[pair], vote))
    return found


def refuse_contradictions(found: list[tuple[Vote, ...]]) -> None:
    """AnswerError that lists contradictions of an import, if there are any."""
    if found:
        listed = "".join(f"\n  {'; '.join(map(str, votes))}" for votes in found[:_N_LISTED])
        more = f"\n  and {len(found) - _N_LISTED} more" if len(found) > _N_LISTED else ""
        raise AnswerError(
            f"nothing was imported: {len(found)} sets of answers cannot all be right:{listed}"
            f"{more}\ncorrect the source or take answers back first"
        )


def _contradictions(state: State) -> list[tuple[Vote, ...]]:
    """For each fact that earlier ones contradict, a smallest set of answers with it."""
    row_of = state.items.row_of
    book = AnswerBook(
        Answer(Question(row_of[fact.items[0]], row_of[fact.items[1]]), fact.verdict)
        for fact in state.facts.values()
    )
    return [
        tuple(vote for answer in cycle for vote in _votes_behind(state, answer))
        for cycle in book.contradictions
    ]


def _votes_behind(state: State, answer: Answer) -> list[Vote]:
    """The votes for what the run was told about a pair of rows."""
    pair = pair_of(state.items.keys[row] for row in answer.question.pair)
    return [vote for vote in state.votes(pair) if vote.verdict is answer.verdict]


def _contradiction(votes: tuple[Vote, ...]) -> Conflict:
    listed = "; ".join(map(str, votes))
    text = f"these answers cannot all be right: {listed}"
    return Conflict("contradiction", text, votes, tuple(_retractions(votes)))


def _tie(pair: Pair, votes: list[Vote]) -> Conflict:
    listed = "; ".join(map(str, votes))
    text = f"as many say that {pair[0]} and {pair[1]} are the same as say they are not: {listed}"
    return Conflict("tie", text, tuple(votes), tuple(_retractions(votes)))


def _refutation(state: State, error: SameClusterError) -> Conflict:
    if not isinstance(error, RefutedError):
        text = f"the run failed and goes on without assumptions: {error}"
        return Conflict("refutation", text, (), ())
    item = state.items.keys[error.item]
    votes = [vote for answer in error.answers for vote in _votes_behind(state, answer)]
    # An answer about the item itself is the first to look at.
    votes.sort(key=lambda vote: (item not in vote.items, vote.sequence))
    conflict = (
        f"{item} would have to be in a cluster that answers put it outside of"
        if error.cluster is not None
        else f"{item} would be in none of the clusters"
    )
    text = (
        f"with margin {error.margin:g} {conflict} ({len(votes)} answers lead there); labels rest "
        "on weaker assumptions until this is decided"
    )
    remedies = (*_weaker_assumptions(state, error), _exception(item), *_retractions(votes))
    return Conflict("refutation", text, tuple(votes), remedies)


def _weaker_assumptions(state: State, error: RefutedError) -> Iterator[Remedy]:
    margin, k = state.parameters.get("margin"), state.parameters.get("n_clusters")
    if error.cluster is None and k is not None:
        yield _parameters("let the number of clusters be unknown", n_clusters=None)
    if isinstance(margin, int | float) and error.largest_margin > 0:
        lower = float(f"{weaker_margin(margin, error.largest_margin):.3g}")
        yield _parameters(f"lower the margin to {lower:g}", margin=lower)


def _parameters(text: str, **parameters: Any) -> Remedy:
    return Remedy(text, (("parameters", {"parameters": parameters}),))


def _exception(item: str) -> Remedy:
    body = {"item": item, "note": "an exception: its answers do not count"}
    return Remedy(f"make {item} an exception", (("flagged", body),))


def _retractions(votes: Iterable[Vote]) -> Iterator[Remedy]:
    for vote in votes:
        body: dict[str, Any] = {"sequence": vote.sequence}
        if vote.source is not None or vote.looked is not None:
            body["items"] = list(vote.items)
        yield Remedy(f"take back {vote}", (("retracted", body),))
