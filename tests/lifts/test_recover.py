"""`recover` in a lift: what it proves, what it says, and what it refuses."""

from typing import Any

import numpy as np
import pytest

import samecluster
from samecluster import Polynomial, SameCluster, clustering_error, start
from samecluster.errors import InvalidInputError, RefutedError
from samecluster.instances import make_rings
from samecluster.oracles import LabelOracle
from samecluster.proof.checker import BadProof, check
from samecluster.proof.files import load_proof, save_proof
from samecluster.testing import check_claims
from tests.cases.campaign import runs


def recover(*given: Any, **named: Any) -> Any:
    return samecluster.recover(*given, **named)


def rings(n: int = 600, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    angle, radius = rng.uniform(0, 2 * np.pi, n), 1 + labels + 0.05 * rng.uniform(-1, 1, n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), labels


X, LABELS = rings()


@pytest.mark.parametrize("lift", ["quadratic", "cubic", Polynomial(2)], ids=str)
def test_rings_are_proven_in_a_lift_and_the_checker_agrees(lift) -> None:
    found = recover(X, LabelOracle(LABELS), n_clusters=2, margin=2.0, lift=lift, random_state=0)
    assert found.n_questions <= (12 if lift != "cubic" else 30)
    assert set(found.how) == {"asked", "proven"}
    verified = check(X, found.proof.lines())
    assert (verified.labels >= 0).all()
    assert verified.lift == found.lift.said()
    judged = check_claims(found, LABELS)
    assert {one.claim.kind for one in judged} == {"asked", "proven"}
    assert all(one.true and one.held.value == "yes" for one in judged)


@pytest.mark.parametrize(("d", "degree", "most"), [(3, 4, 90), (9, 2, 110)][: runs(1, 2)])
def test_wide_lifts_are_proven_with_few_questions(d, degree, most) -> None:
    """34 and 54 columns, some of them nearly dependent: a span of each cluster must do."""
    made = make_rings(1000, 2, d, degree=degree, random_state=0)
    found = recover(
        made.X,
        LabelOracle(made.labels),
        n_clusters=2,
        margin=made.margin,
        lift=made.lift,
        random_state=0,
    )
    assert set(found.how) == {"asked", "proven"}
    assert (check(made.X, found.proof.lines()).labels >= 0).all()
    assert made.margin_holds()
    assert clustering_error(found.labels, made.labels) == 0
    assert found.n_questions <= most


def test_without_a_lift_rings_have_no_margin() -> None:
    with pytest.raises(RefutedError):
        recover(X, LabelOracle(LABELS), margin=2.0, random_state=0)


def test_claims_and_explanations_name_the_lift_and_its_columns() -> None:
    import pandas as pd

    frame = pd.DataFrame({"height": X[:, 0], "width": X[:, 1], "one": 1.0})
    found = recover(frame, LabelOracle(LABELS), margin=2.0, lift="quadratic", random_state=0)
    said = "the quadratic lift of columns height, width"
    assert f"every cluster has margin 2 in {said} (resolution" in found.assumptions[-1]
    proven = int(np.flatnonzero(found.how == "proven")[0])
    assert f", in {said}. The sizes of the weights add up to 1." in found.explain(proven)
    premise = found.claims[-1].premises[0]
    assert premise.as_dict()["details"]["lift"] == said


def test_a_lift_of_ones_own_is_proven_about_what_it_returns() -> None:
    def squares(points):
        return np.column_stack([points, (points**2).sum(axis=1)])

    found = recover(X, LabelOracle(LABELS), margin=2.0, lift=squares, random_state=0)
    assert set(found.how) == {"asked", "proven"}
    assert "in what the lift 'squares' returned" in found.assumptions[-1]
    assert check(squares(X), found.proof.lines()).lift == "what the lift 'squares' returned"
    with pytest.raises(BadProof, match="about what a lift returned, and these columns are not"):
        check(X, found.proof.lines())
    proven = int(np.flatnonzero(found.how == "proven")[0])
    assert "in what the lift 'squares' returned" in found.explain(proven)


def test_a_proof_in_a_lift_can_be_stored_and_read_back(tmp_path) -> None:
    found = recover(X, LabelOracle(LABELS), margin=2.0, lift="quadratic", random_state=0)
    for name in ("proof.jsonl.gz", "proof.parquet"):
        save_proof(found.proof, tmp_path / name)
        again = load_proof(tmp_path / name)
        assert again.header() == found.proof.header()
        assert (check(X, again.lines()).labels >= 0).all()


def test_the_estimator_takes_a_lift() -> None:
    model = SameCluster(margin=2.0, oracle=LabelOracle(LABELS), lift="quadratic", random_state=0)
    assert set(model.fit(X).how_) == {"asked", "proven"}


def test_a_guessed_margin_in_a_declared_lift_infers() -> None:
    points, labels = rings(2_000)
    found = recover(points, LabelOracle(labels), n_clusters=2, lift="quadratic", random_state=0)
    assert "inferred" in set(found.how)
    assert "in the quadratic lift of columns 0, 1" in " ".join(found.assumptions)
    assert all(one.is_false is False for one in check_claims(found, labels))


def test_an_answer_that_the_margin_in_the_lift_forbids_refutes_it() -> None:
    known = np.where(np.arange(len(X)) < 300, LABELS, -1)
    known[7] = 1 - known[7]
    with pytest.raises(RefutedError, match="margin"):
        start(X, margin=2.0, lift="quadratic", random_state=0, known=known)


def noisy(points):
    return points + np.random.default_rng().normal(size=points.shape)


def centred(points):
    return points - points.mean(axis=0)


BAD: dict[str, tuple[Any, str]] = {
    "a word": ("cubical", r'lift must be "linear", "quadratic", "cubic", "quartic", Polyn'),
    "a class": (Polynomial, "lift must be"),
    "NaN": (lambda p: p * np.nan, "returned nan in lifted column 0 for row 0; only finite"),
    "too few rows": (lambda p: p[1:], r"must return a row for each of 600 rows, got shape \(599"),
    "a vector": (lambda p: p[:, 0], "must return a row for each of 600 rows"),
    "text": (lambda p: p.astype(str), "must return numbers"),
    "no variation": (lambda p: np.ones((len(p), 3)), "returns the same for every row"),
    "no columns": (lambda p: np.ones((len(p), 0)), "returns the same for every row"),
    "chance": (noisy, "noisy does not return the same twice; fix its random state"),
    "other rows": (centred, "must take each row by itself"),
    "too wide": (lambda p: np.tile(p, 201), "returns 402 columns; at most 400 are allowed"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_lifts_are_refused_in_one_line(name) -> None:
    lift, message = BAD[name]
    with pytest.raises(InvalidInputError, match=message) as error:
        recover(X, LabelOracle(LABELS), margin=1.0, lift=lift)
    assert "\n" not in str(error.value)


def test_a_degree_that_makes_too_many_columns_is_refused() -> None:
    wide = np.random.default_rng(0).normal(size=(50, 30))
    message = "degree 2 makes 495 columns of 30, and at most 400 are allowed; use a lower degree"
    with pytest.raises(InvalidInputError, match=message):
        start(wide, margin=1.0, lift="quadratic")


def test_other_methods_refuse_a_lift() -> None:
    with pytest.raises(InvalidInputError, match='lift goes with method "certify"'):
        start(X, n_clusters=2, margin=1.0, method="recur", lift="quadratic")
