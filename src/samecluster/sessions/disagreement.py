"""When somebody disagrees with a label, a border or a union of clusters: questions that decide it,
exceptions, and remedies for answers that do not fit together.

Only asked members serve as comparators: what a proof or a model says about an item is what is in
doubt.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from samecluster._typing import IntArray
from samecluster.errors import InvalidInputError
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.recovery.predict.unlikely import strangeness, unlikely_answers
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery
from samecluster.sessions.conflicts import (
    Conflict,
    Effect,
    Remedy,
    SecondLook,
    conflicts_in,
    ranked,
)
from samecluster.sessions.known_labels import KnownLabels
from samecluster.sessions.question import SessionQuestion, checked_verdict, pair_from
from samecluster.sessions.question_queue import QuestionQueue
from samecluster.sessions.recorder import Recorder
from samecluster.sessions.state.state import State
from samecluster.sessions.state.votes import Pair, Vote, pair_of


class Disagreement:
    """Disagreement to labels and answers. `samecluster.Session` has these methods."""

    def __init__(self, recorder: Recorder, known: KnownLabels, queue: QuestionQueue) -> None:
        self._recorder, self._known, self._queue = recorder, known, queue
        self._looked_again: set[Pair] = set()

    def look_again(self, who: str | None = None) -> SecondLook | None:
        """An answer that the others make very unlikely, put from another side, next to come.

        For people, who may slip: a wrong answer is found if the two cannot both be right. Each
        answer once. None if all fit, if there are few, or in an audit.
        """
        state, recovery = self._recorder.state, self._known.snapshot()
        if recovery.audit is not None:
            return None
        keys = state.items.keys
        for one in unlikely_answers(recovery.points, recovery.answers):
            pair = pair_of(keys[row] for row in one.answer.question.pair)
            votes = state.book.votes(pair)
            ones, twos = (np.array(side) for side in one.sides)
            items = _nearest_new_pair(ones, twos, recovery, state, who)
            if votes and items is not None and pair not in self._looked_again:
                self._looked_again.add(pair)
                return SecondLook(votes[0], self._queue.want(items, who))
        return None

    def doubt(self, item: str, who: str | None = None) -> list[SessionQuestion]:
        """ "This label is wrong": questions that put the item against asked members, next to come.

        Its own cluster first; "same" ends it.
        """
        state = self._recorder.state
        item = state.items.checked_key(item)
        pairs = _pairs_about(item, self._known.snapshot(), state, who)
        return [self._queue.want(pair, who) for pair in pairs]

    def merge(self, a: int, b: int, who: str | None = None) -> SessionQuestion | None:
        """Two clusters are one: the question that decides it, next to come.

        None if this person was asked about all their asked members.
        """
        a, b = self._known.cluster(a), self._known.cluster(b)
        if a == b:
            raise InvalidInputError(f"two different clusters are needed, got {a} twice")
        pair = _pair_between(a, b, self._known.snapshot(), self._recorder.state, who)
        return None if pair is None else self._queue.want(pair, who)

    def split(
        self, cluster: int, items: Iterable[str], who: str | None = None
    ) -> list[SessionQuestion]:
        """These do not belong to the cluster: each against its anchor, next to come."""
        anchor = self._known.anchors()[self._known.cluster(cluster)]
        chosen = [self._recorder.state.items.checked_key(item) for item in items]
        return [self._queue.want((item, anchor), who) for item in chosen if item != anchor]

    def make_exception(self, item: str, who: str | None = None, note: str = "") -> int:
        """Keep an item's answers from the run; take that back with `retract`."""
        item = self._recorder.state.items.checked_key(item)
        return self._recorder.append("flagged", who, {"item": item, "note": note})

    def conflicts(self) -> list[Conflict]:
        """What does not fit together, with the answers concerned and remedies."""
        return conflicts_in(self._recorder.state, self._known.engine.refutation)

    def ranked_conflicts(self) -> list[Conflict]:
        """The same, the answer first that is likeliest to be wrong by how alike items are."""
        row_of, known = self._recorder.state.items.row_of, self._known.snapshot()

        def strange(votes: Sequence[Vote]) -> list[float]:
            answers = [
                Answer(Question(*(row_of[item] for item in vote.items)), vote.verdict)
                for vote in votes
            ]
            return strangeness(known.points, answers, known.answers) if answers else []

        return [ranked(conflict, strange) for conflict in self.conflicts()]

    def preview(self, remedy: Remedy) -> Effect:
        """What a remedy would do to the labels. Takes as long as a resume."""
        events = [(kind, None, body) for kind, body in remedy.events]
        return self._effect(self._recorder.imagined(*events))

    def preview_answer(
        self, question_id: str, verdict: Verdict | str, who: str | None = None
    ) -> Effect:
        """What an answer would do to the labels."""
        pair, verdict = pair_from(question_id, self._recorder.state.items), checked_verdict(verdict)
        if verdict is Verdict.UNSURE:
            return Effect(0, 0, 0)
        body = {"items": pair, "verdict": verdict.value, "role": self._queue.role(pair)}
        return self._effect(self._recorder.imagined(("answered", who, body)))

    def apply(self, remedy: Remedy, who: str | None = None) -> None:
        """Choose a remedy."""
        for kind, body in remedy.events:
            self._recorder.append(kind, who, body)

    def _effect(self, after: State) -> Effect:
        return Effect.between(self._known.snapshot(), self._known.of_state(after).snapshot())


def _pairs_about(
    item: str, recovery: Recovery, state: State, who: str | None
) -> list[tuple[str, str]]:
    """The item and the nearest asked member of each cluster, its own cluster first."""
    row = state.items.row_of[item]
    own = int(recovery.labels[row])
    chosen: list[tuple[bool, float, str]] = []
    for label in np.unique(recovery.labels[recovery.labels >= 0]).tolist():
        members = _by_distance(_asked_rows(recovery, label), row, recovery)
        fresh = (
            m for m in members if m != row and _is_new_pair(item, state.items.keys[m], state, who)
        )
        nearest = next(fresh, None)
        if nearest is not None:
            gap = float(np.sum((recovery.points[nearest] - recovery.points[row]) ** 2))
            chosen.append((label != own, gap, state.items.keys[nearest]))
    return [(item, comparator) for _, _, comparator in sorted(chosen)]


def _pair_between(
    a: int, b: int, recovery: Recovery, state: State, who: str | None
) -> tuple[str, str] | None:
    """A pair of asked members of two clusters that this person was not asked about, or None."""
    ones, twos = _asked_rows(recovery, a), _asked_rows(recovery, b)
    return _nearest_new_pair(ones, twos, recovery, state, who)


def _nearest_new_pair(
    ones: IntArray, twos: IntArray, recovery: Recovery, state: State, who: str | None
) -> tuple[str, str] | None:
    """Two items, one of each side, that this person was not asked about; near each other."""
    keys = state.items.keys
    for one in ones.tolist():
        for two in _by_distance(twos, one, recovery):
            if _is_new_pair(keys[one], keys[two], state, who):
                return keys[two], keys[one]
    return None


def _asked_rows(recovery: Recovery, label: int) -> IntArray:
    rows = np.flatnonzero((recovery.labels == label) & (recovery.how_codes == How.ASKED))
    if not len(rows):
        raise InvalidInputError(f"cluster {label} has no member that was asked about")
    return rows


def _by_distance(rows: IntArray, row: int, recovery: Recovery) -> list[int]:
    gaps = np.sum((recovery.points[rows] - recovery.points[row]) ** 2, axis=1)
    return [int(i) for i in rows[np.argsort(gaps, kind="stable")]]


def _is_new_pair(one: str, two: str, state: State, who: str | None) -> bool:
    return state.vote(pair_of((one, two)), who) is None
