"""A sweep: rows decided by clusters as they are, with the columns that show it."""

import pickle

import numpy as np
import pytest

from samecluster import Certify
from samecluster.errors import InvalidInputError
from samecluster.large.replay import replayed
from samecluster.large.sweep import Sweep, SweepWork, open_bits
from samecluster.points.survey import Survey
from samecluster.proof.log import ProofLog

# A square with corners ±1 and one far from it, known by answers; margin 1 reaches √2 times as far.
CORNERS = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
SAMPLE = np.concatenate([CORNERS, CORNERS + np.array([50.0, 0.0])])
ROWS = np.array(
    [[0.0, 0.0], [0.9, 0.9], [1.4, 0.0], [1.5, 0.0], [50.0, 1.2], [25.0, 0.0], [48.6, 0.0]]
)
PLAIN = Certify(kernel="numpy")
EXPECTED = [0, 0, 0, -1, 1, -1, 1]


def sweep(n_rows: int = 10) -> Sweep:
    everything = np.concatenate([SAMPLE, ROWS])
    log = ProofLog("", 1.0, None, np.full(2, 1e-9))
    log.add_cluster(0)
    log.add_cluster(4)
    for item in range(1, 4):
        log.add_answer(0, item, "same")
        log.add_answer(4, 4 + item, "same")
    log.add_answer(0, 4, "different")
    known = replayed(log, SAMPLE, Survey.of(everything), PLAIN)
    return Sweep(known.closure, n_rows)


@pytest.mark.parametrize("n_rows", [10, 1_000_000])
@pytest.mark.parametrize("with_columns", [False, True])
def test_rows_in_reach_are_decided_and_no_others(n_rows, with_columns) -> None:
    """Whether or not it is worth finding out first which columns matter where."""
    found = sweep(n_rows).decide(ROWS, np.arange(len(ROWS)), with_columns)
    assert found.names.tolist() == EXPECTED
    assert (found.columns is not None) == with_columns


def test_the_columns_show_that_a_row_is_in_reach() -> None:
    """Weights that combine members of the cluster and τ to the row, with (Σ|w|)² ≤ 1 + γ."""
    found = sweep().decide(ROWS, np.arange(len(ROWS)), with_columns=True)
    assert found.columns is not None
    tau = 1e-9 * np.ptp(np.concatenate([SAMPLE, ROWS]), axis=0)
    for row, name, columns in zip(ROWS, found.names, found.columns, strict=True):
        if name < 0:
            continue
        assert all(at < 0 or at // 4 == name for at in columns), "members of that cluster only"
        lifted = [
            [*SAMPLE[at], 1.0] if at >= 0 else [*np.eye(2)[-1 - at] * tau[-1 - at], 0.0]
            for at in columns
        ]
        weights = np.linalg.solve(np.transpose(lifted), [*row, 1.0])
        assert np.abs(weights).sum() ** 2 <= 2.0 * (1 + 1e-9)


def test_rows_are_decided_one_by_one_in_any_precision() -> None:
    """Neither what else is in a block nor how it is stored matters."""
    decide = sweep().decide
    alone = [int(decide(ROWS[[at]], np.array([0])).names[0]) for at in range(len(ROWS))]
    assert alone == EXPECTED
    assert decide(ROWS.astype(np.float32), np.array([3, 2])).names.tolist() == [-1, 0]


def test_the_work_on_a_block_gives_back_what_it_could_not_decide() -> None:
    """Also elsewhere: what is sent to a worker does not hold the sample."""
    bits = open_bits(np.array([True, True, False, True, True, True, True]))
    assert bits is not None
    for work in (SweepWork(sweep(), False), pickle.loads(pickle.dumps(SweepWork(sweep(), False)))):
        found, left = work(ROWS, bits)
        assert found.names.tolist() == [0, 0, -1, 1, -1, 1]
        assert left.tolist() == [[1.5, 0.0], [25.0, 0.0]]
    assert open_bits(np.zeros(3, bool)) is None


def test_more_groups_than_two_bytes_can_name_are_refused() -> None:
    known = replayed(ProofLog("", 1.0, None, np.full(2, 1e-9)), SAMPLE, Survey.of(SAMPLE), PLAIN)
    known.closure.ask(0, 32_767)
    Sweep(known.closure, 10)
    known.closure.ask(1, 40_000)
    assert known.closure.labels[1] == 40_000
    with pytest.raises(InvalidInputError, match="more than 32,767 groups"):
        Sweep(known.closure, 10)
