"""Ask and tell: every pair at most once, nothing implied is asked, and clear protocol errors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecluster.errors import ContradictionError, InvalidInputError, ProtocolError
from samecluster.questions.drive import drive_looks
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.questions.run import Plan, Run

N = 8
pairs = st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)).filter(lambda p: p[0] != p[1])
batches = st.lists(st.lists(pairs, max_size=8), max_size=6)
labellings = st.lists(st.integers(0, 3), min_size=N, max_size=N)


def asking(wanted: list[list[tuple[int, int]]]) -> Plan[list[Verdict]]:
    """A plan that asks given batches and returns all the verdicts it got."""
    verdicts: list[Verdict] = []
    for batch in wanted:
        verdicts += yield [Question(*pair) for pair in batch]
    return verdicts


@given(batches, labellings, st.sets(st.sampled_from(range(N)), max_size=3))
def test_a_run_asks_each_open_pair_once_and_never_an_implied_one(wanted, labels, shy) -> None:
    put: list[Question] = []
    ledger = Ledger()

    def answer(question: Question) -> Verdict:
        assert ledger.known(question) is None, "asked although known"
        put.append(question)
        if {question.item, question.comparator} & shy:
            return Verdict.UNSURE
        return Verdict.of(labels[question.item] == labels[question.comparator])

    run = Run(asking(wanted), ledger)
    verdicts = drive_looks(run, lambda questions: ((q, answer(q)) for q in questions))
    assert len(put) == len(set(put)) == run.n_questions == len(ledger)
    flat = [pair for batch in wanted for pair in batch]
    assert len(verdicts) == len(flat)
    for (i, j), verdict in zip(flat, verdicts, strict=True):
        assert verdict in (Verdict.UNSURE, Verdict.of(labels[i] == labels[j]))
    assert run.done
    assert run.pending == ()


@given(batches, labellings)
def test_answers_known_before_cost_nothing(wanted, labels) -> None:
    def answer(question: Question) -> Verdict:
        return Verdict.of(labels[question.item] == labels[question.comparator])

    first = Run(asking(wanted))
    verdicts = drive_looks(first, lambda questions: ((q, answer(q)) for q in questions))
    again = Run(asking(wanted), Ledger(first.ledger))
    assert again.done
    assert (again.result, again.n_questions) == (verdicts, 0)


@given(batches, labellings, st.lists(pairs, max_size=12))
def test_what_was_learned_unasked_is_not_asked(wanted, labels, learned) -> None:
    """At any moment of a run, and however much of a batch it settles."""
    run = Run(asking(wanted))

    def answer_of(question: Question) -> Verdict:
        return Verdict.of(labels[question.item] == labels[question.comparator])

    put: list[Question] = []
    while run.pending or learned:
        if learned:
            question = Question(*learned.pop())
            run.learn(Answer(question, answer_of(question)))
        if run.pending:
            put.append(run.pending[0])
            run.tell(put[-1], answer_of(put[-1]))
    assert run.done
    assert len(put) == len(set(put)) <= run.n_questions == len(run.ledger)
    flat = [Question(*pair) for batch in wanted for pair in batch]
    assert run.result == [answer_of(question) for question in flat]


def test_the_rest_of_a_batch_that_became_implied_may_still_be_told() -> None:
    run = Run(asking([[(0, 1), (1, 2), (0, 2)], [(3, 4)]]))
    for question in run.pending:
        run.tell(question, same=True)
    assert run.pending == (Question(3, 4),)
    assert run.n_questions == 2
    with pytest.raises(ContradictionError):
        run.tell(Question(0, 2), same=False)
    run.tell(Question(0, 2), Verdict.UNSURE)
    assert run.n_questions == 2


def test_illegal_calls_raise_and_change_nothing() -> None:
    run = Run(asking([[(0, 1)]]))
    with pytest.raises(ProtocolError, match="not finished: 1 questions are pending"):
        _ = run.result
    with pytest.raises(ProtocolError, match="nobody asked about 5 and 6"):
        run.tell(Question(5, 6), same=True)
    with pytest.raises(InvalidInputError, match="either a verdict or same"):
        run.tell(Question(0, 1))
    with pytest.raises(InvalidInputError, match="either a verdict or same"):
        run.tell(Question(0, 1), Verdict.SAME, same=True)
    with pytest.raises(InvalidInputError, match="must be a Verdict"):
        run.tell(Question(0, 1), "same")  # type: ignore[arg-type]
    assert run.pending == (Question(0, 1),)
    run.tell(Question(0, 1), same=True, who="ann")
    assert list(run.ledger) == [Answer(Question(0, 1), Verdict.SAME, "ann")]
