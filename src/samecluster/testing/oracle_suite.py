"""What every oracle keeps to."""

from __future__ import annotations

import contextlib
from itertools import combinations, islice
from typing import Any

from samecluster.errors import ContradictionError, InvalidInputError
from samecluster.oracles.base import Oracle, as_oracle, checked_reply
from samecluster.points.array import validated
from samecluster.questions.ledger import Ledger
from samecluster.questions.look import (
    Board,
    CheckSheet,
    Choice,
    Look,
    Sheet,
    verdicts_of,
)
from samecluster.questions.look_sizes import LookSizes
from samecluster.questions.pair import Answer, Question, Verdict

_ROWS = 10  # all pairs of 10 rows are 45 questions: few enough for an oracle that is slow


def check_oracle(oracle: Any, X: Any, *, errs: bool = False) -> None:
    """Check that an oracle keeps the promises of `samecluster.oracles.Oracle`.

    Parameters
    ----------
    oracle : an Oracle, or a function of two row numbers
    X : (n, d) rows that it can answer for; pairs of the first 10 are asked, each several times, and
        looks at them if it answers looks
    errs : whether its answers may contradict each other, as those of people do

    >>> import numpy as np
    >>> check_oracle(lambda i, j: i % 2 == j % 2, np.zeros((6, 1)))
    """
    points = validated(X)
    before = points.copy()
    bound = as_oracle(oracle, points)
    assert isinstance(bound, Oracle), f"bound_to returns an Oracle, not {bound!r}"
    questions = [Question(i, j) for i, j in combinations(range(min(_ROWS, len(points))), 2)]
    said = _check_answers(bound, questions)
    _check_answer_many(bound, questions, said)
    again = as_oracle(oracle, points)
    for question in questions:
        _need_same(question, said, again.answer(question), "bound to the same rows again")
    assert (points == before).all(), "the rows of X stay as they are"
    if not errs:
        _check_transitive(said)
    _check_looks(bound, questions, said, errs)


def _check_answers(oracle: Oracle, questions: list[Question]) -> dict[Question, Verdict]:
    said = {}
    for question in questions:
        verdict: Any = oracle.answer(question)
        assert isinstance(verdict, Verdict), f"answer returns a Verdict, not {verdict!r}"
        said[question] = verdict
    for question in reversed(questions):
        turned = Question(question.comparator, question.item)
        _need_same(question, said, oracle.answer(turned), "with the two items exchanged")
        _need_same(question, said, oracle.answer(question), "when it is asked again")
    return said


def _need_same(
    question: Question, said: dict[Question, Verdict], verdict: Verdict, when: str
) -> None:
    assert verdict is said[question], (
        f"the answer on {question} is the same {when}: it was {said[question]}, then {verdict}"
    )


def _check_answer_many(
    oracle: Oracle, questions: list[Question], said: dict[Question, Verdict]
) -> None:
    assert list(oracle.answer_many([])) == [], "answer_many gives nothing if nothing is asked"
    with contextlib.closing(oracle.answer_many(iter(questions))) as first:
        assert len(list(islice(first, 1))) == 1, "answer_many gives answers one by one"
    # The one before was left early; it must not have taken any answer along.
    many = list(oracle.answer_many(iter(questions)))
    for question, verdict in many:
        assert question in said, f"answer_many answers only what is asked, not {question}"
        assert isinstance(verdict, Verdict), f"answer_many gives Verdicts, not {verdict!r}"
        _need_same(question, said, verdict, "from answer_many")
    answered = [question for question, _ in many]
    missing = said.keys() - set(answered)
    assert not missing, f"answer_many answers every question; {min(map(str, missing))} is missing"
    assert len(answered) == len(said), "answer_many answers no question twice"


def _check_looks(
    oracle: Oracle, questions: list[Question], said: dict[Question, Verdict], errs: bool
) -> None:
    """Replies fit their looks, are the same again, and say what the answers on pairs say."""
    rows = sorted({item for question in questions for item in question.pair})
    if len(rows) < 4:
        return
    sizes, half = oracle.look_sizes(LookSizes()), len(rows) // 2
    looks: list[Look] = []
    if sizes.choice > 1:
        looks.append(Choice(rows[0], tuple((row,) for row in rows[1 : sizes.choice + 1])))
    if sizes.sheet > 1:
        cells = zip(rows[:half], rows[half:], strict=False)
        looks += [Sheet(rows[0], tuple(rows[1:])), CheckSheet(tuple(cells))]
    if sizes.board > 2:
        looks.append(Board(tuple(rows)))
    for look in looks:
        kind = type(look).__name__
        reply = checked_reply(oracle, look)
        try:
            verdicts = verdicts_of(look, reply)
        except InvalidInputError as error:
            raise AssertionError(f"the reply fits the {kind}: {error}") from error
        assert checked_reply(oracle, look) == reply, f"the reply to a {kind} is the same again"
        for question, verdict in verdicts:
            assert errs or verdict is Verdict.UNSURE or verdict is said[question], (
                f"a {kind} says the same as pairs: {question} was {said[question]}, then {verdict}"
            )


def _check_transitive(said: dict[Question, Verdict]) -> None:
    ledger = Ledger()
    for question, verdict in said.items():
        try:
            ledger.record(Answer(question, verdict))
        except ContradictionError as error:
            raise AssertionError(f"answers do not contradict each other: {error}") from error
