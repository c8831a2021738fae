"""The ledger against brute force: what answers imply, and which of them contradict."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecluster.errors import ContradictionError
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer, Question, Verdict

N = 7
pairs = st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)).filter(lambda p: p[0] != p[1])
answers = st.lists(
    st.builds(lambda p, v: Answer(Question(*p), v), pairs, st.sampled_from(Verdict)), max_size=25
)
labellings = st.lists(st.integers(0, 3), min_size=N, max_size=N)


def closure(facts: list[Answer]) -> dict[tuple[int, int], Verdict]:
    """All that follows by transitivity, by iterating the definition."""
    known: dict[tuple[int, int], Verdict] = {
        a.question.pair: a.verdict for a in facts if a.verdict is not Verdict.UNSURE
    }

    def look(i: int, j: int) -> Verdict | None:
        return Verdict.SAME if i == j else known.get((min(i, j), max(i, j)))

    changed = True
    while changed:
        changed = False
        for i in range(N):
            for j in range(i + 1, N):
                for via in range(N):
                    one, two = look(i, via), look(via, j)
                    if Verdict.SAME not in (one, two) or None in (one, two) or (i, j) in known:
                        continue
                    both = one is Verdict.SAME and two is Verdict.SAME
                    known[i, j] = Verdict.SAME if both else Verdict.DIFFERENT
                    changed = True
    return known


def contradictory(facts: tuple[Answer, ...]) -> bool:
    """Whether no labelling fits, by trying all partitions of the items."""

    def fits(labels: list[int]) -> bool:
        return all(
            (labels[a.question.item] == labels[a.question.comparator])
            == (a.verdict is Verdict.SAME)
            for a in facts
        )

    def partitions(prefix: list[int]) -> bool:
        if len(prefix) == N:
            return fits(prefix)
        return any(partitions([*prefix, c]) for c in range(max(prefix, default=-1) + 2))

    return not partitions([])


@given(labellings, st.lists(st.tuples(pairs, st.booleans()), max_size=25))
def test_consistent_answers_imply_exactly_the_transitive_closure(labels, asked) -> None:
    ledger = Ledger()
    facts = []
    for (i, j), unsure in asked:
        verdict = Verdict.UNSURE if unsure else Verdict.of(labels[i] == labels[j])
        ledger.record(Answer(Question(i, j), verdict))
        facts.append(Answer(Question(i, j), verdict))
    implied = closure(facts)
    for i in range(N):
        for j in range(i + 1, N):
            assert ledger.implied(Question(i, j)) is implied.get((i, j))
            assert ledger.implied(Question(j, i)) is implied.get((i, j))
            reasons = ledger.reasons(Question(i, j))
            if (i, j) in implied:
                assert set(reasons) <= set(ledger)
                assert closure(list(reasons))[i, j] is implied[i, j]
            else:
                assert reasons == ()


@given(answers)
def test_a_contradiction_is_refused_with_answers_that_cannot_all_be_right(told) -> None:
    ledger = Ledger()
    for answer in told:
        before = list(ledger)
        witness: tuple[Answer, ...] = ()
        new = False
        try:
            new = ledger.record(answer)
        except ContradictionError as error:
            witness = error.witness
        assert len(ledger) == len(before) + new
        if not witness:
            assert not contradictory(tuple(a for a in ledger if a.verdict is not Verdict.UNSURE))
            continue
        assert list(ledger) == before
        assert witness[-1] == answer
        assert set(witness[:-1]) <= set(before)
        assert contradictory(witness)
        for left_out in range(len(witness)):
            rest = witness[:left_out] + witness[left_out + 1 :]
            assert not contradictory(rest), "the witness is not minimal"


def test_unsure_is_remembered_until_it_is_settled_and_concludes_nothing() -> None:
    ledger = Ledger([Answer(Question(0, 1), Verdict.UNSURE)])
    assert ledger.implied(Question(0, 1)) is None
    assert ledger.known(Question(1, 0)) is Verdict.UNSURE
    assert ledger.record(Answer(Question(0, 1), Verdict.SAME))
    assert ledger.known(Question(0, 1)) is Verdict.SAME


def test_a_question_needs_two_items() -> None:
    with pytest.raises(ValueError, match="two different items"):
        Question(3, 3)


def test_the_message_lists_the_answers() -> None:
    ledger = Ledger([Answer(Question(0, 1), Verdict.SAME), Answer(Question(1, 2), Verdict.SAME)])
    with pytest.raises(ContradictionError, match="0 and 1 same; 1 and 2 same; 0 and 2 different"):
        ledger.record(Answer(Question(0, 2), Verdict.DIFFERENT))
