"""Checks for slips of people: what rests on one answer alone is put once more, from another side.

How alike items are says which answers are the least certain, and no more: people are asked about
hard items most, so half of all slips look no stranger than some right answer. So as many as fit on
a screen are checked at once where looks can be answered. Where only pairs can, the one that fits
worst is pointed out, about once in 50 answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from samecluster._typing import IntArray
from samecluster.questions.look import Board, CheckSheet
from samecluster.questions.look_sizes import LookSizes
from samecluster.questions.pair import Question, Verdict
from samecluster.recovery.predict.unlikely import VERY_UNLIKELY, UnlikelyAnswer, unlikely_answers
from samecluster.recovery.result.result import Recovery
from samecluster.sessions.conflicts import SecondLook
from samecluster.sessions.event_log import Recorder
from samecluster.sessions.known_labels import KnownLabels
from samecluster.sessions.parameters import looks_in_use
from samecluster.sessions.question import SessionQuestion, keys_of
from samecluster.sessions.question_queue import QuestionQueue
from samecluster.sessions.state.state import State
from samecluster.sessions.state.votes import Pair, Vote, pair_of

_EVERY = 40  # looks between two checks of a kind: about one look in 20 is a check
_AT_THE_END = 10  # looks since the last one that make a check at the end worth it
_POINTED_OUT = 50  # pairs for each answer that is pointed out
_PAIRS_PER_CHECK = 10


class SecondLooks:
    """What was checked in this process, and what to check next."""

    def __init__(self, log: Recorder, known: KnownLabels, queue: QuestionQueue) -> None:
        self._log, self._known, self._queue = log, known, queue
        self._suspects: set[Pair] = set()
        n_looks = log.state.n_looks
        self._checked_at = {Verdict.SAME: n_looks, Verdict.DIFFERENT: n_looks}
        self._pointed_out_at = n_looks - _POINTED_OUT // 2
        self._begun_at, self._n_pairs_checked = n_looks, 0

    def look_again(self, who: str | None = None) -> SecondLook | None:
        """A check for slips of people, next to come: known pairs, put from another side.

        With looks: now and then, and at the end, a sheet and a board of what is least certain. With
        pairs: the answer that the others make least likely, about once in 50. What was wrong is
        found if it cannot be right together with what is said now. Each answer once. None if it is
        not time for one, if there are few answers, or in an audit.
        """
        state = self._log.state
        if self._known.snapshot().audit is not None:
            return None
        sizes = looks_in_use(state.parameters)
        if sizes is None or sizes.pairs_only:
            return self._pointed_out(who)
        due = _EVERY if self._known.engine.run.looks else _AT_THE_END
        for verdict, at in self._checked_at.items():
            if state.n_looks - at >= due:
                self._checked_at[verdict] = state.n_looks
                if found := self._check(verdict, sizes, who):
                    return found
        return None

    def weighed(self, votes: Sequence[Vote], strange: Sequence[float]) -> list[float]:
        """How likely each of these is the wrong one: what was checked before all others."""
        return [
            one + (vote.pair in self._suspects) for vote, one in zip(votes, strange, strict=True)
        ]

    def _pointed_out(self, who: str | None) -> SecondLook | None:
        state = self._log.state
        n_due = (state.n_looks - self._begun_at) // _PAIRS_PER_CHECK
        if state.n_looks - self._pointed_out_at >= _POINTED_OUT:
            unlikely = [one for one in self._doubtful() if one[1].probability < VERY_UNLIKELY]
            if found := self._again(unlikely, who):
                self._pointed_out_at += _POINTED_OUT
                return SecondLook(*found)
        if self._n_pairs_checked < n_due:
            # Neither order finds what the other does: a slip may be strange, or only costly.
            order = self._costly if self._n_pairs_checked % 2 else self._doubtful
            if found := self._again(order(), who):
                return SecondLook(None, found[1])
        return None

    def _again(
        self, doubtful: Iterable[tuple[Vote, UnlikelyAnswer]], who: str | None
    ) -> tuple[Vote, SessionQuestion] | None:
        """The first of these answers that can be put from another side, and that question."""
        for vote, one in doubtful:
            ones, twos = (np.array(side) for side in one.sides)
            rows = self._nearest(ones, twos, who)
            if rows is not None:
                self._suspects.add(vote.pair)
                self._n_pairs_checked += 1
                return vote, self._queue.want(keys_of(rows[::-1], self._log.state.items), who)
        return None

    def _check(self, verdict: Verdict, sizes: LookSizes, who: str | None) -> SecondLook | None:
        doubtful = [(v, one) for v, one in self._doubtful() if one.answer.verdict is verdict]
        look: CheckSheet | Board | Question | None
        if verdict is Verdict.SAME:
            cells = self._cells(doubtful, sizes.sheet, who)
            look = CheckSheet.of(cells) if cells else None
        else:
            cells = self._standing(doubtful, sizes.board, who)
            shown = dict.fromkeys(row for cell in cells for row in cell)
            look = Board.of(shown) if shown else None
        if look is None:
            return None
        pairs = [keys_of(cell, self._log.state.items) for cell in cells]
        if isinstance(look, CheckSheet | Board):
            return SecondLook(None, self._queue.want_look(look, map(pair_of, pairs), who))
        return SecondLook(None, self._queue.want(pairs[0], who))

    def _cells(
        self, doubtful: Sequence[tuple[Vote, UnlikelyAnswer]], most: int, who: str | None
    ) -> list[tuple[int, int]]:
        """Items beside others that they are said to be with; each item and each pair once."""
        found: dict[int, int] = {}
        for vote, one in doubtful:
            ones = np.array([row for row in one.sides[0] if row not in found])
            unmet = [row for row in one.sides[1] if found.get(row) not in one.sides[0]]
            twos = np.array(unmet, dtype=np.int64)
            pair = self._nearest(ones, twos, who)
            if pair is not None and len(found) < most:
                found[pair[0]] = pair[1]
                self._suspects.add(vote.pair)
        return list(found.items())

    def _standing(
        self, doubtful: Sequence[tuple[Vote, UnlikelyAnswer]], most: int, who: str | None
    ) -> list[tuple[int, int]]:
        """Pairs of items that stand for two groups each, one item for a group in all of them."""
        standing: dict[int, int] = {}
        found = []
        for vote, one in doubtful:
            groups = [min(side) for side in one.sides]
            if len(standing.keys() | set(groups)) > most:
                continue
            ones, twos = (
                np.array([standing[group]] if group in standing else side)
                for group, side in zip(groups, one.sides, strict=True)
            )
            pair = self._nearest(ones, twos, who)
            if pair is not None:
                standing.update(zip(groups, pair, strict=True))
                found.append(pair)
                self._suspects.add(vote.pair)
        return found

    def _nearest(self, ones: IntArray, twos: IntArray, who: str | None) -> tuple[int, int] | None:
        return nearest_new_rows(ones, twos, self._known.snapshot(), self._log.state, who)

    def _costly(self) -> list[tuple[Vote, UnlikelyAnswer]]:
        """Doubtful answers, by how many answered items would be wrong with them on average."""

        def cost(doubtful: tuple[Vote, UnlikelyAnswer]) -> float:
            one = doubtful[1]
            return (1.0 - one.probability) * min(map(len, one.sides))

        return sorted(self._doubtful(), key=cost, reverse=True)

    def _doubtful(self) -> Iterator[tuple[Vote, UnlikelyAnswer]]:
        """Answers of people that were not checked yet, the least likely first."""
        state, recovery = self._log.state, self._known.snapshot()
        keys = state.items.keys
        for one in unlikely_answers(recovery.points, recovery.answers, 1.0):
            pair = pair_of(keys[row] for row in one.answer.question.pair)
            votes = state.book.votes(pair)
            if votes and pair not in self._suspects:
                yield votes[0], one


def nearest_new_rows(
    ones: IntArray, twos: IntArray, recovery: Recovery, state: State, who: str | None
) -> tuple[int, int] | None:
    """Two rows, one of each side, that this person was not asked about; near each other."""
    keys = state.items.keys
    for one in ones.tolist():
        gaps = np.sum((recovery.points[twos] - recovery.points[one]) ** 2, axis=1)
        for two in twos[np.argsort(gaps, kind="stable")].tolist():
            if state.book.vote(pair_of((keys[one], keys[two])), who) is None:
                return one, two
    return None
