"""The plan of certify, driven by next and send: what it asks in which phase, and what it writes."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from samecluster.errors import RefutedError
from samecluster.instances import make_ellipsoids
from samecluster.proof.checker import check
from samecluster.questions.ledger import Ledger
from samecluster.questions.look import pairs_of
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.recovery.certify.plan import Certify, CertifyRun
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.problem import Problem
from samecluster.recovery.result.how import How

FAST = Certify(kernel="numpy", effort="fast")
MADE = make_ellipsoids(300, 2, 3, random_state=0)
PROBLEM = Problem(MADE.X, 3, 1.0, np.random.default_rng(0))


def run_of(problem: Problem, settings: Certify = FAST) -> tuple[CertifyRun, Ledger]:
    problem = replace(problem, rng=np.random.default_rng(0))
    ledger = Ledger(problem.answers)
    return CertifyRun(settings, problem, Labelling(problem, "certify", ledger)), ledger


def truth(question: Question) -> Verdict:
    return Verdict.of(bool(MADE.labels[question.item] == MADE.labels[question.comparator]))


def played(
    run: CertifyRun, ledger: Ledger, answer: Callable[[Question], Verdict] = truth
) -> list[list[Question]]:
    plan, verdicts = run.play(), None
    batches: list[list[Question]] = []
    while True:
        try:
            batch = pairs_of(next(plan) if verdicts is None else plan.send(verdicts))
        except StopIteration:
            return batches
        batches.append(batch)
        verdicts = [answer(question) for question in batch]
        for question, verdict in zip(batch, verdicts, strict=True):
            ledger.record(Answer(question, verdict))


@pytest.mark.parametrize(("guessed", "how"), [(False, How.PROVEN), (True, How.INFERRED)])
def test_labels_are_proven_or_inferred_if_the_margin_is_a_guess(guessed, how) -> None:
    run, ledger = run_of(replace(PROBLEM, guessed=guessed))
    played(run, ledger)
    asked = list(run.names.name_of)
    others = np.setdiff1d(np.arange(300), asked)
    labelling = run.labelling
    assert (labelling.how[asked] == How.ASKED).all()
    assert (labelling.how[others] == how).all()
    assert len(set(zip(labelling.labels.tolist(), MADE.labels.tolist(), strict=True))) == 3


def test_the_first_point_of_each_group_gets_a_name_without_a_question() -> None:
    run, ledger = run_of(PROBLEM)
    batches = played(run, ledger)
    # Three groups of three points each span two columns: two questions a group, none between them.
    assert [len(batch) for batch in batches] == [1] * 6
    assert [record[0] for record in run.known.log.records].count("cluster") == 3
    assert run.known.log.records[-1] == ("count",)
    assert run.names.all_different
    check(MADE.X, run.known.log.lines())


def test_without_a_number_of_clusters_pairs_of_names_are_compared() -> None:
    run, ledger = run_of(replace(PROBLEM, n_clusters=None))
    batches = played(run, ledger)
    kinds = {record[0] for record in run.known.log.records}
    assert "count" not in kinds
    assert run.names.all_different
    between = [q for batch in batches for q in batch if truth(q) is Verdict.DIFFERENT]
    assert between
    for question in between:
        assert question.comparator in run.names.name_of


def test_answers_given_before_are_taken_in_and_merge_names() -> None:
    one, other, third = np.flatnonzero(MADE.labels == 0)[:3].tolist()
    far = int(np.flatnonzero(MADE.labels == 1)[0])
    given = [(one, far, "different"), (other, third, "same"), (third, far, "different")]
    given += [(one, third, "same")]
    answers = tuple(Answer(Question(i, j), Verdict(v)) for i, j, v in given)
    run, _ = run_of(replace(PROBLEM, answers=answers))
    run.begin()
    assert len({run.names.name_of[item] for item in (one, other, third)}) == 1
    name = run.names.name_of[one]
    assert run.names.alive == [name]
    assert run.known.non_members(name).tolist() == [far]
    assert (run.labelling.labels[[one, other, third]] == name).all()
    assert (run.labelling.how[[one, other, third]] == How.ASKED).all()
    assert run.labelling.how[far] == How.UNASSIGNED


def test_a_pair_compared_with_nothing_else_founds_no_cluster_and_is_checked_in_the_end() -> None:
    a, b = (int(np.flatnonzero(MADE.labels == c)[5]) for c in (0, 1))
    c, d = (int(np.flatnonzero(MADE.labels == c)[0]) for c in (0, 1))
    given = [Answer(Question(a, b), Verdict.SAME), Answer(Question(c, d), Verdict.DIFFERENT)]
    run, ledger = run_of(replace(PROBLEM, answers=tuple(given)))
    with pytest.raises(RefutedError):
        played(run, ledger)


def test_unsure_points_get_no_label_and_exceptions_are_never_looked_at() -> None:
    shy = set(range(0, 300, 7))
    run, ledger = run_of(replace(PROBLEM, exceptions=frozenset({3, 5})))
    played(run, ledger, lambda q: Verdict.UNSURE if {*q.pair} & shy else truth(q))
    labels = run.known.closure.labels
    assert labels[3] == labels[5] == -1
    asked = set(run.names.name_of)
    assert all(run.names.is_single(run.names.name_of[item]) for item in asked & shy)
    known = labels >= 0
    pairs = set(zip(labels[known].tolist(), MADE.labels[known].tolist(), strict=True))
    assert len(pairs) == len({name for name, _ in pairs}), "no name covers two clusters"
    assert known.sum() > 200


def test_more_points_of_the_data_are_labelled_too() -> None:
    run, ledger = run_of(PROBLEM)
    played(run, ledger)
    run.extend(MADE.X[:10])
    while run.known.climb():
        pass
    assert run.known.closure.labels[300:].tolist() == run.known.closure.labels[:10].tolist()
    assert len(run.labelling.labels) == 310
    assert (run.sample.place[300:] == -1).all()


def test_fewer_clusters_than_declared_are_looked_for() -> None:
    run, ledger = run_of(replace(PROBLEM, n_clusters=4))
    batches = played(run, ledger)
    more = [q for batch in batches for q in batch if run.labelling.how[q.item] == How.PROVEN]
    assert 0 < len(more) <= 8
    found = run.result()
    assert sorted(set(found.labels.tolist())) == [0, 1, 2]
