"""A budget around a plan, played by hand."""

import numpy as np
import pytest

from samecluster.questions.ledger import Ledger
from samecluster.questions.look import pairs_of
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.recovery.auto.whole_run import Budget, complete_plan, prediction_goal
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.problem import BudgetSpent, Problem
from samecluster.recovery.result.how import How

N = 8


class Batches:
    """A method that asks batches of these sizes about item 0, and says what it heard."""

    name = "batches"

    def __init__(self, *sizes: int, catches: bool = False) -> None:
        self.sizes, self.catches = sizes, catches
        self.heard: list[Verdict] = []

    def plan(self, problem, labelling):
        del problem
        other = 1
        try:
            for size in self.sizes:
                self.heard += yield [Question(0, other + at) for at in range(size)]
                other += size
        except BudgetSpent:
            if not self.catches:
                raise
        labelling.mark(np.arange(N), 0, How.ASKED)
        return labelling.recovery()


def played(method, max_questions):
    X = np.random.default_rng(0).normal(size=(N, 2))
    problem = Problem(X, n_clusters=None, margin=None, rng=np.random.default_rng(0))
    ledger = Ledger()
    labelling = Labelling(problem, method.name, ledger)
    plan = complete_plan(method, problem, labelling, None, Budget(max_questions))
    put = []
    try:
        batch = pairs_of(next(plan))
        while True:
            for question in batch:
                if ledger.implied(question) is None:
                    ledger.record(Answer(question, Verdict.SAME))
                    put.append(question)
            batch = pairs_of(plan.send([Verdict.SAME] * len(batch)))
    except StopIteration as end:
        return put, end.value


@pytest.mark.parametrize("budget", [1, 2, 3, 4, 5, 6, 7])
def test_no_more_questions_are_put_than_the_budget_allows(budget) -> None:
    put, found = played(Batches(1, 3, 3), budget)
    assert len(put) == budget
    assert found.n_questions == budget
    assert (found.labels >= 0).all(), "what is left is predicted"


def test_without_a_budget_all_is_asked_and_the_method_hears_all() -> None:
    method = Batches(1, 3, 3)
    put, found = played(method, None)
    assert len(put) == len(method.heard) == 7
    assert found.count(How.ASKED) == N


def test_a_method_that_knows_what_to_do_without_questions_keeps_its_labels() -> None:
    _, found = played(Batches(1, 3, 3, catches=True), 2)
    assert (found.labels == 0).all()
    assert found.count(How.ASKED) == 3, "only items that occur in answers are called asked"


def test_prediction_may_leave_a_fifth_of_what_an_audit_allows() -> None:
    assert prediction_goal(None) == prediction_goal((0.0, 0.95)) == 0.001
    assert prediction_goal((0.05, 0.95)) == pytest.approx(0.01)
