"""Certify on data that is not in memory: a sample answers for all, and grows where it cannot.

The sample is the beginning of the permutation that certify would use in memory, so the questions
are the same. Whenever all of it is decided, the other rows are swept; what a sweep leaves
undecided joins the sample, and the plan goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from samecluster._typing import Array, FloatArray, IntArray
from samecluster.errors import RefutedError
from samecluster.points.blocks import Points
from samecluster.points.working import Work, over_blocks
from samecluster.proof.log import renumbered
from samecluster.questions.pair import Answer, Question
from samecluster.questions.run import Plan
from samecluster.recovery.certify import Asking, Certify
from samecluster.recovery.levels import LARGEST_LEVEL, level_sizes
from samecluster.recovery.problem import Labelling, Problem
from samecluster.recovery.result import How
from samecluster.recovery.sweep import PIECE, Deciding, Sweep, Swept, open_bits

__all__ = ["LargePlan", "Progress", "Rest", "by_row", "sample_size"]

T = TypeVar("T")

UNDECIDED, IN_SAMPLE = -1, -2
_MOST_TAKEN = 65_536  # undecided rows that join the sample after one sweep


def sample_size(n: int, d: int) -> int:
    """How many of n points certify looks at before it asks: all, or a level of that size."""
    return max(size for size in level_sizes(n, d) if size <= LARGEST_LEVEL)


@dataclass(frozen=True)
class Progress:
    """How far a pass over the data is. ``undecided`` counts rows that came back to the plan.

    >>> print(Progress("sweep", 1_000, 2_500, undecided=3, block=500))
    sweep: 2 of 5 blocks, 997 points decided
    """

    stage: str
    done: int
    n: int
    undecided: int = 0
    block: int = PIECE

    def __str__(self) -> str:
        blocks = f"{-(-self.done // self.block):,} of {-(-self.n // self.block):,} blocks"
        decided = f", {self.done - self.undecided:,} points decided"
        return f"{self.stage}: {blocks}{decided if self.stage == 'sweep' else ''}"


@dataclass(eq=False)
class Rest:
    """The rows that are not in the sample, and what sweeps found about them.

    Parameters
    ----------
    points : all the data
    rows : (m,) the row of each point of the sample
    names : (n,) written here: the name of each row's cluster, UNDECIDED, or IN_SAMPLE
    write : given the lines of the proof as they are found, if somebody wants them
    """

    points: Points
    rows: IntArray
    names: npt.NDArray[np.int16]
    threads: int
    rng: np.random.Generator
    write: Callable[[Any], None] | None = None
    on_progress: Callable[[Progress], None] = lambda _: None
    block: int = PIECE
    n_sweeps: int = 0
    n_left: int | None = None
    _n_written: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.names[self.rows] = IN_SAMPLE

    def sweep(self, asking: Asking) -> FloatArray:
        """Decide all rows that can be; returns points (m, d) that now belong to the sample."""
        if self.n_left == 0:
            return np.zeros((0, self.points.d))
        self.write_log(asking)
        work = Deciding(Sweep(asking.known.closure, self._n_open()), self.write is not None)
        taken = _Undecided(self.points.d, self.rng)
        for rows, swept in self.worked_on(work, lambda: taken.count):
            self._note(rows, swept)
            taken.add(rows[swept.names < 0], swept.left)
        rows, points = taken.chosen()
        self.n_left = taken.count - len(rows)
        self.rows = np.concatenate([self.rows, rows])
        self.names[rows] = IN_SAMPLE
        return points

    def worked_on(
        self, work: Work[T], n_undecided: Callable[[], int] = lambda: 0
    ) -> Iterator[tuple[IntArray, T]]:
        """One sweep: rows that are open, block by block, and what the work on them found."""
        done = 0
        for count, found in over_blocks(
            self.points, work, self._open_bits, self.block, self.threads
        ):
            if found is not None:
                yield done + np.flatnonzero(self.names[done : done + count] == UNDECIDED), found
            done += count
            self.on_progress(Progress("sweep", done, self.points.n, n_undecided(), self.block))
        self.points.check_unchanged()
        self.n_sweeps += 1

    def _n_open(self) -> int:
        return int(np.count_nonzero(self.names == UNDECIDED))

    def _open_bits(self, begin: int, end: int) -> Array | None:
        return open_bits(self.names[begin:end] == UNDECIDED)

    def _note(self, rows: IntArray, swept: Swept) -> None:
        shown = np.flatnonzero(swept.names >= 0)
        self.names[rows[shown]] = swept.names[shown]
        if self.write is not None and swept.columns is not None:
            for name in np.unique(swept.names[shown]).tolist():
                mine = np.flatnonzero(swept.names == name)
                columns = swept.columns[mine]
                columns = np.where(columns >= 0, self.rows[columns], columns)
                self.write(("in", name, np.column_stack([rows[mine], columns])))

    def write_log(self, asking: Asking) -> None:
        """Write what the plan has concluded since the last time, by the numbers of the rows."""
        records = asking.known.log.records
        if self.write is not None:
            for record in records[self._n_written :]:
                self.write(renumbered(record, self.rows))
        self._n_written = len(records)


class _Undecided:
    """Rows that a sweep could not decide; if they are very many, a random part of them."""

    def __init__(self, d: int, rng: np.random.Generator) -> None:
        self.count = 0
        self._rng = rng
        self._rows, self._keys = np.zeros(0, np.int64), np.zeros(0)
        self._points = np.zeros((0, d))

    def add(self, rows: IntArray, points: Array) -> None:
        if not len(rows):
            return
        self.count += len(rows)
        self._rows = np.concatenate([self._rows, rows])
        self._points = np.concatenate([self._points, points])
        # One key a row in the order of rows: where blocks are cut makes no difference.
        self._keys = np.concatenate([self._keys, self._rng.random(len(rows))])
        if len(self._rows) > 2 * _MOST_TAKEN:
            self._thin()

    def _thin(self) -> None:
        keep = np.sort(np.argsort(self._keys, kind="stable")[:_MOST_TAKEN])
        self._rows, self._points, self._keys = (
            self._rows[keep],
            self._points[keep],
            self._keys[keep],
        )

    def chosen(self) -> tuple[IntArray, FloatArray]:
        """Rows and points in a random order."""
        self._thin()
        order = np.argsort(self._keys, kind="stable")
        return self._rows[order], self._points[order]


class _Sweeping(Asking):
    """Certify that sweeps all other rows whenever the sample is decided."""

    def __init__(
        self, settings: Certify, problem: Problem, labelling: Labelling, rest: Rest
    ) -> None:
        super().__init__(settings, problem, labelling)
        self.rest = rest

    def _open(self) -> IntArray:
        while True:
            open_ = super()._open()
            if len(open_) or not self.known.alive:
                return open_
            points = self.rest.sweep(self)
            if not len(points):
                return open_
            self.extend(points)


class LargePlan:
    """Certify over a sample and the rest; questions and answers are about rows of all the data.

    After the plan has ended, `labels` and `how` tell about any rows.
    """

    def __init__(
        self, settings: Certify, problem: Problem, labelling: Labelling, rest: Rest
    ) -> None:
        self._asking = _Sweeping(settings, problem, labelling, rest)
        self._labelling, self._rest = labelling, rest

    def play(self) -> Plan[None]:
        try:
            yield from by_row(self._asking.play(), self._rest)
        except RefutedError as refuted:
            raise self._refuted_by_row(refuted) from None
        self._rest.write_log(self._asking)
        self._number = self._numbers()

    def _refuted_by_row(self, refuted: RefutedError) -> RefutedError:
        return RefutedError(
            int(self._rest.rows[refuted.item]),
            refuted.cluster,
            tuple(
                Answer(_about_rows(a.question, self._rest), a.verdict, a.who)
                for a in refuted.answers
            ),
            refuted.margin,
            refuted.largest_margin,
        )

    def _numbers(self) -> npt.NDArray[np.int32]:
        """The number of each name's cluster, without gaps; of -1 and -2, at the end, -1."""
        known = self._asking.known
        founders = [record[1] for record in known.log.records if record[0] == "cluster"]
        place = {name: at for at, name in enumerate(known.alive)}
        now = [place[int(known.closure.labels[item])] for item in founders]
        return np.array([*now, -1, -1], dtype=np.int32)

    def point(self, row: int) -> FloatArray | None:
        """The coordinates of a row of the sample; None of another."""
        at = np.flatnonzero(self._rest.rows == row)
        return np.asarray(self._asking.known.points[at[0]]) if len(at) else None

    def result(self, begin: int, end: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int8]]:
        """Clusters and how they are known, of rows from ``begin`` to before ``end``."""
        names = np.array(self._rest.names[begin:end], dtype=np.int64)
        asking = self._asking
        swept = How.INFERRED if asking.guessed else How.PROVEN
        how = np.where(names >= 0, swept, How.UNASSIGNED).astype(np.int8)
        mine = np.flatnonzero((self._rest.rows >= begin) & (self._rest.rows < end))
        at = self._rest.rows[mine] - begin
        names[at] = asking.known.closure.labels[mine]
        how[at] = self._labelling.how[mine]
        return self._number[names], how


def by_row(
    plan: Plan[Any], rest: Rest, on_answer: Callable[[Answer], None] = lambda _: None
) -> Plan[None]:
    """A plan about places in the sample, as one about rows; ``on_answer`` hears of the places."""
    batch = next(plan, None)
    while batch is not None:
        verdicts = yield [_about_rows(question, rest) for question in batch]
        for question, verdict in zip(batch, verdicts, strict=True):
            on_answer(Answer(question, verdict))
        batch = _sent(plan, verdicts)


def _about_rows(question: Question, rest: Rest) -> Question:
    return Question(int(rest.rows[question.item]), int(rest.rows[question.comparator]))


def _sent(plan: Generator[Any, Any, None], verdicts: Any) -> Any:
    try:
        return plan.send(verdicts)
    except StopIteration:
        return None
