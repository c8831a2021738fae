"""What models write is read if it is clear, and never guessed."""

import json

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from samecluster import Board, Choice, Marks, Picks, Question, Sheet, Unions, Verdict
from samecluster.oracles.chat.prompts import TEMPLATE, PromptWriter
from samecluster.oracles.chat.replies import UnreadableReplyError, agreed, read_chat_reply
from samecluster.questions.look import verdicts_of

WRITER = PromptWriter("same topic", TEMPLATE, 1000, 0)
PAIR, CHOICE = Question(4, 9), Choice(1, ((2, 5), (3,), (4,)))
SHEET, BOARD = Sheet(1, (2, 3, 4)), Board((1, 2, 3, 4))


def read(look, text):
    return read_chat_reply(text, WRITER.prompt(look, str), look)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ('{"answer": "same"}', "same"),
        ('  {"answer":\n"DIFFERENT "}  ', "different"),
        ('Both are {odd}. ```json\n{"answer": "unsure"}\n``` So I think.', "unsure"),
        ('<think>{"answer": "same"}? no</think>{"answer": "different"}', "different"),
        ('{"answer": "same"} and once more {"answer": "same"}', "same"),
        ("Same.", "same"),
        ("They are about the same thing.\n\n**Answer: different**", "different"),
        ('{"why": {"answer": "x"}} {"answer": "same", "sure": 1}', "same"),
    ],
)
def test_clear_answers_are_read(text, verdict) -> None:
    assert read(PAIR, text) is Verdict(verdict)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot help with that.",
        "They are not the same",
        "same or different",
        '{"answer": "same"} or {"answer": "different"}',
        '{"answer": true}',
        '{"answer": ["same"]}',
        '{"verdict": "same"}',
        '{"answer": "same"',
        "{" * 5000,
        '{"a":' * 5000,
        "[" * 100_000,
        '["same"]',
        "null",
    ],
)
def test_what_is_not_clear_is_not_guessed(text) -> None:
    with pytest.raises(UnreadableReplyError):
        read(PAIR, text)


def name_of(look, item, turned=False):
    names = WRITER.prompt(look, str, turned).names
    return next(name for name, of in names.items() if of == item)


def test_names_stand_for_what_was_shown_under_them() -> None:
    assert read(CHOICE, json.dumps({"group": name_of(CHOICE, 2)})) == Picks((2,))
    assert read(CHOICE, '{"group": "None"}') == Picks()
    assert read(CHOICE, '{"group": "unsure"}') == Picks(unsure=True)
    odd, doubtful = name_of(SHEET, 3), name_of(SHEET, 4)
    said = {"odd": [int(odd)], "unsure": [f"item {doubtful}"]}
    assert read(SHEET, json.dumps(said)) == Marks((3,), (4,))
    assert read(SHEET, '{"odd": []}') == Marks()
    joined = [[name_of(BOARD, 4), name_of(BOARD, 2)], [name_of(BOARD, 1)]]
    assert read(BOARD, json.dumps({"together": joined})) == Unions(((2, 4),))


@pytest.mark.parametrize(
    ("look", "text"),
    [
        (CHOICE, '{"group": "G4"}'),
        (CHOICE, '{"group": ["G1", "G2"]}'),
        (CHOICE, '{"group": null}'),
        (SHEET, '{"odd": ["9"]}'),
        (SHEET, '{"odd": "1"}'),
        (SHEET, '{"odd": [true]}'),
        (SHEET, '{"odd": ["1"], "unsure": ["1"]}'),
        (BOARD, '{"together": [["1", "2"], ["2", "3"]]}'),
        (BOARD, '{"together": ["1", "2"]}'),
        (BOARD, '{"together": [["1", "2"]], "unsure": ["2"]}'),
    ],
)
def test_names_that_are_not_there_or_do_not_fit_are_refused(look, text) -> None:
    with pytest.raises(UnreadableReplyError):
        read(look, text)


@for_all(st.text(max_size=200) | st.from_regex(r'\{"(answer|odd)": ?["\[{]?.{0,20}'))
def test_any_text_is_a_reply_or_unreadable(text) -> None:
    for look in (PAIR, CHOICE, SHEET, BOARD):
        try:
            reply = read(look, text)
        except UnreadableReplyError:
            continue
        assert verdicts_of(look, reply) is not None


def groupings(look):
    groups = st.lists(st.integers(0, 3), min_size=4, max_size=4)
    return groups.map(
        lambda of: Unions(
            tuple(
                joined
                for g in set(of)
                if len(joined := tuple(i for i, h in zip(look.items, of, strict=True) if h == g))
                > 1
            )
        )
    )


@for_all(groupings(BOARD), groupings(BOARD))
def test_both_orders_say_of_a_board_only_what_both_say(one, two) -> None:
    said = dict(verdicts_of(BOARD, agreed(BOARD, one, two)))
    first, second = dict(verdicts_of(BOARD, one)), dict(verdicts_of(BOARD, two))
    for question, verdict in said.items():
        assert verdict is Verdict.UNSURE or verdict is first[question] is second[question]
    if one == two:
        assert said == first


def marks():
    return st.lists(st.sampled_from(["", "marked", "unsure"]), min_size=3, max_size=3).map(
        lambda of: Marks(
            tuple(i for i, how in zip(SHEET.items, of, strict=True) if how == "marked"),
            tuple(i for i, how in zip(SHEET.items, of, strict=True) if how == "unsure"),
        )
    )


@for_all(marks(), marks())
def test_both_orders_say_of_a_sheet_what_both_say(one, two) -> None:
    said = dict(verdicts_of(SHEET, agreed(SHEET, one, two)))
    first, second = dict(verdicts_of(SHEET, one)), dict(verdicts_of(SHEET, two))
    for question, verdict in said.items():
        same = first[question] is second[question]
        assert verdict is (first[question] if same else Verdict.UNSURE)


def test_both_orders_of_pairs_and_choices() -> None:
    assert agreed(PAIR, Verdict.SAME, Verdict.DIFFERENT) is Verdict.UNSURE
    assert agreed(PAIR, Verdict.SAME, Verdict.SAME) is Verdict.SAME
    assert agreed(CHOICE, Picks((1,)), Picks((2,))) == Picks(unsure=True)
    assert agreed(CHOICE, Picks(), Picks()) == Picks()
