"""New rows are never proven in a lift, nor by the word of a language model."""

import pytest

from samecluster import How, recover
from samecluster.errors import InvalidInputError
from samecluster.instances import make_ellipsoids, make_rings


def test_no_new_row_is_proven_by_answers_of_a_model() -> None:
    made = make_ellipsoids(n=400, d=2, k=2, random_state=0)
    labels = made.labels
    found = recover(made.X, lambda i, j: labels[i] == labels[j], margin=1.0, random_state=0)
    new = made.X + 1e-7
    assert (found.predict(new).how_codes == How.PROVEN).any()
    assert not (found.by_models(["tiny"]).predict(new).how_codes == How.PROVEN).any()


def test_a_lift_proves_no_new_row_and_is_not_kept_in_a_file(tmp_path) -> None:
    made = make_rings(n=400, random_state=0)
    labels = made.labels
    found = recover(
        made.X,
        lambda i, j: labels[i] == labels[j],
        margin=2.0,
        lift="quadratic",
        random_state=0,
    )
    assert found.count(How.PROVEN)
    assert not (found.predict(made.X + 1e-7).how_codes == How.PROVEN).any()
    with pytest.raises(InvalidInputError, match="lift"):
        found.save(tmp_path / "found.result")
