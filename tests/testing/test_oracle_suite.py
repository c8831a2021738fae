"""Our oracles pass the suite; one with a fault is refused, in words that name it."""

import sys

import numpy as np
import pytest

from samecluster import Question, Verdict
from samecluster.oracles import (
    CommandOracle,
    FunctionOracle,
    LabelOracle,
    NoisyOracle,
    Oracle,
    Panel,
    RowOracle,
    ShownItem,
)
from samecluster.testing import check_oracle

LABELS = np.arange(12) % 3
X = LABELS[:, None] + np.linspace(0, 0.1, 12)[:, None]
PROGRAM = """
import json, sys
for line in sys.stdin:
    question = json.loads(line)
    same = question["item"]["fields"] == question["comparator"]["fields"]
    print(json.dumps({"id": question["id"], "verdict": "same" if same else "different"}))
"""


def same(i: int, j: int) -> bool:
    return bool(LABELS[i] == LABELS[j])


def near(x, y) -> bool:
    return bool(abs(x[0] - y[0]) < 0.5)


def noisy(seed: int, unit) -> NoisyOracle:
    return NoisyOracle(LabelOracle(LABELS), 0.3, unit, random_state=seed)


class Hesitant(Oracle):
    """Sure of neighbours only."""

    def answer(self, question: Question) -> Verdict:
        i, j = question.pair
        return Verdict.of(same(i, j)) if j - i < 4 else Verdict.UNSURE


@pytest.mark.parametrize(
    ("oracle", "errs"),
    [
        (LabelOracle(LABELS), False),
        (LabelOracle([f"group {label}" for label in LABELS]), False),
        (FunctionOracle(same), False),
        (same, False),
        (RowOracle(near), False),
        (Hesitant(), False),
        (NoisyOracle(RowOracle(near), 0.0), False),
        (noisy(0, "pair"), True),
        (noisy(1, "item"), True),
        (Panel({"ann": noisy(0, "pair"), "ben": noisy(1, "item"), "cem": same}, 0.9), True),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_our_oracles_pass(oracle, errs) -> None:
    check_oracle(oracle, X, errs=errs)


@pytest.mark.parametrize("parallel", [1, 3])
def test_a_program_that_answers_passes(parallel) -> None:
    def shown(row: int) -> ShownItem:
        return ShownItem(str(row), {"group": int(LABELS[row])})

    program = [sys.executable, "-c", PROGRAM]
    with CommandOracle(program, shown, parallel=parallel) as oracle:
        check_oracle(oracle, X[:5])


class OneSided(Oracle):
    def answer(self, question):
        return Verdict.of(question.item < question.comparator or same(*question.pair))


class Moody(Oracle):
    def __init__(self) -> None:
        self.n_asked = 0

    def answer(self, question):
        self.n_asked += 1
        return Verdict.of(self.n_asked <= 60)


class Talkative(Oracle):
    def answer(self, question):
        return "perhaps"


class Forgetful(LabelOracle):
    def answer_many(self, questions):
        yield from list(super().answer_many(questions))[:-1]


class Repetitive(LabelOracle):
    def answer_many(self, questions):
        for question, verdict in super().answer_many(questions):
            yield question, verdict
            yield question, verdict


class Digressing(LabelOracle):
    def answer_many(self, questions):
        yield from super().answer_many(questions)
        yield Question(10, 11), Verdict.DIFFERENT


class Hasty(LabelOracle):
    """Otherwise when many are asked at once."""

    def answer_many(self, questions):
        for question in questions:
            yield question, Verdict.SAME


class Blunt(LabelOracle):
    def answer_many(self, questions):
        for question in questions:
            yield question, same(*question.pair)


class Unbound(LabelOracle):
    def bound_to(self, X):
        return same


class Meddling(RowOracle):
    def bound_to(self, X):
        bound = super().bound_to(X)
        X[0] = X[1]
        return bound


class Impatient(LabelOracle):
    """An answer that nobody fetched is missing the next time."""

    def __init__(self, labels) -> None:
        super().__init__(labels)
        self.left: list[Question] = []

    def answer_many(self, questions):
        self.left += [question for question in questions if question not in self.left]
        while self.left:
            yield self.left[0], self.answer(self.left[0])
            self.left.pop(0)
        self.left.append(Question(10, 11))


class Fickle(RowOracle):
    """Another opinion for everybody who binds it."""

    n_bound = 0

    def bound_to(self, X):
        Fickle.n_bound += 1
        return LabelOracle(LABELS if Fickle.n_bound % 2 else LABELS // 2)


class Careless(LabelOracle):
    """Leaves unmarked what does not belong."""

    def sort(self, sheet):
        return super().sort(sheet)[1:]


class OffTheBoard(LabelOracle):
    def join(self, board):
        return [[0, 99]]


def in_a_ring(i: int, j: int) -> bool:
    return abs(i - j) in (1, 9)


@pytest.mark.parametrize(
    ("oracle", "sentence"),
    [
        (OneSided(), "the same with the two items exchanged"),
        (Moody(), "the same (with the two items exchanged|when it is asked again)"),
        (Talkative(), "answer returns a Verdict, not 'perhaps'"),
        (Forgetful(LABELS), "answer_many answers every question; 8 and 9 is missing"),
        (Repetitive(LABELS), "answer_many answers no question twice"),
        (Digressing(LABELS), "answer_many (answers only what|gives nothing if nothing) is asked"),
        (Impatient(LABELS), "answer_many (answers only what|gives nothing if nothing) is asked"),
        (Hasty(LABELS), "the same from answer_many"),
        (Blunt(LABELS), "answer_many gives Verdicts, not (True|False)"),
        (Unbound(LABELS), "bound_to returns an Oracle"),
        (Meddling(near), "the rows of X stay as they are"),
        (Fickle(near), "the same bound to the same rows again"),
        (Careless(LABELS), "a Sheet says the same as pairs"),
        (OffTheBoard(LABELS), "the reply fits the Board: item 99"),
        (in_a_ring, "answers do not contradict each other"),
        (noisy(0, "pair"), "answers do not contradict each other"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_broken_oracle_is_refused(oracle, sentence) -> None:
    with pytest.raises(AssertionError, match=sentence):
        check_oracle(oracle, X)
