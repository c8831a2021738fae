"""No label is predicted that answers exclude, whoever gave them and whatever they were about."""

import os

import numpy as np
import pytest

from samecluster import How, Predict, start
from samecluster.questions.ledger import Ledger
from samecluster.questions.look import LookSizes
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.recovery.allowed_groups import allowed_chances
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.predict.fill import follow_clouds, keep_together, predict_unlabelled
from samecluster.recovery.predict.plan import PredictRun
from samecluster.recovery.problem import Problem

LONG = os.environ.get("SAMECLUSTER_TESTS") == "long"
SETTINGS = {
    "nothing declared": {},
    "predict": {"method": "predict"},
    "batch": {"method": Predict(batch=5)},
    "looks": {"looks": LookSizes(choice=3, sheet=6, board=5)},
    "audit": {"audit": (0.1, 0.8)},
    "recur": {"method": "recur", "margin": 0.2},
}


def said(*triples: tuple[int, int, str]) -> tuple[Answer, ...]:
    return tuple(Answer(Question(i, j), Verdict(verdict)) for i, j, verdict in triples)


def by_truth(truth, pairs) -> list[Answer]:
    answers = (Answer(Question(*p), Verdict.of(bool(truth[p[0]] == truth[p[1]]))) for p in pairs)
    return list({answer.question.pair: answer for answer in answers}.values())


def excluded(found) -> list[tuple[int, int]]:
    """Pairs that an answer parts, and that have one label of which somebody predicted a part."""
    return [
        (i, j)
        for answer in found.answers
        for i, j in [answer.question.pair]
        if answer.verdict is Verdict.DIFFERENT
        and found.labels[i] == found.labels[j] >= 0
        and "predicted" in found.how[[i, j]]
    ]


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("seed", range(60 if LONG else 6))
def test_no_label_is_predicted_that_answers_exclude(settings, seed) -> None:
    """Clusters that overlap, answers about random pairs before the run, a budget that cuts it."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.choice([30, 60, 150])), int(rng.integers(2, 8))
    truth = rng.integers(k, size=n)
    X = rng.normal(size=(k, 2))[truth] * rng.choice([1.0, 4.0]) + rng.normal(size=(n, 2))
    pairs = [rng.choice(n, 2, replace=False).tolist() for _ in range(int(rng.integers(30)))]
    if settings.get("method") == "recur":
        settings = settings | {"n_clusters": k}
    budget, given = int(rng.integers(10, 80)), by_truth(truth, pairs)
    run = start(X, answers=given, max_questions=budget, random_state=seed, **settings)
    while run.pending:
        assert excluded(run.snapshot()) == []
        look = run.pending[0]
        verdicts = [Verdict.of(bool(truth[i] == truth[j])) for i, j in _pairs(look)]
        run.tell(look, verdicts[0] if isinstance(look, Question) else verdicts)
    assert excluded(run.result) == []


def _pairs(look) -> list[tuple[int, int]]:
    return [question.pair for question in look.questions]


def labelling_of(X, answers) -> tuple[Problem, Labelling]:
    problem = Problem(X, None, None, np.random.default_rng(0), answers=answers)
    return problem, Labelling(problem, "test", Ledger(answers))


def test_a_point_that_gets_its_name_later_excludes_its_group_too() -> None:
    """Of two points without a name that differ, one is placed: the other one is not with it."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 4])
    groups = [(i, i + 1, "same") for i in (0, 1, 2, 20, 21, 22)]
    problem, labelling = labelling_of(X, said(*groups, (0, 20, "different"), (5, 6, "different")))
    run = PredictRun(problem, labelling, expected_error=1.0)
    assert 5 not in run.names.name_of
    assert 6 not in run.names.name_of
    run.write_all()
    assert labelling.labels[5] != labelling.labels[6], "only one of them is in the near group"
    run.placing.expect([6])
    run.placing.add(6, run.names.name_of[0])
    run.write_all()
    assert labelling.labels[6] == labelling.labels[0] != labelling.labels[5]
    assert labelling.how[5] == How.PREDICTED


def test_clouds_do_not_take_a_point_that_answers_keep_out() -> None:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + 6])
    known = np.setdiff1d(np.arange(100), [0, 1, 50])
    for also, expected in (((), 1), (((0, 60, "different"),), -1)):
        answers = said((0, 2, "different"), (2, 3, "same"), (60, 61, "same"), *also)
        problem, labelling = labelling_of(X, answers)
        labelling.mark(known, (known >= 50).astype(np.int64), How.INFERRED)
        assert follow_clouds(problem, labelling) is not None
        assert labelling.labels[[0, 1, 50]].tolist() == [expected, 0, 1]
        assert labelling.probability is not None
        assert labelling.probability[0] < 0.01, "it may well be in no cluster that was found"


def test_a_pair_that_only_an_audit_joined_is_known_as_well_as_the_better_known_of_it() -> None:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + 6])
    for mate in (1, 51):  # where it would be predicted anyway, and elsewhere
        answers = said((0, mate, "same"), (2, 3, "same"), (60, 61, "same"), (2, 60, "different"))
        problem, labelling = labelling_of(X, answers)
        known = np.arange(1, 100)
        labelling.mark(known, (known >= 50).astype(np.int64), How.INFERRED)
        predict_unlabelled(problem, labelling)
        keep_together(labelling)
        assert labelling.labels[0] == labelling.labels[mate]
        assert labelling.how[0] == How.INFERRED


def test_items_that_are_the_same_have_one_group_and_no_group_is_left_for_some() -> None:
    ledger = Ledger(said((5, 6, "same"), (7, 0, "different"), (7, 1, "different"), (8, 1, "same")))
    chances = np.array([[0.9, 0.1], [0.3, 0.7], [0.5, 0.5], [0.8, 0.2]])
    found = allowed_chances([5, 6, 7, 8], chances, np.array([3, 4]), {0: 3, 1: 4}, ledger)
    expected = np.array([[0.6, 0.4], [0.6, 0.4], [0.0, 0.0], [0.0, 1.0]])
    assert np.allclose(found, expected)


def test_an_answer_takes_the_predicted_label_that_it_excludes_before_all_are_in() -> None:
    """Of a batch, the first answers count before the last one came."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 4])
    _, labelling = labelling_of(X, said((0, 1, "same"), (0, 2, "different")))
    labelling.mark(np.arange(40), 0, How.PREDICTED)
    labelling.mark(np.array([0, 1]), 0, How.ASKED)
    found = labelling.recovery()
    assert found.labels[2] == -1
    assert found.how[2] == "unassigned"
    assert labelling.labels[2] == 0, "the method still decides"
    assert np.count_nonzero(found.labels == 0) == 39
