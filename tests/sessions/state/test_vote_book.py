"""The vote book: what stands, what counts, and what is asked for again after an undo."""

import pytest

from samecluster.questions.pair import Verdict
from samecluster.sessions.state.items import Items
from samecluster.sessions.state.vote_book import VoteBook
from samecluster.sessions.state.votes import Pair, Vote

KEYS = ("a", "b", "c", "d")
AB: Pair = ("a", "b")


def rows(**changed: str) -> Items:
    """Rows of all keys, some with other content; None of a key that is set to ''."""
    digests = {**dict.fromkeys(KEYS, "0"), **changed}
    there = tuple(key for key in digests if digests[key])
    return Items(there, tuple(digests[key] for key in there))


@pytest.fixture
def book() -> VoteBook:
    book = VoteBook()
    book.take_rows(rows(), 1)
    return book


def answer(
    book: VoteBook, sequence: int, items: str, verdict: str = "same", who: str | None = "ann"
) -> Vote:
    vote = Vote(sequence, (items[0], items[1]), Verdict(verdict), who)
    book.add_answers([vote])
    return vote


def test_a_person_has_one_vote_per_pair_the_last(book) -> None:
    answer(book, 2, "ab", "same", "ann")
    second = answer(book, 3, "ba", "different", "ben")
    third = answer(book, 4, "ab", "unsure", "ann")
    assert book.votes(AB) == [second, third]
    assert book.vote(AB, "ann") == third
    assert book.vote(AB, None) is None
    assert book.n_questions == 1
    assert book.people == ["ann", "ben"]
    assert [vote.sequence for vote in book.answers()] == [2, 3, 4]


def test_taking_back_the_last_vote_leaves_the_one_before_it(book) -> None:
    first = answer(book, 2, "ab", "same")
    last = answer(book, 3, "ab", "different")
    assert book.take_back(3, None, is_undo=False) == [last]
    assert book.votes(AB) == [first]
    assert next(book.undone_answers("ann"), None) is None
    assert book.n_questions == 1
    book.take_back(2, None, is_undo=False)
    assert book.votes(AB) == []
    assert (book.n_questions, book.people) == (0, [])
    assert book.take_back(2, None, is_undo=False) == []


def test_one_answer_of_an_import_can_be_taken_back_and_the_others_stay(book) -> None:
    imported = [
        Vote(2, items, Verdict.SAME, "ann", "old.csv") for items in (("a", "b"), ("c", "d"))
    ]
    book.add_votes(2, imported)
    assert (book.n_questions, book.people, book.last_answer("ann")) == (0, [], None)
    assert book.take_back(2, AB, is_undo=False) == imported[:1]
    assert book.votes_of_event(2) == imported[1:]
    assert book.votes(("c", "d")) == imported[1:]
    assert book.votes(AB) == []


def test_undone_votes_are_asked_for_again_the_last_first_until_another_verdict(book) -> None:
    asked = [answer(book, 2, "ab"), answer(book, 3, "bc"), answer(book, 4, "cd")]
    for vote in reversed(asked):
        assert book.last_answer("ann") == vote
        book.take_back(vote.sequence, None, is_undo=True)
        assert next(book.undone_answers("ann"), None) == vote
    assert book.last_answer("ann") is None
    assert next(book.undone_answers("ben"), None) is None
    answer(book, 8, "ab")
    assert next(book.undone_answers("ann"), None) == asked[1]
    answer(book, 9, "bc", "different")
    assert next(book.undone_answers("ann"), None) is None, "the plan decides what comes next"


def test_votes_on_changed_rows_are_set_aside_until_confirmed(book) -> None:
    old = answer(book, 2, "ab")
    other = answer(book, 3, "cd")
    book.take_rows(rows(a="1"), 4)
    assert book.set_aside() == [old]
    assert book.answers() == [other]
    assert book.vote(AB, "ann") is None
    new = answer(book, 5, "ab", "different")
    assert book.votes(AB) == [new]
    book.take_back(5, None, is_undo=False)
    book.confirm(["a"])
    assert book.votes(AB) == [old]
    assert book.set_aside() == []


def test_content_that_comes_back_does_not_bring_votes_back_by_itself(book) -> None:
    answer(book, 2, "ab")
    book.take_rows(rows(a="1"), 3)
    between = answer(book, 4, "ab", "different")
    book.take_rows(rows(), 5)
    assert book.votes(AB) == []
    assert between in book.set_aside()


def test_votes_on_rows_that_went_return_with_them(book) -> None:
    vote = answer(book, 2, "ab")
    book.take_rows(rows(a=""), 3)
    assert book.set_aside() == [vote]
    assert book.last_answer("ann") is None, "its question could not be shown"
    assert book.n_questions == 1, "it was asked"
    book.take_rows(rows(), 4)
    assert book.votes(AB) == [vote]


def test_votes_on_exceptions_stand_and_are_kept_from_the_run(book) -> None:
    vote = answer(book, 2, "ab")
    book.make_exception("a", 3)
    assert book.votes(AB) == []
    assert book.vote(AB, "ann") == vote
    assert [fact.pair for fact in book.facts_on_exceptions(list)] == [AB]
    assert not book.end_exception(2)
    assert book.end_exception(3)
    assert book.votes(AB) == [vote]
    assert book.facts_on_exceptions(list) == []


def test_a_key_is_known_for_ever(book) -> None:
    book.add_answers([Vote(2, ("a", "b"), Verdict.SAME, "ann")], key="page 1")
    book.take_back(2, None, is_undo=True)
    assert book.vote_of_key("ann", "page 1").sequence == 2
    assert book.vote_of_key("ann", "page 2") is None
    assert book.vote_of_key("bob", "page 1") is None


def test_births_keep_the_order_in_which_items_turned_up(book) -> None:
    answer(book, 2, "cb")
    book.take_back(2, None, is_undo=False)
    answer(book, 3, "ab")
    assert sorted(book.births, key=book.births.__getitem__) == ["c", "b", "a"]


def test_a_copy_is_equal_and_changes_alone(book) -> None:
    answer(book, 2, "ab")
    twin = book.copy()
    assert twin == book
    answer(twin, 3, "ab", "different", "ben")
    twin.take_back(2, None, is_undo=True)
    twin.make_exception("c", 4)
    twin.take_rows(rows(d="1"), 5)
    assert [vote.sequence for vote in book.votes(AB)] == [2]
    assert next(book.undone_answers("ann"), None) is None
    assert (book.exceptions, book.people) == ({}, ["ann"])
    assert book.items == rows()
    assert twin != book
