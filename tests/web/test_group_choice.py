"""One choice of a group: which questions it answers, and what it does not say."""

import pytest

from samecluster.errors import InvalidInputError
from samecluster.questions.pair import Verdict
from samecluster.web.operations.group_choice import place
from tests.cases.session_cases import instance, new_session

MADE = instance(40)
TRUTH = {f"item {row}": int(label) for row, label in enumerate(MADE.labels)}


@pytest.fixture
def session():
    """All three groups are known, and told apart."""
    session = new_session(MADE)
    while sorted(TRUTH[anchor] for anchor in session.anchors().values()) != [0, 1, 2]:
        (question,) = session.ask()
        same = TRUTH[question.item] == TRUTH[question.comparator]
        session.tell(question.id, Verdict.of(same))
    return session


def open_item(session) -> str:
    asked = {item for said in session.state.answers() for item in said.items}
    return next(key for key in TRUTH if key not in asked)


def group_of(session, item: str) -> int:
    numbers = {TRUTH[anchor]: int(number) for number, anchor in session.anchors().items()}
    return numbers[TRUTH[item]]


def test_a_choice_is_told_by_true_answers_only(session) -> None:
    item = open_item(session)
    before = session.state.n_events
    done = place(session, item, group_of(session, item), None, "a-key")
    said = [one for one in session.state.answers() if one.sequence > before]
    assert done == [one.sequence for one in said]
    assert all(item in one.items for one in said)
    for one in said:
        assert (one.verdict is Verdict.SAME) == (TRUTH[one.items[0]] == TRUTH[one.items[1]])
    assert Verdict.SAME in [one.verdict for one in said]


def test_the_same_choice_again_adds_nothing(session) -> None:
    item = open_item(session)
    group = group_of(session, item)
    assert place(session, item, group, None, "a-key")
    events = session.state.n_events
    assert place(session, item, group, None, "a-key") == []
    assert session.state.n_events == events


def test_none_of_them_says_that_the_item_differs_from_every_anchor(session) -> None:
    item = open_item(session)
    anchors = set(session.anchors().values())
    place(session, item, None, "Ann", "a-key")
    said = [one for one in session.state.answers() if item in one.items]
    assert {one.verdict for one in said} == {Verdict.DIFFERENT}
    assert {one.who for one in said} == {"Ann"}
    assert anchors <= {other for one in said for other in one.items}


@pytest.mark.parametrize(
    ("item", "group", "said"),
    [("item 0", 99, "cluster must be one of 0, 1, 4, got 99"), ("nobody", 0, "no item 'nobody'")],
)
def test_unknown_groups_and_items_change_nothing(session, item, group, said) -> None:
    events = session.state.n_events
    with pytest.raises(InvalidInputError, match=said):
        place(session, item, group, None, "a-key")
    assert session.state.n_events == events
