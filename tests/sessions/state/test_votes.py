"""Votes: one verdict per pair, by majority of those who are sure."""

import pytest

from samecluster.questions.pair import Verdict
from samecluster.sessions.state.votes import SettledPair, Vote, is_tie, majority, pair_of


def votes(verdicts: str) -> list[Vote]:
    """One vote per letter: same, different, unsure. Later ones saw the pair the other way round."""
    named = {"s": Verdict.SAME, "d": Verdict.DIFFERENT, "u": Verdict.UNSURE}
    return [
        Vote(number, ("b", "a") if number == 1 else ("a", "b"), named[letter], f"p{number}")
        for number, letter in enumerate(verdicts, start=1)
    ]


@pytest.mark.parametrize(
    ("verdicts", "expected", "tie"),
    [
        ("s", "same", False),
        ("d", "different", False),
        ("u", "unsure", False),
        ("uu", "unsure", False),
        ("sd", "unsure", True),
        ("ds", "unsure", True),
        ("sdu", "unsure", True),
        ("suu", "same", False),
        ("ssd", "same", False),
        ("dds", "different", False),
        ("sdsd", "unsure", True),
    ],
)
def test_most_of_those_who_are_sure_decide(verdicts, expected, tie) -> None:
    assert majority(votes(verdicts)) == SettledPair(("b", "a"), Verdict(expected))
    assert is_tie(votes(verdicts)) is tie


def test_no_votes_are_no_fact_and_no_tie() -> None:
    assert majority([]) is None
    assert not is_tie([])


def test_a_pair_does_not_depend_on_the_order_in_which_it_was_shown() -> None:
    one, two = votes("sd")
    assert one.items != two.items
    assert one.pair == two.pair == pair_of(("b", "a")) == ("a", "b")
    with pytest.raises(ValueError, match="unpack"):
        pair_of(("a", "b", "c"))


def test_two_imports_are_two_voters_also_if_one_person_made_them() -> None:
    mine = Vote(3, ("a", "b"), Verdict.SAME, "ann")
    imports = [Vote(n, ("a", "b"), Verdict.SAME, "ann", "old.csv") for n in (4, 5)]
    assert {vote.voter for vote in (mine, *imports)} == {"ann", 4, 5}
    assert str(mine) == "answer 3: a and b same (ann)"
    assert str(imports[0]) == "answer 4: a and b same (old.csv)"
    assert str(Vote(6, ("a", "b"), Verdict.UNSURE)) == "answer 6: a and b unsure"
