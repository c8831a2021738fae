"""The rows that are not in the sample: one sweep after another decides what it can about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from samecluster._typing import Array, FloatArray, IntArray
from samecluster.errors import RefutedError
from samecluster.large.sweep import PIECE, RowDecisions, Sweep, SweepWork, open_bits
from samecluster.points.block_work import Work, over_blocks
from samecluster.points.protocol import Points
from samecluster.proof.log import renumbered
from samecluster.questions.pair import Answer, Question
from samecluster.recovery.certify.knowledge import Knowledge
from samecluster.recovery.result.how import How

T = TypeVar("T")
Write: TypeAlias = Callable[[tuple[Any, ...]], None]
"""Takes the records of a proof, one after the other."""

UNDECIDED, IN_SAMPLE = -1, -2
# Undecided rows that join the sample after one sweep: with 16 columns 8 MB, and less than a third
# of the largest sample, so that one more level is closed as fast as those before.
_MOST_TAKEN = 65_536
_ROWS_AT_ONCE = 1 << 20  # copied at a time: a few megabytes, whatever the number of rows


@dataclass(frozen=True)
class PassProgress:
    """How far a pass over the data is. ``undecided`` counts rows that came back to the plan.

    >>> print(PassProgress("sweep", 1_000, 2_500, undecided=3, block=500))
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
class OtherRows:
    """The rows that are not in the sample, and what sweeps found about them.

    Parameters
    ----------
    points : all the data
    rows : (m,) the row of each point of the sample
    names : (n,) written here: the name of each row's cluster, UNDECIDED, or IN_SAMPLE
    how : (n,) written here: how each name is known; all UNASSIGNED at first
    write : given the lines of the proof as they are found, if somebody wants them
    """

    points: Points
    rows: IntArray
    names: npt.NDArray[np.int16]
    how: npt.NDArray[np.int8]
    threads: int
    rng: np.random.Generator
    write: Write | None = None
    on_progress: Callable[[PassProgress], None] = lambda _: None
    block: int = PIECE
    n_sweeps: int = 0
    n_left: int | None = None
    _n_written: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.names[self.rows] = IN_SAMPLE

    def sweep(self, known: Knowledge) -> FloatArray:
        """Prove all rows that can be; returns points (m, d) that now belong to the sample."""
        if self.n_left == 0:
            return np.zeros((0, self.points.d))
        self.write_log(known)
        n_open = int(np.count_nonzero(self.names == UNDECIDED))
        sweep = Sweep(known.closure, n_open, known.log.lift)
        work = SweepWork(sweep, self.write is not None)
        taken = _UndecidedRows(self.points.d, self.rng)
        for rows, (swept, left) in self.worked_on(work, lambda: taken.count):
            self._note(rows, swept)
            taken.add(rows[swept.names < 0], left)
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
            self.on_progress(PassProgress("sweep", done, self.points.n, n_undecided(), self.block))
        self.points.check_unchanged()
        self.n_sweeps += 1

    def _open_bits(self, begin: int, end: int) -> Array | None:
        return open_bits(self.names[begin:end] == UNDECIDED)

    def _note(self, rows: IntArray, swept: RowDecisions) -> None:
        shown = np.flatnonzero(swept.names >= 0)
        self.names[rows[shown]], self.how[rows[shown]] = swept.names[shown], How.PROVEN
        if self.write is not None and swept.columns is not None:
            for name in np.unique(swept.names[shown]).tolist():
                mine = np.flatnonzero(swept.names == name)
                columns = swept.columns[mine]
                columns = np.where(columns >= 0, self.rows[columns], columns)
                self.write(("in", name, np.column_stack([rows[mine], columns])))

    def relabel(self, numbers: Array) -> None:
        """Put the label ``numbers[name]`` in the place of each name; -1 for none."""
        for begin in range(0, len(self.names), _ROWS_AT_ONCE):
            part = slice(begin, begin + _ROWS_AT_ONCE)
            names, how = self.names[part], self.how[part]
            names[names >= 0] = numbers[names[names >= 0]]
            how[names < 0] = How.UNASSIGNED

    def finish(self, labels: Array, how: Array, out: npt.NDArray[np.int32] | None = None) -> None:
        """Note what is known of the rows of the sample (m,), and copy all labels to ``out``."""
        self.how[self.rows] = how
        if out is not None:
            for begin in range(0, len(self.names), _ROWS_AT_ONCE):
                part = slice(begin, begin + _ROWS_AT_ONCE)
                out[part] = np.maximum(self.names[part], UNDECIDED)
            out[self.rows] = labels

    def write_log(self, known: Knowledge) -> None:
        """Write what was concluded since the last time, by the numbers of the rows."""
        records = known.log.records
        if self.write is not None:
            for record in records[self._n_written :]:
                self.write(renumbered(record, self.rows))
        self._n_written = len(records)


class _UndecidedRows:
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
        # One key per row in the order of rows: where blocks are cut makes no difference.
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


def about_rows(question: Question, rows: IntArray | Mapping[int, int]) -> Question:
    """A question about places in the sample as one about rows."""
    return Question(int(rows[question.item]), int(rows[question.comparator]))


def answers_about(
    answers: Iterable[Answer], rows: IntArray | Mapping[int, int]
) -> tuple[Answer, ...]:
    """Answers about places in the sample as answers about rows, or the other way round."""
    return tuple(Answer(about_rows(a.question, rows), a.verdict, a.who) for a in answers)


def refuted_by_row(refuted: RefutedError, rows: IntArray) -> RefutedError:
    """An error about places in the sample as one about rows."""
    item, answers = int(rows[refuted.item]), answers_about(refuted.answers, rows)
    return RefutedError(item, refuted.cluster, answers, refuted.margin, refuted.largest_margin)
