"""A row beyond all clouds gets no label, in memory and in blocks by the same rule."""

import numpy as np
import pytest

from samecluster.large.follow import CloudShapes, LabelledSample
from samecluster.points.survey import Survey
from samecluster.questions.ledger import Ledger
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.predict.fill import follow_clouds
from samecluster.recovery.problem import Problem
from samecluster.recovery.result.how import How


def in_memory(X, labels, row) -> int:
    """The label that prediction in memory gives to one more row."""
    points = np.vstack([X, row])
    problem = Problem(points, n_clusters=None, margin=None, rng=np.random.default_rng(0))
    labelling = Labelling(problem, "test", Ledger())
    labelling.mark(np.arange(len(X)), labels, How.INFERRED)
    follow_clouds(problem, labelling)
    return int(labelling.labels[-1])


def in_blocks(X, labels, row) -> int:
    """The label that a sweep over blocks gives to it."""
    how = np.full(len(X), How.INFERRED, dtype=np.int8)
    survey = Survey.of(np.vstack([X, row]))
    sample = LabelledSample(X, survey, (), labels, how, None)
    return int(CloudShapes.of(sample).predicted(row[None, :])[0])


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((90, 90), -1),  # two clusters with a shape: the far row is beyond both
        ((90, 90, 1), -1),  # one item alone has no shape, and no say
        ((90, 90, 5), 2),  # a few have no edge that tells, so that nothing is beyond all
    ],
)
@pytest.mark.parametrize("way", [in_memory, in_blocks])
def test_a_far_row(way, sizes, expected) -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate(
        [rng.normal((20.0 * at, 0.0), size=(size, 2)) for at, size in enumerate(sizes)]
    )
    labels = np.repeat(np.arange(len(sizes)), sizes)
    assert way(X, labels, np.array([45.0, 60.0])) == expected
