"""Looks: what a reply says about pairs, and no more; a run that puts them, whole or in part."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecluster.errors import ContradictionError, InvalidInputError, ProtocolError
from samecluster.questions.drive import drive_looks
from samecluster.questions.ledger import Ledger
from samecluster.questions.look import (
    Board,
    CheckSheet,
    Choice,
    Look,
    LookSizes,
    Marks,
    Picks,
    Reply,
    Sheet,
    Unions,
    answers_of,
    n_looks_of,
    n_shown_of,
    pairs_of,
    verdicts_of,
)
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.questions.run import Plan, Run

N = 9
SAME, DIFFERENT, UNSURE = Verdict.SAME, Verdict.DIFFERENT, Verdict.UNSURE
labellings = st.lists(st.integers(0, 3), min_size=N, max_size=N)


@st.composite
def looks(draw) -> Look:
    items = draw(st.permutations(range(N)))[: draw(st.integers(3, N))]
    kind = draw(st.sampled_from(["pair", "choice", "sheet", "check", "board"]))
    if kind == "pair":
        return Question(*items[:2])
    if kind == "choice":
        return Choice(items[0], tuple((item,) for item in items[1:]))
    if kind == "check":
        half = len(items) // 2
        beside = draw(st.lists(st.sampled_from(items[:half]), min_size=half, max_size=half))
        cells = tuple(zip(items[half : 2 * half], beside, strict=True))
        return CheckSheet(cells, draw(st.sampled_from([(), *[(i,) for i, _ in cells[1:]]])))
    return Sheet(items[0], tuple(items[1:])) if kind == "sheet" else Board(tuple(items))


def truthful(look: Look, labels: list[int]) -> Reply:
    """What somebody says who sees all groups at a glance."""
    match look:
        case Question():
            return Verdict.of(labels[look.item] == labels[look.comparator])
        case Choice():
            places = range(len(look.groups))
            return Picks(tuple(p for p in places if labels[look.groups[p][0]] == labels[look.item]))
        case Sheet():
            return Marks(tuple(i for i in look.items if labels[i] != labels[look.reference]))
        case CheckSheet():
            return Marks(tuple(i for i, beside in look.cells if labels[i] != labels[beside]))
        case Board():
            groups = {c: tuple(i for i in look.items if labels[i] == c) for c in set(labels)}
            return Unions(tuple(group for group in groups.values() if len(group) > 1))


@given(looks(), labellings)
def test_a_true_reply_says_nothing_false_and_settles_the_look(look, labels) -> None:
    ledger = Ledger()
    for question, verdict in verdicts_of(look, truthful(look, labels)):
        assert verdict is Verdict.of(labels[question.item] == labels[question.comparator])
        ledger.record(Answer(question, verdict))
    assert look.left(ledger.known) is None


def asking(batches: list[list[Look]]) -> Plan[list[Verdict]]:
    heard: list[Verdict] = []
    for batch in batches:
        heard += yield batch
    return heard


@given(st.lists(st.lists(looks(), max_size=4), max_size=4), labellings)
def test_a_plan_hears_the_same_facts_by_looks_and_by_pairs(batches, labels) -> None:
    by_looks, by_pairs = Run(asking(batches)), Run(asking(batches))
    heard = drive_looks(by_looks, lambda looks: ((look, truthful(look, labels)) for look in looks))
    while by_pairs.pending:
        i, j = by_pairs.pending[0].pair
        by_pairs.tell(by_pairs.pending[0], same=labels[i] == labels[j])
    compared = by_pairs.result
    questions = pairs_of(look for batch in batches for look in batch)
    assert len(heard) == len(compared) == len(questions)
    for question, one, other in zip(questions, heard, compared, strict=True):
        truth = Verdict.of(labels[question.item] == labels[question.comparator])
        # Only a choice leaves pairs open, and only with groups that were not chosen.
        assert one in (truth, UNSURE)
        assert other in (truth, UNSURE)
    assert by_looks.n_questions == len(by_looks.ledger)


@given(looks(), labellings, st.integers(0, N))
def test_what_is_known_is_not_put_again_and_a_part_of_a_reply_is_kept(look, labels, n) -> None:
    run = Run(asking([[look]]))
    for question in look.questions[:n]:
        if run.awaits(question):
            run.tell(question, same=labels[question.item] == labels[question.comparator])
    for rest in run.looks:
        assert set(rest.questions) <= set(look.questions)
        if not isinstance(rest, Board):
            assert all(run.ledger.known(question) is None for question in rest.questions)
        run.tell_look(rest, truthful(rest, labels))
    assert run.done


def test_a_choice_of_one_group_says_nothing_about_the_others() -> None:
    choice = Choice(0, ((1, 5), (2,), (3,)))
    assert verdicts_of(choice, Picks((1,))) == [(Question(0, 2), SAME)]
    assert verdicts_of(choice, Picks((0, 2))) == [(Question(0, 1), SAME), (Question(0, 3), SAME)]
    assert {v for _, v in verdicts_of(choice, Picks())} == {DIFFERENT}
    assert {v for _, v in verdicts_of(choice, Picks(unsure=True))} == {UNSURE}


def test_a_sheet_says_nothing_among_the_marked() -> None:
    said = verdicts_of(Sheet(0, (1, 2, 3, 4)), Marks((2, 3), unsure=(4,)))
    assert said == [
        (Question(1, 0), SAME),
        (Question(2, 0), DIFFERENT),
        (Question(3, 0), DIFFERENT),
        (Question(4, 0), UNSURE),
    ]


def test_an_odd_reference_leaves_the_others_together() -> None:
    ledger = Ledger()
    for question, verdict in verdicts_of(Sheet(0, (1, 2, 3)), Marks((3,), odd_reference=True)):
        ledger.record(Answer(question, verdict))
    assert ledger.known(Question(1, 2)) is SAME
    assert ledger.known(Question(0, 1)) is DIFFERENT
    assert ledger.known(Question(0, 3)) is UNSURE


def test_an_unmarked_board_tells_all_pairs_apart() -> None:
    said = verdicts_of(Board(tuple(range(12))), Unions())
    assert [q for q, _ in said] == [Question(a, b) for a, b in combinations(range(12), 2)]
    assert {verdict for _, verdict in said} == {DIFFERENT}


@pytest.mark.parametrize(
    ("look", "reply", "complaint"),
    [
        (Choice(0, ((1,), (2,))), Picks((2,)), "has no group 2"),
        (Choice(0, ((1,), (2,))), Picks((0,), unsure=True), "not with both"),
        (Sheet(0, (1, 2)), Marks((3,)), "item 3 is not on the sheet"),
        (Sheet(0, (1, 2)), Marks((1,), unsure=(1,)), "both marked and unsure"),
        (Sheet(0, (1, 2)), Marks((1, 2), odd_reference=True), "items that belong together"),
        (Board((0, 1, 2)), Unions(((0, 7),)), "item 7 is not on the board"),
        (Board((0, 1, 2)), Unions(((0, 1), (1, 2))), "joined twice"),
        (Board((0, 1, 2)), Unions(((0, 1),), unsure=(1,)), "both joined and unsure"),
        (Board((0, 1, 2)), Picks(), "a board cannot be answered"),
    ],
)
def test_a_reply_that_does_not_fit_is_refused_and_changes_nothing(look, reply, complaint) -> None:
    run = Run(asking([[look]]))
    with pytest.raises(InvalidInputError, match=complaint):
        run.tell_look(look, reply)
    assert len(run.ledger) == 0
    assert run.looks == (look,)


@pytest.mark.parametrize("shown", [(), ((),), ((0,),), ((1,), (1,))])
def test_a_choice_that_shows_nothing_or_something_twice_is_refused(shown) -> None:
    with pytest.raises(InvalidInputError):
        Choice(0, shown)


def test_a_board_that_joins_what_answers_separate_is_refused_as_a_whole() -> None:
    ledger = Ledger([Answer(Question(1, 2), DIFFERENT), Answer(Question(7, 8), SAME)])
    run = Run(asking([[Board((0, 1, 2, 3))]]), ledger)
    with pytest.raises(ContradictionError):
        run.tell_look(run.looks[0], Unions(((0, 3), (1, 2))))
    assert len(ledger) == 2
    assert ledger.implied(Question(0, 3)) is None
    assert ledger.implied(Question(7, 8)) is SAME
    run.tell_look(run.looks[0], Unions(((0, 3),)))
    assert run.done


def test_a_look_that_nobody_asked_for_is_refused() -> None:
    run = Run(asking([[Sheet(0, (1, 2))]]))
    with pytest.raises(ProtocolError):
        run.tell_look(Sheet(0, (1, 5)), Marks())
    assert len(run.ledger) == 0


def test_looks_and_what_they_showed_are_counted_from_the_answers() -> None:
    sheet, board = Sheet(0, (1, 2, 3)), Board((0, 4, 5))
    run = Run(asking([[sheet], [Question(6, 0)], [board]]))
    run.tell_look(sheet, Marks((3,)))
    run.tell(Question(6, 0), same=True)
    run.tell_look(board, Unions())
    assert n_looks_of(run.ledger) == 3
    assert n_shown_of(run.ledger) == 4 + 2 + 3
    assert run.n_questions == 3 + 1 + 3


@pytest.mark.parametrize("sizes", [{"choice": 0}, {"sheet": 0}, {"board": 1}, {"choice": 2.5}])
def test_sizes_that_make_no_look_are_refused(sizes) -> None:
    with pytest.raises(InvalidInputError, match="the size of a"):
        LookSizes(**sizes)


def test_a_decoy_settles_nothing_and_is_remembered() -> None:
    """A decoy left unmarked contradicts what is known, and must not become an answer."""
    sheet = CheckSheet(((3, 0), (4, 1), (5, 0)), decoys=(4,))
    run = Run(asking([[sheet]]))
    run.learn(Answer(Question(4, 1), DIFFERENT))
    assert run.looks == (sheet,)
    run.tell_look(sheet, Marks((5,)))
    assert run.result == [SAME, DIFFERENT]
    seen = [answer.look.overlooked for answer in run.ledger if answer.look is not None]
    assert seen == [(4,), (4,)]
    assert n_looks_of(list(run.ledger)[1:]) == 1
    assert sheet.overlooked is None, "nobody answered this one"


@pytest.mark.parametrize(
    ("reply", "overlooked"), [(Marks((4,)), ()), (Marks((), (4,)), ()), (Marks((3,)), (4,))]
)
def test_who_is_unsure_about_a_decoy_did_not_overlook_it(reply, overlooked) -> None:
    sheet = CheckSheet(((3, 0), (4, 1)), decoys=(4,))
    (answer,) = answers_of(sheet, reply)
    assert answer.look.overlooked == overlooked


def test_what_is_left_of_a_check_sheet_has_no_decoys() -> None:
    sheet = CheckSheet(((3, 0), (4, 1), (5, 0), (6, 1)), decoys=(4,))
    ledger = Ledger([Answer(Question(3, 0), SAME)])
    assert sheet.left(ledger.known) == CheckSheet(((5, 0), (6, 1)))
    ledger.record(Answer(Question(5, 0), UNSURE))
    assert sheet.left(ledger.known) == Question(6, 1)


@pytest.mark.parametrize(
    "cells",
    [(), ((1, 1),), ((1, 2), (1, 3))],
)
def test_a_check_sheet_that_makes_no_sense_is_refused(cells) -> None:
    with pytest.raises(InvalidInputError):
        CheckSheet(cells)
    with pytest.raises(InvalidInputError):
        CheckSheet(((1, 2),), decoys=(1,))
    with pytest.raises(InvalidInputError):
        answers_of(CheckSheet(((1, 2), (3, 2))), Marks(odd_reference=True))


@given(st.integers(0, 400))
def test_no_look_takes_more_than_a_quarter_of_the_budget(most) -> None:
    sizes = LookSizes().within(most)
    pairs = (sizes.choice, sizes.sheet, sizes.board * (sizes.board - 1) // 2)
    assert max(pairs) <= max(most // 4, 1)
    assert LookSizes().within(None) == LookSizes().within(400) == LookSizes()
