"""Rows outside a sample: what sweeps write down, and which of them join it."""

from typing import Any

import numpy as np
import pytest

from samecluster.large import other_rows
from samecluster.large.other_rows import IN_SAMPLE, UNDECIDED, OtherRows, _UndecidedRows
from samecluster.points.protocol import ArrayPoints
from samecluster.recovery.result.how import How

X = np.arange(10, dtype=np.float64)[:, None]


def others(rows: Any, **more: Any) -> OtherRows:
    names, how = np.full(len(X), UNDECIDED, np.int16), np.zeros(len(X), np.int8)
    return OtherRows(
        ArrayPoints(X), np.array(rows), names, how, 1, np.random.default_rng(0), **more
    )


def test_only_open_rows_are_worked_on_block_by_block() -> None:
    rest = others([3, 8], block=4)
    rest.names[[0, 1, 2]] = 0
    heard: list[Any] = []
    rest.on_progress = heard.append

    def taken(block: Any, bits: Any) -> Any:
        return block[np.flatnonzero(np.unpackbits(bits, count=len(block))), 0]

    found = [(rows.tolist(), points.tolist()) for rows, points in rest.worked_on(taken)]
    # All of the first block is known, so that nobody works on it.
    assert found == [([4, 5, 6, 7], [4.0, 5.0, 6.0, 7.0]), ([9], [9.0])]
    assert [progress.done for progress in heard] == [4, 8, 10]
    assert rest.n_sweeps == 1


def test_names_become_labels_and_a_name_without_one_leaves_none() -> None:
    rest = others([0])
    rest.names[1:4], rest.how[1:4] = [0, 1, 2], How.PROVEN
    rest.relabel(np.array([5, -1, 6]))
    assert rest.names[:4].tolist() == [IN_SAMPLE, 5, -1, 6]
    assert rest.how[:4].tolist() == [0, How.PROVEN, How.UNASSIGNED, How.PROVEN]


def test_the_rows_of_the_sample_come_last() -> None:
    rest = others([7, 2])
    rest.names[4], rest.how[4] = 1, How.INFERRED
    labels = np.empty(10, np.int32)
    rest.finish(np.array([3, -1]), np.array([How.ASKED, How.UNASSIGNED]), labels)
    assert labels.tolist() == [-1, -1, -1, -1, 1, -1, -1, 3, -1, -1]
    assert rest.how[[7, 2, 4]].tolist() == [How.ASKED, How.UNASSIGNED, How.INFERRED]


@pytest.mark.parametrize("cut", [1, 3, 50])
def test_of_too_many_undecided_rows_some_join_whatever_the_blocks(cut, monkeypatch) -> None:
    """A random part, the same however they come, in random order; all are counted."""
    monkeypatch.setattr(other_rows, "_MOST_TAKEN", 5)
    taken = _UndecidedRows(1, np.random.default_rng(3))
    rows = np.arange(50)
    for begin in range(0, 50, cut):
        part = rows[begin : begin + cut]
        taken.add(part, part[:, None] / 2)
    chosen, points = taken.chosen()
    assert taken.count == 50
    keys = np.random.default_rng(3).random(50)
    assert chosen.tolist() == np.argsort(keys)[:5].tolist()
    assert (points[:, 0] == chosen / 2).all()
