"""Labels by somebody who errs, checked by people: claims rest on people alone."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from samecluster import How, Predict, clustering_error, recover, start
from samecluster.errors import InvalidInputError
from samecluster.instances import make_ellipsoids
from samecluster.oracles import LabelOracle
from samecluster.oracles.base import checked_reply
from samecluster.questions.pair import Verdict
from samecluster.recovery.auto.given_labels import GivenLabels
from samecluster.recovery.auto.mistakes import too_many_wrong
from samecluster.testing import check_claims
from tests.cases.campaign import runs

MADE = make_ellipsoids(n=900, d=3, k=6, random_state=4)
PEOPLE = LabelOracle(MADE.labels)
GOAL = (0.05, 0.95)


def misread(share, seed):
    """Labels of which a share is that of another cluster."""
    rng = np.random.default_rng(seed)
    other = (MADE.labels + rng.integers(1, 6, len(MADE.labels))) % 6
    return np.where(rng.random(len(other)) < share, other, MADE.labels)


def checked(labels, **more):
    usual = {"looks": "auto", "random_state": 0, **more}
    return recover(MADE.X, PEOPLE, method=GivenLabels(labels), **usual)


def assert_no_label_against_answers(found):
    for answer in found.answers:
        one, other = found.labels[list(answer.question.pair)]
        assert min(one, other) < 0 or (one == other) == (answer.verdict is Verdict.SAME)


def n_wrong(found):
    """Labels that are not those of most people's answers, by the best matching."""
    return round(clustering_error(found.labels, MADE.labels) * len(MADE.labels))


@pytest.mark.parametrize("share", [0.0, 0.05, 0.1])
def test_few_looks_of_people_are_enough_for_labels_that_are_mostly_right(share) -> None:
    found = checked(misread(share, 1))
    assert found.n_looks <= 6
    assert clustering_error(found.labels, MADE.labels) <= share / 4


def test_only_what_people_said_is_asked_and_nothing_is_proven() -> None:
    found = checked(misread(0.05, 2))
    seen = {item for answer in found.answers for item in answer.question.pair}
    asked = np.flatnonzero(found.how_codes == How.ASKED)
    assert set(asked.tolist()) <= seen
    assert not found.count(How.PROVEN)
    assert not found.count(How.INFERRED), "nobody is named who gave them"
    assert len(asked) < len(MADE.labels) / 2


@pytest.mark.parametrize(("share", "seed"), [(0.0, 0), (0.1, 1), (0.25, 2), (0.4, 3)])
def test_what_is_said_of_given_labels_is_what_people_saw(share, seed) -> None:
    labels = misread(share, seed)
    found = checked(labels, random_state=seed)
    within = [
        answer.verdict
        for answer in found.answers
        if len({int(labels[item]) for item in answer.question.pair}) == 1
    ]
    assert found.given is not None
    assert 12 <= found.given.n_seen <= len(within)
    assert found.given.n_wrong <= within.count(Verdict.DIFFERENT)
    assert (found.given.n_wrong > 0) == (share > 0)


@pytest.mark.campaign
@pytest.mark.parametrize("share", [0.03, 0.1])
def test_the_bound_of_people_holds_whatever_the_labels_are_worth(share) -> None:
    n_runs, n_false = runs(12, 400), 0
    for seed in range(n_runs):
        found = checked(misread(share, seed), audit=GOAL, random_state=seed)
        assert found.audit is not None
        assert found.audit.met
        n_false += n_wrong(found) > GOAL[0] * len(MADE.labels)
        judged = check_claims(found, MADE.labels)
        assert all(one.held for one in judged if one.claim.kind == "asked")
    assert n_false <= 0.05 * n_runs + 2 * np.sqrt(0.05 * 0.95 * n_runs)


@pytest.mark.parametrize(
    "labels",
    [
        np.zeros(900, dtype=int),
        np.full(900, -1),
        np.random.default_rng(0).integers(0, 6, 900),
        misread(0.4, 3),
        np.where(np.isin(MADE.labels, [0, 1, 2]), 0, MADE.labels),
        np.arange(900) // 2,
    ],
    ids=["one", "none", "random", "right in 60 %", "clusters missing", "far too many"],
)
def test_bad_labels_are_noticed_and_cost_little(labels) -> None:
    alone = recover(MADE.X, PEOPLE, looks="auto", audit=GOAL, random_state=0)
    found = checked(labels, audit=GOAL)
    assert found.audit is not None
    assert found.audit.met
    assert clustering_error(found.labels, MADE.labels) <= GOAL[0]
    assert found.n_looks <= alone.n_looks + 30
    assert found.given is not None
    said = str(next(claim for claim in found.claims if claim.kind == "given"))
    assert found.given.is_used or "put aside" in said
    if "groups apart" not in said:
        assert found.given.n_wrong > 0.15 * found.given.n_seen


@pytest.mark.parametrize(("share", "at_most"), [(0.05, 0.05), (0.1, 0.05), (0.4, 1.0)])
def test_labels_are_seldom_put_aside_for_what_random_members_show_if_few_are_wrong(
    share, at_most
) -> None:
    """Looked at after each of 200 members; and labels that are wrong in 40 % nearly always go."""
    rng, n_aside = np.random.default_rng(0), 0
    for _ in range(400):
        wrong = np.cumsum(rng.random(200) < share)
        n_aside += any(too_many_wrong(at + 1, int(n)) for at, n in enumerate(wrong))
        assert share < 0.2 or too_many_wrong(200, int(wrong[-1]))
    assert n_aside <= at_most * 400 + 2 * np.sqrt(at_most * (1 - at_most) * 400)


@pytest.mark.parametrize("seed", range(2))
def test_people_go_on_without_worthless_labels_as_if_nobody_had_given_any(seed) -> None:
    X, y = load_digits(return_X_y=True)
    truth = np.asarray(y, dtype=np.int64)
    rng = np.random.default_rng(seed)
    other = (truth + rng.integers(1, 10, len(truth))) % 10
    labels = np.where(rng.random(len(truth)) < 0.4, other, truth)
    settings = {"looks": "auto", "random_state": seed}
    alone = recover(X, LabelOracle(truth), **settings)
    found = recover(X, LabelOracle(truth), method=GivenLabels(labels, by=("m",)), **settings)
    assert found.given is not None
    assert not found.given.is_used
    assert found.n_looks <= alone.n_looks + 30
    assert clustering_error(found.labels, truth) <= 0.005
    for answer in found.answers:
        one, two = found.labels[list(answer.question.pair)].tolist()
        assert (
            answer.verdict is Verdict.UNSURE
            or min(one, two) < 0
            or ((one == two) == (answer.verdict is Verdict.SAME))
        ), "what people said before they went on counts, too"


@pytest.mark.parametrize("otherwise", [None, Predict(expected_error=0.01)])
def test_labels_that_are_put_aside_leave_what_people_said_to_be_seen(otherwise) -> None:
    method = GivenLabels(misread(0.9, 0), otherwise)
    run = start(MADE.X, method=method, looks="auto", random_state=0)
    n_aside = 0
    while not run.done and n_aside < 12:
        look = run.looks[0]
        run.tell_look(look, checked_reply(PEOPLE, look))
        seen = run.snapshot()
        assert_no_label_against_answers(seen)
        if seen.given is not None and not seen.given.is_used:
            n_aside += 1
            assert seen.count(How.ASKED)
            assert not seen.count(How.UNASSIGNED)
    assert n_aside


@pytest.mark.parametrize("spent", [10, 25, 40])
def test_a_budget_that_ends_without_the_given_labels_loses_no_answer(spent) -> None:
    found = checked(misread(0.9, 0), max_questions=spent)
    assert_no_label_against_answers(found)
    assert found.count(How.ASKED)
    assert not found.count(How.UNASSIGNED)


@pytest.mark.parametrize("seed", range(4))
def test_two_clusters_under_one_label_are_divided(seed) -> None:
    """What one wrong "same" of a liar does: people see strangers, and others follow these."""
    merged = misread(0.05, seed)
    merged[merged == 1] = 0
    found = checked(merged)
    assert found.given is not None
    assert found.given.is_used
    assert len(np.unique(found.labels)) == 6
    assert clustering_error(found.labels, MADE.labels) <= 0.01
    assert found.n_looks <= 12


def test_neighbours_that_know_less_than_the_labels_are_not_followed() -> None:
    """Columns that say nothing about the clusters: people see it, and given labels stay."""
    rng = np.random.default_rng(0)
    X, truth = rng.normal(size=(600, 3)), np.arange(600) % 4
    truth[:480] = 0  # so that most neighbours agree on the largest
    found = recover(
        X, LabelOracle(truth), method=GivenLabels(truth.copy()), looks="auto", random_state=0
    )
    assert clustering_error(found.labels, truth) <= 0.01


def test_labels_of_a_model_are_inferred_by_it_and_never_asked() -> None:
    found = recover(
        MADE.X,
        PEOPLE,
        method=GivenLabels(misread(0.05, 1), by=("model tiny",)),
        looks="auto",
        audit=GOAL,
        random_state=0,
    )
    seen = {item for answer in found.answers for item in answer.question.pair}
    assert set(np.flatnonzero(found.how_codes == How.ASKED).tolist()) <= seen
    assert found.count(How.INFERRED) > 700
    assert not found.count(How.PROVEN)
    said = " ".join(found.assumptions)
    assert "inferred, by model tiny, right if the labels that model tiny gave are right" in said
    assert "of model tiny, and" in said
    audit = next(claim for claim in found.claims if claim.kind == "audit")
    assert not any(getattr(one, "models", ()) for one in audit.premises)


def test_labels_that_are_one_cluster_are_joined_by_people() -> None:
    split = MADE.labels * 2 + np.random.default_rng(0).integers(0, 2, 900)
    found = checked(split)
    assert len(np.unique(found.labels)) == 6
    assert clustering_error(found.labels, MADE.labels) == 0


def test_people_who_are_never_sure_end_without_a_claim() -> None:
    found = recover(
        MADE.X, lambda i, j: Verdict.UNSURE, method=GivenLabels(MADE.labels), random_state=0
    )
    assert not found.count(How.ASKED)


def test_pairs_will_do_where_looks_are_not_answered() -> None:
    found = checked(misread(0.05, 1), looks="pairs")
    assert clustering_error(found.labels, MADE.labels) <= 0.02
    assert found.n_looks == found.n_questions


def test_other_lengths_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="one label for each of 900 points"):
        checked(np.zeros(3, dtype=int))
