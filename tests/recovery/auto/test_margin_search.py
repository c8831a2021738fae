"""Nothing declared: a guessed margin, exceptions, budgets, audits, and what labels rest on."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.datasets import load_digits, load_iris, load_wine

from samecluster import (
    Answer,
    Certify,
    How,
    Predict,
    Question,
    Verdict,
    clustering_error,
    recover,
    start,
)
from samecluster.errors import InvalidInputError, RefutedError
from samecluster.instances import make_ellipsoids, make_nested
from samecluster.oracles import LabelOracle
from samecluster.proof.checker import check
from samecluster.recovery.answer_groups import AnswerGroups
from tests.cases.campaign import LONG, runs

pytestmark = pytest.mark.compiled  # two to five columns, as elsewhere; without, twice as long


def with_background(n: int, d: int, seed: int, share: float = 0.01):
    """The paper's instance, and points scattered over its box, each a group of its own."""
    made = make_ellipsoids(n, d, 5, random_state=seed)
    rng = np.random.default_rng(seed)
    count = int(share * n)
    around = rng.uniform(made.X.min(axis=0), made.X.max(axis=0), (count, d))
    order = rng.permutation(n + count)
    truth = np.concatenate([made.labels, 5 + np.arange(count)])
    return np.vstack([made.X, around])[order], truth[order]


def error_with_own_groups(labels, truth) -> float:
    """The clustering error if each point without a label counts as a group of its own."""
    filled, apart = labels.copy(), labels < 0
    filled[apart] = labels.max() + 1 + np.arange(np.count_nonzero(apart))
    return clustering_error(filled, truth)


@pytest.mark.campaign
@pytest.mark.parametrize(("d", "most"), [(2, 36), (4, 54), (6, 65)] if LONG else [(2, 36)])
def test_the_papers_instance_is_exact_with_nothing_declared(d, most) -> None:
    for seed in range(2):
        made = make_ellipsoids(10_000, d, 5, random_state=seed)
        found = recover(made.X, LabelOracle(made.labels), random_state=seed)
        assert clustering_error(found.labels, made.labels) == 0
        assert found.n_questions <= most
        assert found.count(How.PROVEN) == 0
        assert found.search is not None
        assert found.search.n_questions <= 60


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(runs(3, 40)))
def test_narrow_margins_are_found_by_lowering_the_guess(seed) -> None:
    """The true margin is 0.2 and the first guess 1; what is inferred is right all the same."""
    made = make_ellipsoids(4_000, 3, 5, margin=0.2, random_state=seed)
    found = recover(made.X, LabelOracle(made.labels), random_state=seed)
    assert clustering_error(found.labels, made.labels) <= 0.001
    assert found.n_questions <= 120


def test_labels_are_never_called_proven_under_a_guessed_margin() -> None:
    made = make_ellipsoids(3_000, 2, 3, random_state=0)
    guessed = recover(made.X, LabelOracle(made.labels), random_state=0)
    declared = recover(made.X, LabelOracle(made.labels), margin=1.0, random_state=0)
    assert set(guessed.how) == {"asked", "inferred"}
    assert set(declared.how) == {"asked", "proven"}
    assert any("guessed margin of 1" in line for line in guessed.assumptions)
    assert any("proven if every cluster has margin 1" in line for line in declared.assumptions)


def test_inferred_labels_have_a_proof_under_the_guessed_margin() -> None:
    made = make_ellipsoids(3_000, 3, 3, margin=0.3, random_state=1)
    found = recover(made.X, LabelOracle(made.labels), random_state=1)
    assert found.proof is not None
    assert found.proof.margin == found.margin
    checked = check(made.X, found.proof.lines())
    inferred = found.how == "inferred"
    assert inferred.sum() > 2_900
    assert (checked.labels[inferred] >= 0).all()


@pytest.mark.parametrize("d", [2, 4])
@pytest.mark.parametrize("seed", range(2))
def test_background_points_do_not_bring_the_proofs_down(d, seed) -> None:
    X, truth = with_background(10_000, d, seed)
    found = recover(X, LabelOracle(truth), random_state=seed)
    assert error_with_own_groups(found.labels, truth) <= 0.005
    assert found.count(How.INFERRED) >= 9_900
    large = [np.count_nonzero(found.labels == label) for label in np.unique(found.labels)[1:]]
    assert sum(size > 1_000 for size in large) == 5
    assert found.n_questions <= 150
    assert (found.labels[list(found.exceptions)] == -1).all()


def test_a_stranger_inside_a_cluster_is_an_exception_and_the_rest_stays_inferred() -> None:
    made = make_ellipsoids(5_000, 2, 3, random_state=0)
    truth = made.labels.copy()
    centre = made.X[truth == 0].mean(axis=0)
    stranger = int(np.argmin(np.sum((made.X - centre) ** 2, axis=1)))
    truth[stranger] = 99
    told = recover(
        made.X,
        LabelOracle(truth),
        answers=start_with(made.X, truth, stranger),
        random_state=0,
    )
    assert stranger in told.exceptions
    assert told.labels[stranger] == -1
    assert told.count(How.INFERRED) >= 4_900
    others = np.arange(5_000) != stranger
    assert clustering_error(told.labels[others], truth[others]) == 0
    assert any("exception" in line for line in told.assumptions)


def start_with(X, truth, item):
    """Answers that say of one item that it differs from another nearby."""
    run = start(X, random_state=0)
    while len(run.ledger) < 4:
        (question,) = run.pending
        run.tell(question, same=bool(truth[question.item] == truth[question.comparator]))
    member = next(i for i in np.flatnonzero(truth == 0) if i != item)
    return (*run.ledger, Answer(Question(item, int(member)), Verdict.DIFFERENT))


@pytest.mark.parametrize("budget", [1, 2, 5, 12, 25])
@pytest.mark.parametrize("margin", ["auto", 1.0])
def test_a_budget_ends_with_labels_for_all_and_can_be_raised(budget, margin) -> None:
    made = make_ellipsoids(2_000, 3, 4, random_state=0)
    oracle = LabelOracle(made.labels)
    few = recover(made.X, oracle, margin=margin, max_questions=budget, random_state=0)
    assert few.n_questions <= budget
    assert (few.labels >= 0).mean() > 0.97
    for answer in few.answers:
        i, j = answer.question.pair
        if min(few.labels[i], few.labels[j]) >= 0:
            assert (few.labels[i] == few.labels[j]) == (answer.verdict is Verdict.SAME)
    asked = []

    def counting(i: int, j: int) -> bool:
        asked.append(frozenset((i, j)))
        return bool(made.labels[i] == made.labels[j])

    more = recover(made.X, counting, margin=margin, answers=few.answers, random_state=0)
    assert clustering_error(more.labels, made.labels) == 0
    assert not {frozenset(answer.question.pair) for answer in few.answers} & set(asked)


def test_batches_do_not_exceed_a_budget() -> None:
    made = make_ellipsoids(1_000, 3, 4, random_state=0)
    for budget in (1, 3, 8, 13):
        found = recover(
            made.X,
            LabelOracle(made.labels),
            margin=1.0,
            method=Certify(batch=5),
            max_questions=budget,
            random_state=0,
        )
        assert found.n_questions <= budget


def test_several_people_get_all_checks_of_an_audit_at_once() -> None:
    made = make_ellipsoids(2_000, 3, 4, random_state=0)
    widths = {}
    for batch in (1, 4):
        run = start(made.X, audit=(0.05, 0.95), method=Certify(batch=batch), random_state=0)
        widths[batch] = 0
        while run.pending:
            widths[batch] = max(widths[batch], len(run.pending))
            i, j = run.pending[-1].pair
            run.tell(run.pending[-1], same=bool(made.labels[i] == made.labels[j]))
        assert run.result.audit is not None
        assert run.result.audit.met
        assert clustering_error(run.result.labels, made.labels) == 0
    assert widths[1] == 1
    assert widths[4] > 20


@pytest.mark.parametrize(("load", "most"), [(load_iris, 100), (load_wine, 100), (load_digits, 330)])
def test_real_data_is_predicted_where_proofs_would_not_pay(load, most) -> None:
    X, truth = load(return_X_y=True)
    found = recover(X, LabelOracle(truth), random_state=0)
    assert found.search is not None
    assert found.search.margin is None
    assert clustering_error(found.labels, truth) <= 0.003
    assert found.n_questions <= most
    assert set(found.how) == {"asked", "predicted"}
    assert found.foresight is not None
    said = "which expects" if found.foresight.tells else "is not known yet"
    assert any("predicted by a model" in line and said in line for line in found.assumptions)


def test_an_audit_ends_with_its_sentence() -> None:
    made = make_ellipsoids(10_000, 3, 4, random_state=0)
    found = recover(made.X, LabelOracle(made.labels), audit=(0.01, 0.95), random_state=0)
    assert found.audit is not None
    assert found.audit.met
    assert str(found.audit).startswith("at most 1 % of the labels are wrong (95 % confidence, ")
    assert found.n_questions <= 32 + 172 + 30
    assert any(str(found.audit) in line for line in found.assumptions)


def test_a_budget_may_end_in_the_middle_of_an_audit() -> None:
    made = make_ellipsoids(5_000, 2, 3, random_state=0)
    found = recover(
        made.X, LabelOracle(made.labels), audit=(0.01, 0.95), max_questions=120, random_state=0
    )
    assert found.n_questions == 120
    assert found.audit is not None
    assert not found.audit.met
    assert 0 < found.audit.share < 0.1  # single checks: something is known on the way
    assert (found.labels >= 0).all()


@pytest.mark.parametrize("max_questions", range(60, 180, 12))
def test_a_budget_may_end_anywhere_in_an_audit_that_learns(max_questions) -> None:
    """Every point has a label, and the bound is about the labels that there are."""
    X, truth = blurred(3)
    found = recover(
        X,
        LabelOracle(truth),
        method=Predict(expected_error=0.07),
        audit=(0.12, 0.8),
        max_questions=max_questions,
        random_state=3,
    )
    assert found.n_questions <= max_questions
    assert (found.labels[~np.isin(np.arange(120), found.exceptions)] >= 0).all()
    assert found.audit is not None
    assert found.audit.n_labels >= np.count_nonzero((found.how != "asked") & (found.labels >= 0))
    assert wrong_labels(found, truth) <= found.audit.n_wrong_at_most


def wrong_labels(found, truth) -> int:
    """Labels that nobody asked about and that are not of the cluster of their label's members."""
    wrong = 0
    for label in np.unique(found.labels[found.labels >= 0]):
        own = found.labels == label
        asked = np.flatnonzero(own & (found.how == "asked"))
        wrong += int(np.count_nonzero(truth[own & (found.how != "asked")] != truth[asked[0]]))
    return wrong


def blurred(seed: int):
    """Three clusters that overlap: every model errs on them."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=120)
    centres = np.array([[0.0, 0.0], [2.8, 0.0], [0.0, 2.8]])
    return centres[truth] + rng.normal(size=(120, 2)), truth


@pytest.mark.campaign
@pytest.mark.parametrize("max_questions", [None, 70])
@pytest.mark.parametrize("part", range(runs(1, 8)))
def test_audited_bounds_hold_as_often_as_promised(part, max_questions) -> None:
    """Pair audits or, under a budget, single ones, on data where the model errs.

    60 runs, 8,000 in `make test-long`. At a confidence of 80 % at most a fifth may be wrong; the
    test allows what chance allows.
    """
    n_runs, n_false, n_wrong = runs(30, 500), 0, 0
    for seed in range(part * n_runs, (part + 1) * n_runs):
        X, truth = blurred(seed)
        found = recover(
            X,
            LabelOracle(truth),
            method=Predict(expected_error=0.07),
            audit=(0.12, 0.8),
            max_questions=max_questions,
            random_state=seed,
        )
        assert found.audit is not None
        wrong = wrong_labels(found, truth)
        n_wrong += wrong
        n_false += wrong > found.audit.n_wrong_at_most
    assert n_wrong > n_runs  # the model does err
    assert n_false <= binom.ppf(0.9999, n_runs, 0.2)


def test_an_audit_under_a_declared_margin_that_is_too_large_refutes_it() -> None:
    made = make_ellipsoids(2_000, 4, 5, margin=0.2, random_state=0)
    oracle = LabelOracle(made.labels)
    unaudited = recover(made.X, oracle, margin=3.0, random_state=0)
    assert clustering_error(unaudited.labels, made.labels) > 0.1
    with pytest.raises(RefutedError):
        recover(made.X, oracle, margin=3.0, audit=(0.01, 0.95), random_state=0)


def test_unsure_answers_conclude_nothing() -> None:
    made = make_ellipsoids(2_000, 2, 3, random_state=0)

    def answer(i: int, j: int) -> Verdict:
        unsure = (i * 7 + j * 7) % 4 == 0
        return Verdict.UNSURE if unsure else Verdict.of(bool(made.labels[i] == made.labels[j]))

    found = recover(made.X, answer, audit=(0.02, 0.9), random_state=0)
    labelled = found.labels >= 0
    assert clustering_error(found.labels[labelled], made.labels[labelled]) == 0
    assert labelled.mean() > 0.95


def test_the_same_seed_gives_the_same_run() -> None:
    X, truth = with_background(3_000, 2, 0)
    one, two = (recover(X, LabelOracle(truth), audit=(0.03, 0.9), random_state=4) for _ in range(2))
    assert one.answers == two.answers
    assert np.array_equal(one.labels, two.labels)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"audit": 0.01}, "audit must be two numbers"),
        ({"audit": (0.01,)}, "audit must be two numbers"),
        ({"audit": (1.0, 0.95)}, "an error from 0 to below 1"),
        ({"audit": (0.01, 1.0)}, "a confidence between 0 and 1"),
        ({"max_questions": 0}, "whole number from 1 on, got 0"),
        ({"max_questions": 2.5}, "whole number from 1 on, got 2.5"),
        ({"max_questions": True}, "whole number from 1 on, got True"),
        ({"error_rate": 0.5}, "error_rate must be from 0 to below 1/2"),
        ({"error_rate": "x"}, "error_rate must be from 0 to below 1/2"),
        ({"method": "recur", "n_clusters": 2}, "method 'recur' needs a margin"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message) -> None:
    with pytest.raises(InvalidInputError, match=message):
        recover(np.arange(12.0).reshape(6, 2), lambda i, j: True, **settings)


def test_pairs_that_nothing_else_was_compared_with_are_told_from_groups() -> None:
    def said(*triples):
        return [Answer(Question(i, j), Verdict(v)) for i, j, v in triples]

    groups = AnswerGroups(said((0, 1, "same"), (1, 2, "same"), (5, 6, "same"), (7, 8, "different")))
    assert groups.isolated_pairs() == {Question(5, 6)}
    assert AnswerGroups(said((5, 6, "same"))).isolated_pairs() == set()
    assert groups.size(2) == 3
    # Audits may share an item; a larger group that stands alone is no accident.
    chain = [(5, 6, "same"), (6, 7, "same")]
    rest = [(0, 1, "same"), (1, 2, "different"), (2, 3, "same")]
    assert AnswerGroups(said(*rest, *chain)).separate_pairs() == {Question(5, 6), Question(6, 7)}
    longer = [*chain, (7, 8, "same"), (8, 9, "same")]
    more = [*rest, (3, 4, "same"), (3, 10, "same")]
    assert AnswerGroups(said(*more, *longer)).separate_pairs() == set()
    assert AnswerGroups(said((5, 6, "same"))).separate_pairs() == set()


def test_clusters_that_nobody_told_apart_are_named() -> None:
    """Of two groups without a "different" between them the smaller may be a part of the other."""
    made = make_ellipsoids(600, 3, 2, margin=1.0, random_state=1)
    one = np.flatnonzero(made.labels == 0).tolist()
    joined = [*itertools.pairwise(one[:6]), *itertools.pairwise(one[10:17])]
    given = [Answer(Question(i, j), Verdict.SAME) for i, j in joined]
    run = start(made.X, margin=1.0, answers=given, random_state=0)
    known = run.snapshot()
    smaller = int(known.labels[one[0]])
    assert smaller != known.labels[one[10]]
    (said,) = [line for line in known.assumptions if line.startswith("Nobody has told")]
    assert str(smaller) in said
    while run.pending:
        i, j = run.pending[0].pair
        run.tell(run.pending[0], same=bool(made.labels[i] == made.labels[j]))
    assert not [line for line in run.result.assumptions if line.startswith("Nobody")]


@pytest.mark.parametrize(("n", "seed"), [(1_000, 2), (2_000, 0)])
def test_a_cluster_in_the_middle_of_another_one_is_met(n, seed) -> None:
    """All that fits badly lies on the outside: only random questions come to the inner one."""
    made = make_nested(n, random_state=seed)
    found = recover(made.X, LabelOracle(made.labels), random_state=0)
    assert clustering_error(found.labels, made.labels) < 0.01


def test_random_questions_among_those_at_risky_labels_take_none_more() -> None:
    made = make_ellipsoids(2_000, 2, 3, margin=1.0, random_state=0)
    found = recover(made.X, LabelOracle(made.labels), random_state=0)
    assert found.search is not None
    assert found.search.margin == 1.0
    assert (found.search.n_questions, found.n_questions) == (17, 24)


def test_every_label_can_be_explained_by_how_it_is_known() -> None:
    X, truth = with_background(4_000, 2, 0)
    found = recover(X, LabelOracle(truth), audit=(0.05, 0.9), random_state=0)
    words = {"asked": "by answers", "inferred": "inferred: ", "predicted": "by prediction"}
    for how in np.unique(found.how):
        item = int(np.flatnonzero(found.how == how)[0])
        assert words.get(how, "no") in found.explain(item)
    assert "in no cluster that was found, by answers" in found.explain(found.exceptions[0])
    few = recover(X, LabelOracle(truth), max_questions=9, random_state=0)
    item = int(np.flatnonzero(few.how == "predicted")[0])
    assert "right with a probability of" in few.explain(item)


def test_a_notebook_shows_what_labels_rest_on() -> None:
    made = make_ellipsoids(1_000, 2, 2, random_state=0)
    shown = recover(made.X, LabelOracle(made.labels), random_state=0)._repr_html_()
    assert "<td>inferred</td>" in shown
    assert "guessed margin" in shown


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(60) if LONG else [0, 1, 2, *range(4, 12)])
def test_any_small_data_comes_to_an_end_with_labels_that_fit_the_answers(seed) -> None:
    """Random sizes, shapes and numbers of clusters, with and without an audit or a budget.

    The fourth takes as long as all others, and is left to `make test-long`.
    """
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.choice([40, 300, 600, 900])), int(rng.integers(1, 6)), int(rng.integers(1, 9))
    truth = rng.integers(k, size=n)
    X = rng.normal(size=(k, d))[truth] * rng.choice([1.0, 8.0]) + rng.normal(size=(n, d))
    audit = (0.1, 0.8) if rng.random() < 0.5 else None
    most = int(rng.integers(1, 200)) if rng.random() < 0.5 else 400
    found = recover(X, LabelOracle(truth), audit=audit, max_questions=most, random_state=seed)
    assert found.n_questions <= most
    for answer in found.answers:
        i, j = answer.question.pair
        if min(found.labels[i], found.labels[j]) >= 0:
            assert (found.labels[i] == found.labels[j]) == (answer.verdict is Verdict.SAME)
