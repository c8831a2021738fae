"""Looks in sessions: a reply is one event, kept, undone and refused as a whole."""

import json
import random
from typing import Any

import numpy as np
import pytest

from samecluster import How, clustering_error, recover, start
from samecluster.errors import AnswerError, InvalidInputError, ProtocolError
from samecluster.instances import make_ellipsoids
from samecluster.oracles import LabelOracle
from samecluster.questions.ledger import Ledger
from samecluster.questions.look import Board, Choice, LookSizes, Marks, Picks, Sheet, Unions
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.recovery.certify.plan import Certify
from samecluster.sessions.question import SessionLook, SessionQuestion, question_id
from samecluster.sessions.running.engine import Engine
from samecluster.sessions.session import Session
from samecluster.sessions.storage.store import MemoryStore
from tests.cases.campaign import runs
from tests.cases.look_cases import answer_looks, tell, true_reply
from tests.cases.session_cases import (
    Clock,
    answer_all,
    instance,
    kinds,
    new_session,
    reopened,
    same_known,
)

MADE = instance(30)
TRUTH = MADE.labels.tolist()


def glances(clock: Clock | None = None, **parameters: Any) -> Session:
    return new_session(MADE, clock=clock, method="glances", looks="auto", **parameters)


def is_open_for(session: Session, screen: SessionLook) -> bool:
    """Whether the facts leave something of it open."""
    ledger = Ledger()
    for fact in session.state.facts.values():
        rows = [session.state.items.row_of[key] for key in fact.items]
        ledger.record(Answer(Question(*rows), fact.verdict))
    return screen.look.left(ledger.known) is not None


def is_said(session: Session, screen: SessionLook, who: str) -> bool:
    """Whether a reply of this person to it stands."""
    book = session.state.book
    own = [said for said in session.state.answers() if book.vote(said.pair, who) == said]
    return any(said.looked is not None and said.looked.id == screen.id for said in own)


def look_of(session: Session, kind: type) -> SessionLook:
    """Answer until a look of this kind is to be answered."""
    while True:
        (look,) = session.ask_looks()
        if isinstance(look, SessionLook) and isinstance(look.look, kind):
            return look
        tell(session, look, TRUTH)


def test_a_budget_of_looks_ends_the_session_with_labels_for_all() -> None:
    """Also with leases of others, after undo and after a restart; without it there is more."""
    made = instance(200)
    labels = made.labels.tolist()
    session = new_session(made, clock=Clock(), method="predict", looks="auto", max_looks=6)
    answer_looks(session, labels, 4, "ann")
    (held,) = session.ask_looks("ann", 1, 60.0)
    (other,) = session.ask_looks("bob", 1, 60.0)
    assert not session.ask_looks("cia", 1, 60.0), "two are left, and both are on screens"
    tell(session, held, labels, "ann")
    assert session.undo("ann") is not None
    tell(session, held, labels, "ann")
    tell(session, other, labels, "bob")
    assert session.state.n_looks == 6
    for one in (session, reopened(session, made)):
        assert not one.ask_looks("ann")
        assert not one.ask("ann")
        assert one.progress().ended == "the budget of 6 looks is spent"
        assert one.progress().n_labelled == 200
    same_known(session, reopened(session, made))
    session.set_parameters(max_looks=7)
    assert len(answer_looks(session, labels, None, "ann")) == 1
    session.set_parameters(max_looks=None)
    assert session.ask_looks("ann")


def test_a_session_asks_the_looks_that_recover_asks() -> None:
    made = instance()
    session = new_session(n_clusters=3, looks="auto")
    asked = answer_looks(session, made.labels.tolist())
    found = recover(
        made.X,
        LabelOracle(made.labels),
        n_clusters=3,
        margin=made.margin,
        method=Certify(kernel="numpy", effort="fast"),
        looks="auto",
        random_state=7,
    )
    known = session.snapshot()
    assert "sheet" in asked
    assert (known.n_looks, known.n_questions) == (found.n_looks, found.n_questions)
    assert known.n_shown == found.n_shown
    assert len(asked) == session.progress().n_looks == found.n_looks
    assert (known.how == found.how).all()
    assert clustering_error(known.labels, made.labels) == 0
    assert f"in {found.n_looks} looks" in str(session.progress())
    same_known(session, reopened(session))


def test_all_kinds_of_looks_are_kept_as_one_event_each_and_counted_by_what_is_news() -> None:
    session = glances()
    asked = answer_looks(session, TRUTH)
    assert set(asked) >= {"sheet", "board", "choice"}
    assert kinds(session).count("looked") == sum(kind != "pair" for kind in asked)
    assert clustering_error(session.snapshot().labels, MADE.labels) == 0
    found = recover(
        MADE.X,
        LabelOracle(TRUTH),
        method="glances",
        looks="auto",
        margin=MADE.margin,
        random_state=7,
    )
    assert session.state.n_questions == found.n_questions
    assert session.progress().n_looks == found.n_looks == len(asked)
    same_known(session, reopened(session, MADE))


def test_pairs_answer_a_session_of_looks_too() -> None:
    """Programs and pages that only know pairs."""
    session = glances()
    answer_all(session, MADE)
    assert kinds(session).count("looked") == 0
    assert clustering_error(session.snapshot().labels, MADE.labels) == 0


def test_without_the_parameter_looks_are_pairs_and_the_file_is_of_the_old_format() -> None:
    one, two = new_session(), new_session()
    while looks := one.ask_looks():
        (question,) = two.ask()
        assert looks == [question]
        tell(one, looks[0], instance().labels.tolist())
        tell(two, question, instance().labels.tolist())
    assert not two.ask()
    assert list(one.events()) == list(two.events())
    assert next(one.events()).body["format"] == 1
    assert next(glances().events()).body["format"] == 2
    one.set_parameters(looks="auto")
    assert list(one.events())[-1].body["format"] == 2


def test_sizes_are_parameters() -> None:
    session = new_session(looks={"choice": 1, "sheet": 1, "board": 2})
    assert set(answer_looks(session, instance().labels.tolist())) == {"pair"}
    for wrong in ("some", {"choice": 0}, {"page": 2}, 3):
        with pytest.raises(InvalidInputError):
            session.set_parameters(looks=wrong)
    session.set_parameters(looks=LookSizes(choice=3))
    assert session.state.parameters["looks"] == {"choice": 3, "sheet": 12, "board": 12, "decoys": 1}


def timed(session: Session, n: int, seconds: dict[str, float]) -> list[str]:
    """Answer n looks by the truth, each taking the seconds of its kind; their kinds."""
    made, kinds_ = instance(300).labels.tolist(), []
    for _ in range(n):
        (look,) = session.ask_looks()
        kind = str(look.body["kind"]) if isinstance(look, SessionLook) else "pair"
        kinds_.append(kind)
        if isinstance(look, SessionLook):
            session.tell_look(look.id, true_reply(look.look, made), seconds=seconds[kind])
        else:
            same = made[look.rows[0]] == made[look.rows[1]]
            session.tell(look.id, "same" if same else "different", seconds=seconds[kind])
    return kinds_


def test_looks_are_chosen_by_the_seconds_that_they_took() -> None:
    to_the_end = {"name": "predict", "expected_error": 0.0}
    session = new_session(instance(300), method=to_the_end, looks="auto", margin="auto")
    slow = {"pair": 2.0, "choice": 300.0, "sheet": 6.0, "checks": 6.0, "board": 7.0}
    before = timed(session, 8, slow)
    session.use_measured_seconds()
    assert session.state.parameters["looks"] == "auto"  # too few were timed
    before += timed(session, 18, slow)
    assert before.count("choice") >= 12
    facts = len(session.state.facts)
    session.use_measured_seconds()
    assert session.state.parameters["look_seconds"]["choice"] == 300.0
    assert session.state.parameters["looks"] == "auto"
    assert len(session.state.facts) == facts
    n_events = len(list(session.events()))
    session.use_measured_seconds()
    assert len(list(session.events())) == n_events  # they are those in use
    after = timed(session, 12, slow)
    assert after.count("choice") < 0.5 * len(after)
    same_known(session, reopened(session, instance(300)))


def test_seconds_do_not_begin_a_session_again_that_has_ended() -> None:
    to_the_end = {"name": "predict", "expected_error": 0.0}
    session = new_session(instance(300), method=to_the_end, looks="auto", max_looks=18)
    timed(session, 18, {"pair": 2.0, "choice": 300.0, "sheet": 60.0, "checks": 60.0, "board": 7.0})
    assert not session.ask_looks()
    n_events = session.state.n_events
    session.use_measured_seconds()
    assert session.state.n_events == n_events


def test_a_program_that_answers_at_once_measures_nothing() -> None:
    """Its looks take no time; the session can still be opened again, and asks as before."""
    to_the_end = {"name": "predict", "expected_error": 0.0}
    session = new_session(instance(300), method=to_the_end, looks="auto", margin="auto")
    kinds = ("pair", "choice", "sheet", "checks", "board")
    seen = [timed(session, n, dict.fromkeys(kinds, took)) for n, took in ((6, 0.1), (20, 0.0))]
    assert seen[0].count("choice") >= 1
    assert sum(one.count("choice") for one in seen) >= 12
    session.use_measured_seconds()
    assert "look_seconds" not in session.state.parameters


def test_seconds_that_are_as_thought_change_nothing() -> None:
    to_the_end = {"name": "predict", "expected_error": 0.0}
    session = new_session(instance(300), method=to_the_end, looks="auto", margin="auto")
    timed(session, 26, {"pair": 2.5, "choice": 4.0, "sheet": 7.5, "checks": 7.5, "board": 6.0})
    session.use_measured_seconds()
    assert session.state.parameters["looks"] == "auto"
    for wrong in ({"page": 3.0}, {"sheet": 0.0}, 3):
        with pytest.raises(InvalidInputError):
            session.set_parameters(looks={"seconds": wrong})
        with pytest.raises(InvalidInputError):
            session.set_parameters(look_seconds=wrong)


def test_a_budget_without_room_for_the_next_look_says_so() -> None:
    to_the_end = {"name": "predict", "expected_error": 0.0}
    session = new_session(instance(300), method=to_the_end, looks="auto", max_questions=60)
    while session.ask_looks():
        timed(session, 1, {"pair": 2.5, "choice": 4.0, "sheet": 7.5, "checks": 7.5, "board": 6.0})
    left = 60 - session.state.n_questions
    assert left > 0
    assert session.progress().ended == "the next look does not fit into the budget of 60 questions"


@pytest.mark.parametrize("n", [1, 4, 7, 11])
def test_a_resumed_session_shows_the_look_that_was_on_the_screen(n) -> None:
    session = glances()
    answer_looks(session, TRUTH, n)
    resumed = reopened(session, MADE)
    assert resumed.ask_looks() == session.ask_looks()
    same_known(session, resumed)


def test_undo_takes_a_look_back_as_a_whole_without_limit_across_restarts() -> None:
    session = glances()
    asked, n_questions = [], []
    for _ in range(9):
        (look,) = session.ask_looks()
        asked.append(look)
        n_questions.append(session.state.n_questions)
        tell(session, look, TRUTH)
    for look, before in zip(reversed(asked), reversed(n_questions), strict=True):
        session = reopened(session, MADE)
        again = session.undo()
        assert again is not None
        assert again.id == look.id
        assert again.before is not None
        assert session.state.n_questions == before
        assert [shown.id for shown in session.ask_looks(count=5)] == [look.id]
    assert session.undo() is None
    assert not session.state.facts
    for look in asked:
        (shown,) = session.ask_looks()
        assert shown.id == look.id
        tell(session, shown, TRUTH)
    same_known(session, reopened(session, MADE))


def test_the_same_reply_after_undo_rebuilds_nothing(monkeypatch) -> None:
    made = []

    def counted(*data, **parameters):
        made.append(start(*data, **parameters))
        return made[-1]

    monkeypatch.setattr("samecluster.sessions.running.engine.start", counted)
    session = glances()
    answer_looks(session, TRUTH, 9)
    session.prepare()
    assert len(made) == 1
    for _ in range(4):
        session.undo()
    answer_looks(session, TRUTH, 4)
    session.snapshot()
    assert len(made) == 1
    session.undo()
    (look,) = session.ask_looks()
    assert isinstance(look, SessionLook)
    reply: Any = (
        {"unsure": True} if isinstance(look.look, Choice) else {"marked": look.body["items"]}
    )
    session.tell_look(look.id, reply)
    session.snapshot()
    assert len(made) == 2
    same_known(session, reopened(session, MADE))


def test_a_wrong_reply_undone_leaves_no_trace_in_the_outcome() -> None:
    session, clean = glances(), glances()
    sheet = look_of(session, Sheet)
    session.tell_look(
        sheet.id, {"marked": sheet.body["items"][:1], "unsure": sheet.body["items"][1:]}
    )
    session.undo()
    answer_looks(session, TRUTH)
    answer_looks(clean, TRUTH)
    assert (session.snapshot().labels == clean.snapshot().labels).all()
    assert session.snapshot().answers == clean.snapshot().answers


def test_telling_the_same_look_again_changes_nothing_also_after_a_restart() -> None:
    session = glances()
    look = look_of(session, Board)
    reply = true_reply(look.look, TRUTH)
    number = session.tell_look(look.id, reply, key="screen-1")
    before = kinds(session)
    for one in (session, reopened(session, MADE)):
        assert one.tell_look(look.id, reply) == number
        assert one.tell_look(look.id, reply, key="screen-1") == number
        assert one.tell_look(look.id, reply, key="screen-2") == number
        with pytest.raises(ProtocolError, match="key of its own"):
            one.tell_look(look.id, {"joined": []}, key="screen-1")
        with pytest.raises(ProtocolError, match="key of its own"):
            one.tell(one.ask()[0].id, "same", key="screen-1")
        assert kinds(one) == before
    session.undo()
    assert session.tell_look(look.id, reply, key="screen-1") == number, "it arrives again"
    assert session.tell_look(look.id, reply, key="screen-2") == number
    assert kinds(session) == [*before, "retracted"]


def choice_replies(look: SessionLook) -> list[Any]:
    return [
        {"groups": [len(look.body["groups"])]},
        {"groups": [-1]},
        {"groups": []},
        {"groups": [0], "none": True},
        {"groups": [0], "unsure": True},
        {"none": True, "unsure": True},
        {"none": False},
        {"groups": ["0"]},
        {"groups": [True]},
        {"marked": []},
        {},
        Picks((0,), unsure=True),
        Marks(),
    ]


def sheet_replies(look: SessionLook) -> list[Any]:
    items = look.body["items"]
    return [
        {"marked": ["stranger"]},
        {"marked": [look.body["reference"]]},
        {"marked": items[:1], "unsure": items[:1]},
        {"marked": items, "odd_reference": True},
        {"marked": [], "odd_reference": "yes"},
        {"marked": "all"},
        {"unsure": []},
        {"marked": [], "note": "?"},
        {"joined": []},
        Unions(),
    ]


def board_replies(look: SessionLook) -> list[Any]:
    items = look.body["items"]
    return [
        {"joined": [[items[0], "stranger"]]},
        {"joined": [items[:2], items[1:3]]},
        {"joined": [items[:2]], "unsure": items[:1]},
        {"joined": items[:2]},
        {"groups": [0]},
    ]


@pytest.mark.parametrize(
    ("kind", "replies"), [(Choice, choice_replies), (Sheet, sheet_replies), (Board, board_replies)]
)
def test_replies_that_do_not_fit_are_refused_in_a_line_and_nothing_is_stored(kind, replies) -> None:
    session = glances()
    look = look_of(session, kind)
    before, state = kinds(session), session.state.copy()
    for reply in replies(look):
        with pytest.raises(ProtocolError) as refused:
            session.tell_look(look.id, reply)
        assert "\n" not in str(refused.value)
        assert kinds(session) == before
        assert session.state == state
    assert [shown.id for shown in session.ask_looks()] == [look.id]


@pytest.mark.parametrize(
    "id_",
    [
        "",
        "item%200:item%201",
        "[]",
        '{"kind":"page"}',
        '{"kind":["sheet"]}',
        '{"kind":"sheet","reference":"item 0","items":[]}',
        '{"kind":"sheet","reference":"item 0","items":["item 0"]}',
        '{"kind":"sheet","reference":"item 0","items":["stranger"]}',
        '{"kind":"sheet","reference":"item 0","items":"item 1"}',
        '{"kind":"board","items":["item 0"]}',
        '{"kind":"choice","item":"item 0","groups":["item 1"]}',
        '{"kind":"choice","item":"item 0","groups":[["item 1"],[]]}',
    ],
)
def test_what_is_no_look_is_refused(id_) -> None:
    session = glances()
    with pytest.raises(InvalidInputError):
        session.tell_look(id_, {"marked": []})
    assert kinds(session) == ["opened"]


def test_a_board_that_joins_what_answers_separate_is_refused() -> None:
    session = glances()
    board = look_of(session, Board)
    one, two = next(
        (a, b)
        for a in board.body["items"]
        for b in board.body["items"]
        if TRUTH[int(a[5:])] != TRUTH[int(b[5:])]
    )
    session.import_answers([(one, two, "different")], "before")
    before = kinds(session)
    with pytest.raises(AnswerError):
        session.tell_look(board.id, {"joined": [[one, two]]})
    assert kinds(session) == before
    session.tell_look(board.id, true_reply(board.look, TRUTH))


def test_several_groups_chosen_are_one_unless_answers_separate_them() -> None:
    session = glances()
    choice = look_of(session, Choice)
    groups = choice.body["groups"]
    before = kinds(session)
    with pytest.raises(AnswerError):
        session.tell_look(choice.id, {"groups": [0, 1]})
    assert kinds(session) == before
    made = '{"groups":[["item 1"],["item 2"]],"item":"item 0","kind":"choice"}'
    fresh = glances()
    fresh.tell_look(made, {"groups": [0, 1]})
    assert [fact.verdict.value for fact in fresh.state.facts.values()] == ["same", "same"]
    assert groups
    same_known(fresh, reopened(fresh, MADE))


def test_a_look_that_others_have_settled_is_no_longer_open() -> None:
    session = glances()
    (sheet,) = session.ask_looks("ann", lease_seconds=60)
    assert isinstance(sheet, SessionLook)
    for item in sheet.body["items"]:
        row = sheet.look.shown[1 + sheet.body["items"].index(item)]
        verdict = "same" if TRUTH[row] == TRUTH[sheet.look.shown[0]] else "different"
        session.import_answers([(item, sheet.body["reference"], verdict)], "elsewhere")
    before = kinds(session)
    with pytest.raises(ProtocolError, match="no longer open"):
        session.tell_look(sheet.id, true_reply(sheet.look, TRUTH), "ann")
    assert kinds(session) == before
    assert session.ask_looks("ann", lease_seconds=60)[0].id != sheet.id


def test_what_is_known_of_a_look_is_not_shown_and_a_reply_to_all_of_it_is_still_taken() -> None:
    session = glances()
    (sheet,) = session.ask_looks("ann", lease_seconds=60)
    assert isinstance(sheet, SessionLook)
    first, *rest = sheet.body["items"]
    is_same = TRUTH[int(first[5:])] == TRUTH[int(sheet.body["reference"][5:])]
    said = "same" if is_same else "different"
    session.import_answers([(first, sheet.body["reference"], said)], "elsewhere")
    (left,) = session.ask_looks("ann", lease_seconds=60)
    assert isinstance(left, SessionLook)
    assert left.body["items"] == rest
    session.tell_look(sheet.id, true_reply(sheet.look, TRUTH), "ann")
    answer_looks(session, TRUTH, who="ann")
    assert clustering_error(session.snapshot().labels, MADE.labels) == 0


def test_the_reference_may_be_the_odd_one() -> None:
    session = glances()
    (sheet,) = session.ask_looks()
    assert isinstance(sheet, SessionLook)
    items = sheet.body["items"]
    session.tell_look(sheet.id, {"marked": items[2:], "odd_reference": True})
    said = {fact.pair: fact.verdict.value for fact in session.state.facts.values()}
    assert said[tuple(sorted(items[:2]))] == "same"
    assert said[tuple(sorted((items[0], sheet.body["reference"])))] == "different"
    same_known(session, reopened(session, MADE))
    again = session.undo()
    assert again is not None
    assert again.before == {"marked": items[2:], "odd_reference": True}
    assert not session.state.facts


def test_looks_are_leased_whole_and_return_when_the_time_is_up() -> None:
    clock = Clock()
    session = glances(clock)
    (one,) = session.ask_looks("ann", lease_seconds=60)
    (two,) = session.ask_looks("ben", lease_seconds=60)
    assert isinstance(one, SessionLook)
    assert isinstance(two, SessionLook)
    assert set(one.look.questions).isdisjoint(two.look.questions)
    held = {tuple(sorted(pair)) for pair in [(q.item, q.comparator) for q in one.look.questions]}
    for question in session.ask("cem", count=20, lease_seconds=60):
        assert tuple(sorted(question.rows)) not in held, "pairs of a look are not asked elsewhere"
    assert [look.id for look in session.ask_looks("ann", lease_seconds=60)] == [one.id]
    clock.move(50)
    assert session.renew([one.id], "ann", 60) == [one.id]
    assert session.renew([one.id], "ben", 60) == []
    clock.move(50)
    assert session.ask_looks("dot", lease_seconds=60)[0].id != one.id
    clock.move(61)
    assert session.ask_looks("eve", lease_seconds=60)[0].id == one.id
    session.release("eve")
    assert session.ask_looks("dot", lease_seconds=60)[0].id == one.id


def test_seconds_on_the_screen_are_kept_by_kind() -> None:
    session = glances()
    (look,) = session.ask_looks()
    session.tell_look(look.id, {"marked": []}, seconds=6.25)
    (question,) = session.ask()
    session.tell(question.id, "unsure", seconds=2.0)
    timed = reopened(session, MADE).state.seconds
    assert (timed["sheet"].n_looks, timed["sheet"].seconds) == (1, 6.2)
    assert (timed["pair"].n_answers, timed["pair"].seconds) == (1, 2.0)


def test_one_answer_of_a_look_can_be_taken_back_alone() -> None:
    session = glances()
    (look,) = session.ask_looks()
    assert isinstance(look, SessionLook)
    number = session.tell_look(look.id, {"marked": []})
    pair = (look.body["items"][0], look.body["reference"])
    session.retract(number, pair)
    assert len(session.state.facts) == len(look.body["items"]) - 1
    session.retract(number)
    assert not session.state.facts
    assert session.undo() is None
    same_known(session, reopened(session, MADE))


def test_a_budget_is_not_overspent_by_a_look() -> None:
    session = glances(max_questions=6)
    answer_looks(session, TRUTH)
    assert session.state.n_questions <= 6
    assert session.progress().ended


@pytest.mark.parametrize("seed", range(runs(12, 400)))
def test_whatever_happens_a_replay_is_the_session_and_answers_that_are_true_give_true_groups(
    seed,
) -> None:
    """Several people with looks, pairs, undo, late replies and restarts, in any order."""
    rng = random.Random(seed)
    clock = Clock()
    session = glances(clock)
    screens: dict[str, Any] = {}
    for _ in range(60):
        who = rng.choice(["ann", "ben", "cem"])
        luck = rng.random()
        if luck < 0.1:
            if (again := session.undo(who, 60)) is not None:
                screens[who] = again
        elif luck < 0.15:
            session.release(who)
            screens.pop(who, None)
        elif luck < 0.2:
            clock.move(70)
        elif luck < 0.25:
            session = reopened(session, MADE)
        elif who in screens:
            screen = screens.pop(who)
            # Others may have settled all of it: then it is refused, and only then.
            if isinstance(screen, SessionQuestion) or is_open_for(session, screen):
                tell(session, screen, TRUTH, who)
                assert isinstance(screen, SessionQuestion) or not is_open_for(session, screen)
            elif not is_said(session, screen, who):  # a reply that stands is taken as sent twice
                with pytest.raises(ProtocolError, match="longer open"):
                    tell(session, screen, TRUTH, who)
        else:
            asked = session.ask_looks if rng.random() < 0.8 else session.ask
            if shown := asked(who, lease_seconds=60):
                screens[who] = shown[0]
    for who in ("ann", "ben", "cem"):
        session.release(who)
    same_known(session, reopened(session, MADE))
    answer_looks(session, TRUTH, who="dot")
    assert clustering_error(session.snapshot().labels, np.array(TRUTH)) == 0
    assert not session.trouble
    assert json.loads(json.dumps([dict(event.body) for event in session.events()]))


def test_a_reply_that_is_given_again_says_what_was_undone_since() -> None:
    """What somebody else had settled is no part of the first reply; it was lost with the second."""
    session = glances(Clock())
    board = look_of(session, Board)
    assert isinstance(board.look, Board)
    assert {0, 15} <= set(board.look.items)
    assert TRUTH[0] == TRUTH[2] == TRUTH[15]
    assert session.state.facts["item 0", "item 2"].verdict is Verdict.SAME
    session.tell(question_id(("item 2", "item 15")), "same", "cem")  # so are 0 and 15, then
    tell(session, board, TRUTH, "ann")
    session.undo("cem")
    assert is_open_for(session, board)
    tell(session, board, TRUTH, "ann")
    assert not is_open_for(session, board)
    n_events = session.state.n_events
    tell(session, board, TRUTH, "ann")  # sent twice
    assert session.state.n_events == n_events


def test_a_sheet_of_ones_own_is_taken_in_at_once_and_again_after_a_restart(monkeypatch) -> None:
    """As the board of groups makes them: the run begins anew once, not once per item."""
    made = make_ellipsoids(n=80, d=2, k=3, random_state=0)
    keys, store = [f"item {row}" for row in range(80)], MemoryStore()
    session = Session.create(store, keys, made.X, seed=0)
    for _ in range(8):
        (question,) = session.ask()
        one, two = made.labels[list(question.rows)]
        session.tell(question.id, Verdict.of(one == two))
    known = session.snapshot()
    reference = int(np.flatnonzero(known.how_codes == How.ASKED)[0])
    items = np.flatnonzero(known.how_codes != How.ASKED)[:12]
    starts: list[int] = []
    begin = Engine._start

    def counted(engine: Engine) -> None:
        starts.append(1)
        begin(engine)

    monkeypatch.setattr(Engine, "_start", counted)
    body = {"kind": "sheet", "reference": keys[reference], "items": [keys[i] for i in items]}
    odd = [keys[i] for i in items if made.labels[i] != made.labels[reference]]
    session.tell_look(json.dumps(body), {"marked": odd})
    (asked,) = session.ask()
    assert len(starts) == 1
    found = session.snapshot()
    assert (found.how_codes[items[made.labels[items] == made.labels[reference]]] == How.ASKED).all()
    again = Session.open(store, keys, made.X)
    assert again.ask() == [asked]
    assert (again.snapshot().labels == found.labels).all()
