"""New rows after a recovery in blocks: by the sample's members, as in memory."""

import numpy as np
import pytest

from samecluster import clustering_error, recover_large
from samecluster.errors import InvalidInputError
from samecluster.instances import make_ellipsoids, make_rings
from samecluster.oracles import LabelOracle

MADE = make_ellipsoids(n=12_000, d=3, k=3, margin=1.0, random_state=0)
OLD, NEW = slice(0, 9_000), slice(9_000, None)


@pytest.mark.parametrize(("declared", "ground"), [({"margin": 1.0}, "proven"), ({}, "inferred")])
def test_new_rows_are_in_the_clusters_of_the_old_ones(declared, ground) -> None:
    found = recover_large(
        MADE.X[OLD], LabelOracle(MADE.labels[OLD]), sample=2_000, random_state=0, **declared
    )
    new = found.predict(MADE.X[NEW])
    both = np.append(found.labels, new.labels)
    assert clustering_error(both, MADE.labels) == 0
    assert np.mean(new.how == ground) > 0.99
    assert set(new.how) <= {ground, "predicted"}
    one_by_one = [found.predict(row[None]).labels[0] for row in MADE.X[NEW][:20]]
    assert one_by_one == new.labels[:20].tolist()


def test_rows_of_the_sample_keep_their_labels() -> None:
    found = recover_large(
        MADE.X[OLD], LabelOracle(MADE.labels[OLD]), sample=2_000, margin=1.0, random_state=0
    )
    assert found.sample is not None
    again = found.predict(found.sample.points)
    assert np.array_equal(again.labels, found.sample.labels)
    assert np.array_equal(again.how_codes, found.sample.how_codes)
    with pytest.raises(InvalidInputError, match="new rows must have 3 columns"):
        found.predict(np.zeros((2, 4)))


def test_new_rows_are_proven_in_the_lift() -> None:
    made = make_rings(6_000, random_state=0)
    found = recover_large(
        made.X[:4_000],
        LabelOracle(made.labels[:4_000]),
        margin=2.0,
        lift="quadratic",
        sample=1_000,
        random_state=0,
    )
    new = found.predict(made.X[4_000:])
    assert set(new.how) <= {"proven", "predicted"}
    assert clustering_error(np.append(found.labels, new.labels), made.labels) == 0
