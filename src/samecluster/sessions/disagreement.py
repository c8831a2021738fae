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
from samecluster.recovery.predict.unlikely import strangeness
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery
from samecluster.sessions.conflicts import Conflict, Effect, Remedy, conflicts_in, ranked
from samecluster.sessions.event_log import Recorder
from samecluster.sessions.known_labels import KnownLabels
from samecluster.sessions.question import SessionQuestion, checked_verdict, keys_of, pair_from
from samecluster.sessions.question_queue import QuestionQueue
from samecluster.sessions.running.second_looks import SecondLooks, nearest_new_rows
from samecluster.sessions.state.state import State
from samecluster.sessions.state.votes import Vote
from samecluster.sessions.storage.events import Event


class Disagreement:
    """Disagreement to labels and answers. `samecluster.Session` has these methods."""

    def __init__(
        self, log: Recorder, known: KnownLabels, queue: QuestionQueue, second_looks: SecondLooks
    ) -> None:
        self._log, self._known, self._queue = log, known, queue
        self._second_looks = second_looks

    def doubt(self, item: str, who: str | None = None) -> list[SessionQuestion]:
        """ "This label is wrong": questions that put the item against asked members, next to come.

        Its own cluster first; "same" ends it.
        """
        state = self._log.state
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
        known = self._known.snapshot()
        ones, twos = _asked_rows(known, a), _asked_rows(known, b)
        rows = nearest_new_rows(ones, twos, known, self._log.state, who)
        if rows is None:
            return None
        return self._queue.want(keys_of(rows[::-1], self._log.state.items), who)

    def split(
        self, cluster: int, items: Iterable[str], who: str | None = None
    ) -> list[SessionQuestion]:
        """These do not belong to the cluster: each against its anchor, next to come."""
        anchor = self._known.anchors()[self._known.cluster(cluster)]
        chosen = [self._log.state.items.checked_key(item) for item in items]
        return [self._queue.want((item, anchor), who) for item in chosen if item != anchor]

    def make_exception(self, item: str, who: str | None = None, note: str = "") -> int:
        """Keep an item's answers from the run; take that back with `retract`."""
        item = self._log.state.items.checked_key(item)
        return self._log.record("flagged", who, {"item": item, "note": note})

    def conflicts(self) -> list[Conflict]:
        """What does not fit together, with the answers concerned and remedies."""
        return conflicts_in(self._log.state, self._known.engine.refutation)

    def ranked_conflicts(self) -> list[Conflict]:
        """The same, the answer first that is likeliest to be wrong by how alike items are."""
        row_of, known = self._log.state.items.row_of, self._known.snapshot()

        def strange(votes: Sequence[Vote]) -> list[float]:
            answers = [
                Answer(Question(*(row_of[item] for item in vote.items)), vote.verdict)
                for vote in votes
            ]
            if not answers:
                return []
            found = strangeness(known.points, answers, known.answers)
            return self._second_looks.weighed(votes, found)

        return [ranked(conflict, strange) for conflict in self.conflicts()]

    def preview(self, remedy: Remedy) -> Effect:
        """What a remedy would do to the labels. Takes as long as a resume."""
        return self._effect(*(self._log.draft(kind, None, body) for kind, body in remedy.events))

    def preview_answer(
        self, question_id: str, verdict: Verdict | str, who: str | None = None
    ) -> Effect:
        """What an answer would do to the labels."""
        pair, verdict = pair_from(question_id, self._log.state.items), checked_verdict(verdict)
        if verdict is Verdict.UNSURE:
            return Effect(0, 0, 0)
        body = {"items": pair, "verdict": verdict.value, "role": self._queue.role(pair)}
        return self._effect(self._log.draft("answered", who, body))

    def apply(self, remedy: Remedy, who: str | None = None) -> None:
        """Choose a remedy."""
        for kind, body in remedy.events:
            self._log.record(kind, who, body)

    def _effect(self, *events: Event) -> Effect:
        after = self._known.of_state(self._log.imagined(*events))
        return Effect.between(self._known.snapshot(), after.snapshot())


def _pairs_about(
    item: str, recovery: Recovery, state: State, who: str | None
) -> list[tuple[str, str]]:
    """The item and the nearest asked member of each cluster, its own cluster first."""
    row = state.items.row_of[item]
    own = int(recovery.labels[row])
    chosen: list[tuple[bool, float, str]] = []
    for label in np.unique(recovery.labels[recovery.labels >= 0]).tolist():
        members = _asked_rows(recovery, label)
        others = members[members != row]
        if rows := nearest_new_rows(np.array([row]), others, recovery, state, who):
            gap = float(np.sum((recovery.points[rows[1]] - recovery.points[row]) ** 2))
            chosen.append((label != own, gap, state.items.keys[rows[1]]))
    return [(item, comparator) for _, _, comparator in sorted(chosen)]


def _asked_rows(recovery: Recovery, label: int) -> IntArray:
    rows = np.flatnonzero((recovery.labels == label) & (recovery.how_codes == How.ASKED))
    if not len(rows):
        raise InvalidInputError(f"cluster {label} has no member that was asked about")
    return rows
