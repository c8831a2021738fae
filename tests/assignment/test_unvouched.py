"""New rows by the word of a language model are never proven."""

from samecluster import How, recover
from samecluster.instances import make_ellipsoids


def test_no_new_row_is_proven_by_answers_of_a_model() -> None:
    made = make_ellipsoids(n=400, d=2, k=2, random_state=0)
    labels = made.labels
    found = recover(made.X, lambda i, j: labels[i] == labels[j], margin=1.0, random_state=0)
    new = made.X + 1e-7
    assert (found.predict(new).how_codes == How.PROVEN).any()
    assert not (found.by_models(["tiny"]).predict(new).how_codes == How.PROVEN).any()
