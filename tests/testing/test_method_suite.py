"""Every method of ours passes the suite; one with a fault is refused, in words that name it."""

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from samecluster import (
    Certify,
    How,
    Predict,
    Question,
    Recur,
    ScqKMeans,
    Verdict,
)
from samecluster.api import METHODS, recover
from samecluster.instances import make_ellipsoids
from samecluster.questions.run import Plan
from samecluster.recovery.paper.scq_kmeans import KnownCentres
from samecluster.recovery.placement import Placement
from samecluster.recovery.problem import BudgetSpent
from samecluster.testing import check_method

SMALL = [make_ellipsoids(n=40, d=2, k=2, random_state=0)]
# Other tests register methods of their own, and a worker may have imported them before.
OURS = [made for made in METHODS.values() if made.__module__.startswith("samecluster.")]


@pytest.mark.parametrize(
    "method",
    [
        *(factory() for factory in OURS),
        Certify(batch=8),
        Certify(kernel="numpy"),
        Predict(batch=5),
        Recur(sampling="batches"),
        Recur(sampling="batches", expansion=None),
        Recur(ellipsoid="separator"),
        ScqKMeans(whiten=True, sample_size=9),
    ],
    ids=str,
)
def test_our_methods_pass(method) -> None:
    check_method(method, writes_proof=method.name != "recur")


def test_binary_search_about_known_centres_passes() -> None:
    (made,) = SMALL
    centres = np.array([made.X[made.labels == label].mean(axis=0) for label in range(2)])
    check_method(KnownCentres(centres), instances=SMALL)


@dataclass(frozen=True)
class Faulty:
    """Places every point by asking, but for what a subclass does wrong."""

    @property
    def name(self) -> str:
        return "faulty"

    def plan(self, problem, labelling) -> Plan[Any]:
        placing = Placement(problem.n_clusters)
        items = self.items(problem)
        found = np.array((yield from placing.place(items)))
        placed = np.array(items)[found >= 0]
        self.mark(problem, labelling, placed, found[found >= 0])
        labelling.number_clusters()
        return labelling.recovery()

    def items(self, problem) -> list[int]:
        return list(range(len(problem.X)))

    def mark(self, problem, labelling, items, labels) -> None:
        labelling.mark(items, labels, How.ASKED)


def test_without_its_fault_it_passes() -> None:
    check_method(Faulty(), instances=SMALL)


class Nameless(Faulty):
    name = ""


class Boasting(Faulty):
    """Calls asked what nobody said anything about."""

    def items(self, problem):
        return list(range(len(problem.X) // 2))

    def mark(self, problem, labelling, items, labels):
        super().mark(problem, labelling, items, labels)
        labelling.mark(np.arange(len(problem.X) // 2, len(problem.X)), 0, How.ASKED)


class Unproven(Faulty):
    def mark(self, problem, labelling, items, labels):
        labelling.mark(items, labels, How.PROVEN)


class Certified(Faulty):
    """Begins as certify does, and says more than its proof."""

    def plan(self, problem, labelling):
        yield from Certify().plan(problem, labelling)
        self.spoil(labelling)
        return labelling.recovery()

    def spoil(self, labelling) -> None:
        records = labelling.proof._records
        while records.pop()[0] != "in":
            pass


class WrongProof(Certified):
    def spoil(self, labelling):
        labelling.proof.add_answer(0, 1, "same")
        labelling.proof.add_answer(0, 1, "different")


class OtherProof(Certified):
    """A proof of something else than the labels."""

    def spoil(self, labelling):
        proven = np.flatnonzero(labelling.how == How.PROVEN)
        labelling.labels[proven[0]] = 1 - labelling.labels[proven[0]]


class WithoutMargin(Faulty):
    def plan(self, problem, labelling):
        yield from super().plan(problem, labelling)
        labelling.how[:] = How.ASKED if problem.margin is not None else How.PROVEN
        return labelling.recovery()


class ByNumpy(Faulty):
    def items(self, problem):
        return np.random.permutation(len(problem.X)).tolist()  # noqa: NPY002


class ByRandom(Faulty):
    def items(self, problem):
        return random.sample(range(len(problem.X)), len(problem.X))


class ByTheSystem(Faulty):
    def items(self, problem):
        return np.random.default_rng().permutation(len(problem.X)).tolist()


COUNTS: list[int] = []


class Remembering(Faulty):
    """Begins elsewhere in every run."""

    def items(self, problem):
        COUNTS.append(len(COUNTS))
        return np.roll(np.arange(len(problem.X)), COUNTS[-1]).tolist()


class Relabelling(Faulty):
    """Asks the same, and calls it something else in every run."""

    def mark(self, problem, labelling, items, labels):
        COUNTS.append(len(COUNTS))
        labelling.mark(items, labels, How.ASKED if len(COUNTS) // 2 % 2 else How.INFERRED)


class Swallowing(Faulty):
    def plan(self, problem, labelling):
        plan = super().plan(problem, labelling)
        try:
            batch = next(plan)
            while True:
                try:
                    batch = plan.send((yield batch))
                except BudgetSpent:
                    continue
        except StopIteration as stop:
            return stop.value


class Twice(Faulty):
    def plan(self, problem, labelling):
        yield [Question(0, 1), Question(1, 0)]
        return (yield from super().plan(problem, labelling))


class Empty(Faulty):
    def plan(self, problem, labelling):
        yield []
        return (yield from super().plan(problem, labelling))


class Beyond(Faulty):
    def plan(self, problem, labelling):
        yield [Question(0, len(problem.X))]
        return (yield from super().plan(problem, labelling))


class Pairs(Faulty):
    def plan(self, problem, labelling):
        yield [(0, 1)]
        return (yield from super().plan(problem, labelling))


class Endless(Faulty):
    def plan(self, problem, labelling):
        while True:
            yield [Question(0, 1)]


class Wrong(Faulty):
    """One wrong label that no answer contradicts."""

    def items(self, problem):
        return list(range(len(problem.X) - 1))

    def mark(self, problem, labelling, items, labels):
        super().mark(problem, labelling, items, labels)
        label = self.of_the_last(problem, items, labels)
        labelling.mark(np.array([len(problem.X) - 1]), label, How.PROVEN)

    def of_the_last(self, problem, items, labels) -> int:
        distances = np.linalg.norm(problem.X[items] - problem.X[-1], axis=1)
        return int(labels[np.argmax(distances)])


class Deaf(Faulty):
    """Labels that the answers contradict."""

    def mark(self, problem, labelling, items, labels):
        labelling.mark(items, np.zeros(len(items), dtype=np.int64), How.ASKED)


class TakesUnsureForSame(Faulty):
    def plan(self, problem, labelling):
        plan = super().plan(problem, labelling)
        try:
            batch = next(plan)
            while True:
                said = yield batch
                batch = plan.send([Verdict.SAME if v is Verdict.UNSURE else v for v in said])
        except StopIteration as stop:
            return stop.value


class Torn(Wrong):
    """A second number for a cluster."""

    def of_the_last(self, problem, items, labels):
        return 2


class Gaps(Faulty):
    def plan(self, problem, labelling):
        yield from super().plan(problem, labelling)
        labelling.labels[labelling.labels == 1] = 7
        return labelling.recovery()


class Halfway(Faulty):
    def plan(self, problem, labelling):
        yield from super().plan(problem, labelling)
        labelling.labels[0] = -1
        return labelling.recovery()


class Silent(Faulty):
    def plan(self, problem, labelling):
        yield from super().plan(problem, labelling)


class Meddling(Faulty):
    def plan(self, problem, labelling):
        problem.X[0] += 1.0
        return (yield from super().plan(problem, labelling))


class Uncounted(Faulty):
    def plan(self, problem, labelling):
        found = yield from super().plan(problem, labelling)
        object.__setattr__(found, "n_questions", 1)
        return found


class GivesUp(Faulty):
    """Ends without labels when it is stopped."""

    def plan(self, problem, labelling):
        try:
            return (yield from super().plan(problem, labelling))
        except BudgetSpent:
            return labelling.recovery()


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        (Nameless, "the name of a method is not empty"),
        (Unproven, "a label is called proven if there is a proof"),
        (Certified, "the proof is about every label that is called proven"),
        (WrongProof, "the checker accepts the proof: record"),
        (OtherProof, "labels called asked or proven are right"),
        (WithoutMargin, "nothing is called proven if no margin is declared"),
        (ByNumpy, "draws from problem.rng, not from np.random"),
        (ByRandom, "draws from problem.rng, not from random"),
        (ByTheSystem, "the same seed gives the same questions"),
        (Remembering, "the same seed gives the same questions"),
        (Relabelling, "the same seed gives the same labels"),
        (Swallowing, "a plan that is told BudgetSpent asks nothing more"),
        (Twice, "a batch does not have a pair twice"),
        (Empty, "a batch has a question"),
        (Beyond, "questions are about rows of X, not 0 and 40"),
        (Pairs, r"a batch has Questions, not \(0, 1\)"),
        (Endless, "a plan comes to an end"),
        (Wrong, "labels called asked or proven are right"),
        (Deaf, "labels agree with the answer"),
        (Torn, "a cluster has one number once all is answered"),
        (Gaps, "clusters are numbered from 0 without gaps"),
        (Halfway, "a label is -1 where it is unassigned"),
        (Silent, "a plan returns a Recovery, not None"),
        (Meddling, "the rows of X stay as they are"),
        (Uncounted, "n_questions counts what was asked"),
        (GivesUp, "with max_questions every row gets the best label"),
    ],
)
def test_a_broken_method_is_refused(method, sentence) -> None:
    made = make_ellipsoids(n=40, d=2, k=2, random_state=0)
    with pytest.raises(AssertionError, match=sentence):
        check_method(method(), instances=[made])


@pytest.mark.parametrize("method", [Boasting, TakesUnsureForSame])
def test_what_no_answer_holds_is_not_called_asked_whatever_a_method_says(method) -> None:
    """Wrong labels among them are a guess, and the result says so; the suite has no complaint."""
    made = make_ellipsoids(n=40, d=2, k=2, random_state=0)
    check_method(method(), instances=[made])
    unsure = recover(made.X, lambda i, j: Verdict.UNSURE, method=method(), random_state=0)
    assert not unsure.count(How.ASKED)
    assert unsure.count(How.INFERRED) or not (unsure.labels >= 0).any()
