"""A "same" that a second look does not confirm is not believed, and nothing else changes."""

import numpy as np
import pytest

from samecluster import Question, Verdict, recover
from samecluster.errors import OracleError
from samecluster.oracles import ConfirmedOracle, LabelOracle, NoisyOracle, Oracle
from samecluster.oracles.base import checked_reply
from samecluster.questions.look import Board, CheckSheet, Choice, Marks, Sheet, verdicts_of

TRUTH = np.arange(60) % 6


def looks(seed, count=150):
    """Looks of every kind about random items."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        first, *others = rng.permutation(60)[:9].tolist()
        match number % 5:
            case 0:
                yield Question(first, others[0])
            case 1:
                yield Choice(first, tuple((one,) for one in others[:6]))
            case 2:
                yield Sheet(first, tuple(others))
            case 3:
                yield CheckSheet(tuple(zip(others[:4], others[4:], strict=True)))
            case _:
                yield Board((first, *others))


def answers(oracle, seed):
    return [
        (*pair, look)
        for look in looks(seed)
        for pair in verdicts_of(look, checked_reply(oracle, look))
    ]


def n_wrong_same(said):
    return sum(v is Verdict.SAME and TRUTH[q.item] != TRUTH[q.comparator] for q, v, _ in said)


def test_an_oracle_that_never_errs_is_taken_at_its_word() -> None:
    honest = LabelOracle(TRUTH)
    second = ConfirmedOracle(honest)
    assert answers(second, 0) == answers(honest, 0)
    assert second.n_taken_back == 0
    assert second.n_looks <= 2 * 150


def test_second_looks_are_counted_for_each_first_one_and_end_with_the_budget() -> None:
    second = ConfirmedOracle(LabelOracle(TRUTH), max_looks=100)
    n_first = n_second = 0
    for look in looks(1, 80):
        checked_reply(second, look)
        n_first, n_second = n_first + 1, n_second + second.second_looks_at(look)
        assert second.n_looks == n_first + n_second
        assert second.n_second == n_second
        if second.n_looks >= 100:
            break
    assert second.n_looks == 100
    assert checked_reply(second, Question(0, 6)) is Verdict.UNSURE, "no look is left to confirm it"


@pytest.mark.parametrize("unit", ["pair", "item"])
@pytest.mark.parametrize("seed", range(3))
def test_most_wrong_answers_same_are_taken_back(unit, seed) -> None:
    liar = NoisyOracle(LabelOracle(TRUTH), 0.12, unit, seed)
    once, twice = answers(liar, seed), answers(ConfirmedOracle(liar), seed)
    assert n_wrong_same(once) > 20
    assert n_wrong_same(twice) < n_wrong_same(once) * (0.25 if unit == "pair" else 0.8)
    # What is said is what was said, or "unsure": nothing is turned round.
    before = {(q, look): v for q, v, look in once}
    for question, verdict, look in twice:
        said = before.get((question, look))
        assert verdict in (said, Verdict.UNSURE) or said is None


def test_a_failure_is_passed_on_and_what_came_before_is_kept() -> None:
    class Failing(Oracle):
        n = 0

        def answer(self, question):
            self.n += 1
            if self.n > 5:
                raise ConnectionError("gone")
            return Verdict.DIFFERENT

    second = ConfirmedOracle(Failing())
    pairs = [Question(i, i + 1) for i in range(9)]
    got = []

    def take():
        for look, reply in second.reply_many(pairs):
            got.append((look, reply))

    with pytest.raises(OracleError, match="gone"):
        take()
    assert got == [(pair, Verdict.DIFFERENT) for pair in pairs[:5]]
    with pytest.raises(OracleError, match="gone"):
        recover(np.arange(40.0).reshape(20, 2), second, looks="auto")


def test_several_looks_at_a_time_are_all_answered() -> None:
    class Parallel(LabelOracle):
        parallel = 8

    put = list(looks(4))
    got = dict(ConfirmedOracle(Parallel(TRUTH)).reply_many(put))
    assert set(got) == set(put)


def test_what_a_second_look_passes_over_is_unsure_and_not_put_for_ever() -> None:
    class PassesOver(LabelOracle):
        """Leaves item 6 out of every sheet on which each item has a reference of its own."""

        def check(self, sheet):
            return Marks(skipped=tuple({6}.intersection(sheet.items)))

    second = ConfirmedOracle(PassesOver(TRUTH))
    assert second.sort(Sheet(0, (6, 12, 18))) == Marks(unsure=(6,))
    assert second.n_looks == 2
