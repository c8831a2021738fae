"""Sessions: resume, undo, idempotent answers, imports, updates, numbers, trouble, people."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from samecluster import clustering_error, recover, start
from samecluster.errors import (
    AnswerError,
    DataMismatchError,
    InvalidInputError,
    ProtocolError,
    SessionNotFoundError,
    StoreError,
)
from samecluster.oracles import LabelOracle
from samecluster.questions.pair import Verdict
from samecluster.recovery.certify.plan import Certify
from samecluster.sessions.question import SessionQuestion, question_id
from samecluster.sessions.running.drivers import drive_async
from samecluster.sessions.session import Session
from samecluster.sessions.state.votes import pair_of
from samecluster.sessions.storage.sqlite import SqliteStore
from samecluster.sessions.storage.store import MemoryStore
from tests.cases.session_cases import (
    FAST,
    Clock,
    answer,
    answer_all,
    instance,
    keys_of,
    kinds,
    new_session,
    other,
    reopened,
    same_known,
    store_of,
    truth,
)

MADE = instance()


# -- asking, telling, resuming -------------------------------------------------------------------


def test_a_session_asks_what_recover_asks_and_finds_the_same_groups() -> None:
    session = new_session(n_clusters=3)
    asked = answer_all(session)
    found = recover(
        MADE.X,
        LabelOracle(MADE.labels),
        n_clusters=3,
        margin=MADE.margin,
        method=Certify(kernel="numpy", effort="fast"),
        random_state=7,
    )
    assert asked == found.n_questions == session.progress().n_questions
    assert clustering_error(session.snapshot().labels, MADE.labels) == 0
    assert (session.snapshot().how == found.how).all()
    assert session.progress().ended == "nothing is left to ask"
    assert str(session.progress()).startswith("90 of 90 items have a label (")


@pytest.mark.parametrize("n", [0, 1, 7, 15])
def test_a_resumed_session_is_where_the_interrupted_one_was(n) -> None:
    session = new_session()
    answer(session, n)
    resumed = reopened(session)
    same_known(session, resumed)
    answer_all(resumed)
    uninterrupted = new_session()
    answer_all(uninterrupted)
    assert (resumed.snapshot().labels == uninterrupted.snapshot().labels).all()
    assert resumed.state.n_questions == uninterrupted.state.n_questions


def test_a_resume_feeds_the_run_what_it_asks_and_asks_nothing_twice() -> None:
    session = new_session()
    seen = {question.id for question in answer(session, 8)}
    for _ in range(3):
        session = reopened(session)
        for question in answer(session, 2):
            assert question.id not in seen
            seen.add(question.id)


def test_no_fact_is_lost_where_the_plan_asks_something_else() -> None:
    """Another machine, version or kernel; here another seed under the same answers."""
    session = new_session()
    answer(session, 12)
    moved = MemoryStore()
    opened, *rest = session.events()
    moved.append([replace(opened, body={**opened.body, "seed": 8}), *rest])
    elsewhere = Session.open(moved, keys_of(90), MADE.X, clock=Clock())
    asked = {question_id(said.items) for said in elsewhere.state.answers()}
    assert len(asked) == 12
    assert len(elsewhere.snapshot().answers) == len(session.snapshot().answers)
    while questions := elsewhere.ask():
        assert questions[0].id not in asked
        elsewhere.tell(questions[0].id, truth(questions[0]))
    assert clustering_error(elsewhere.snapshot().labels, MADE.labels) == 0


def test_telling_the_same_again_changes_nothing_also_after_a_restart() -> None:
    session = new_session()
    (question,) = session.ask()
    verdict = truth(question)
    sequence = session.tell(question.id, verdict)
    before = kinds(session)
    assert session.tell(question.id, verdict) == sequence
    resumed = reopened(session)
    assert resumed.tell(question.id, verdict) == sequence
    assert kinds(session) == kinds(resumed) == before


def test_a_key_protects_against_an_answer_that_arrives_again_after_an_undo() -> None:
    session = new_session()
    (question,) = session.ask()
    sequence = session.tell(question.id, "same", key="page 1, answer 1")
    session.undo()
    resumed = reopened(session)
    assert resumed.tell(question.id, "same", key="page 1, answer 1") == sequence
    assert resumed.state.n_questions == session.state.n_questions == 0


def test_a_person_may_change_their_mind() -> None:
    session = new_session()
    (question,) = session.ask()
    session.tell(question.id, other(truth(question)))
    session.tell(question.id, truth(question))
    assert session.state.n_questions == 1
    answer_all(session)
    assert clustering_error(session.snapshot().labels, MADE.labels) == 0
    same_known(session, reopened(session))


@pytest.mark.parametrize(
    ("id_", "verdict", "message"),
    [
        ("item 1", "same", "is not the id of a question"),
        ("a:a", "same", "is not the id of a question"),
        ("item%201:stranger", "same", "'stranger', which is not in the data"),
        ("item%201:item%202", "maybe", "'same', 'different', 'unsure', got 'maybe'"),
    ],
)
def test_unusable_answers_are_refused_and_nothing_is_written(id_, verdict, message) -> None:
    session = new_session()
    with pytest.raises(InvalidInputError, match=message):
        session.tell(id_, verdict)
    assert kinds(session) == ["opened"]


def test_ids_hold_any_key() -> None:
    nasty = ["a:b", "100%", "ü/ö", "a b", "~", "%3A"]
    X = np.arange(6.0)[:, None]
    session = Session.create(MemoryStore(), nasty, X, parameters={"margin": 1.0})
    for one in nasty:
        for two in nasty:
            if one != two:
                shown = session.question(question_id((one, two)))
                assert {shown.item, shown.comparator} == {one, two}


def test_unsure_and_flagged_lead_to_other_questions() -> None:
    session = new_session()
    answer(session, 5)
    (first,) = session.ask()
    session.tell(first.id, "unsure")
    (second,) = session.ask()
    assert second.id != first.id
    session.flag(second.id, "the picture is blurred")
    (third,) = session.ask()
    assert third.id not in (first.id, second.id)
    notes = [said.note for said in session.state.answers() if said.note]
    assert notes == ["the picture is blurred"]
    same_known(session, reopened(session))


# -- undo ----------------------------------------------------------------------------------------


def test_undo_shows_the_question_again_first_and_without_limit_across_restarts() -> None:
    session = new_session()
    asked = answer(session, 9)
    for question in reversed(asked):
        session = reopened(session)
        again = session.undo()
        assert again is not None
        assert again.id == question.id
        assert [shown.id for shown in session.ask(count=5)] == [question.id]
        assert session.ask()[0].before is not None
    assert session.undo() is None
    assert session.state.n_questions == 0
    for question in asked:
        (shown,) = session.ask()
        assert shown.id == question.id
        session.tell(shown.id, truth(shown))
    same_known(session, reopened(session))


def test_saying_the_same_again_after_undo_rebuilds_nothing(monkeypatch) -> None:
    runs = []

    def counted(*data, **parameters):
        runs.append(start(*data, **parameters))
        return runs[-1]

    monkeypatch.setattr("samecluster.sessions.running.engine.start", counted)
    session = new_session()
    answer(session, 9)
    session.prepare()
    assert len(runs) == 1
    for _ in range(3):
        session.undo()
    for _ in range(3):
        (question,) = session.ask()
        session.tell(question.id, truth(question))
    session.snapshot()
    assert len(runs) == 1
    session.undo()
    (question,) = session.ask()
    session.tell(question.id, "unsure")
    session.snapshot()
    assert len(runs) == 2


def test_a_wrong_answer_undone_leaves_no_trace_in_the_outcome() -> None:
    session, clean = new_session(), new_session()
    answer(session, 6)
    (question,) = session.ask()
    session.tell(question.id, other(truth(question)))
    session.undo()
    answer_all(session)
    answer_all(clean)
    assert (session.snapshot().labels == clean.snapshot().labels).all()
    assert session.snapshot().answers == clean.snapshot().answers


def test_after_another_verdict_the_plan_decides_what_comes_next() -> None:
    session = new_session()
    asked = answer(session, 6)
    for _ in range(3):
        session.undo()
    (question,) = session.ask()
    assert question.id == asked[3].id
    session.tell(question.id, other(truth(question)))
    assert all(shown.before is None for shown in session.ask())


def test_retracting_an_older_answer_keeps_the_others() -> None:
    session = new_session()
    asked = answer(session, 10)
    third = next(s for s in session.state.answers() if question_id(s.items) == asked[2].id)
    session.retract(third.sequence)
    assert session.state.n_questions == 9
    same_known(session, reopened(session))
    seen = {question.id for question in asked} - {asked[2].id}
    while questions := session.ask():
        assert questions[0].id not in seen
        session.tell(questions[0].id, truth(questions[0]))
    assert clustering_error(session.snapshot().labels, MADE.labels) == 0
    with pytest.raises(ProtocolError, match="nothing to take back"):
        session.retract(third.sequence)
    with pytest.raises(ProtocolError, match="nothing to take back"):
        session.retract(1)


# -- places and data -----------------------------------------------------------------------------


def test_a_session_moves_with_its_file(tmp_path) -> None:
    with new_session(store=SqliteStore(tmp_path / "a.samecluster", create=True)) as session:
        answer(session, 6)
        labels = session.snapshot().labels
    (tmp_path / "a.samecluster").rename(tmp_path / "b.samecluster")
    with Session.open(SqliteStore(tmp_path / "b.samecluster"), keys_of(90), MADE.X) as session:
        assert (session.snapshot().labels == labels).all()
        answer_all(session)
    with pytest.raises(StoreError, match="closed"):
        session.tell(question_id(("item 1", "item 2")), "same")


def test_the_file_holds_no_coordinates(tmp_path) -> None:
    path = tmp_path / "a.samecluster"
    with new_session(store=SqliteStore(path, create=True)) as session:
        answer_all(session)
    content = path.read_bytes()
    for value in MADE.X[:20].ravel():
        assert repr(float(value)).encode() not in content
        assert np.float64(value).tobytes() not in content


def test_other_data_is_refused_and_the_way_out_is_named() -> None:
    session = new_session()
    for keys, X in (
        (keys_of(90), MADE.X + 1e-9),
        (keys_of(89), MADE.X[:-1]),
        ([*keys_of(89), "stranger"], MADE.X),
        (keys_of(90)[::-1], MADE.X[::-1]),
    ):
        with pytest.raises(DataMismatchError, match="`samecluster update SESSION DATA`"):
            Session.open(store_of(session), keys, X)
    with pytest.raises(SessionNotFoundError, match="create one first"):
        Session.open(MemoryStore(), keys_of(90), MADE.X)
    with pytest.raises(StoreError, match="holds a session already"):
        new_session(store=store_of(session))


def test_contents_stand_for_rows_that_are_computed() -> None:
    contents = [f"cells of {row}" for row in range(90)]
    store = MemoryStore()
    Session.create(store, keys_of(90), MADE.X, contents=contents, parameters={"margin": 1.0})
    Session.open(store, keys_of(90), MADE.X * (1 + 1e-15), contents=contents)
    contents[3] = "other cells"
    with pytest.raises(DataMismatchError, match="0 rows added, 0 removed, 1 changed"):
        Session.open(store, keys_of(90), MADE.X, contents=contents)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"keys": ["a", "a"]}, "'a' is given to 2 rows"),
        ({"keys": ["a"]}, "1 keys, 2 rows"),
        ({"keys": ["a", 3]}, "got 3 for row 1"),
        ({"contents": ["x"]}, "1 contents, 2 rows"),
        ({"parameters": {"colour": 1}}, "got 'colour'"),
        ({"parameters": {"margin": -1.0}}, "margin must be above 0"),
        ({"parameters": {"margin": 1.0, "max_questions": 0}}, "max_questions must be a whole"),
        ({"parameters": {"margin": 1.0, "method": {"name": "magic"}}}, "got 'magic'"),
        ({"parameters": {"margin": 1.0, "method": {"name": "certify", "x": 1}}}, "no such setting"),
    ],
)
def test_bad_sessions_are_not_begun(changes, message) -> None:
    store = MemoryStore()
    arguments = {"keys": ["a", "b"], "X": [[0.0], [1.0]], "parameters": {"margin": 1.0}, **changes}
    with pytest.raises(InvalidInputError, match=message):
        Session.create(store, **arguments)
    assert list(store.read()) == []


def test_an_update_keeps_answers_and_sets_those_about_changed_rows_aside() -> None:
    session = new_session()
    asked = answer(session, 12)
    gone, moved = asked[3].item, asked[7].item
    keep = [row for row in range(90) if f"item {row}" != gone]
    X = MADE.X.copy()
    X[int(moved.split()[1])] += 1e-6
    keys = [f"item {row}" for row in keep]
    with pytest.raises(DataMismatchError, match="0 rows added, 1 removed, 1 changed"):
        Session.open(store_of(session), keys, X[keep])
    changes = session.update(keys, X[keep])
    assert (changes.removed, changes.changed) == ((gone,), (moved,))
    aside = session.state.set_aside()
    assert {said.pair for said in aside} == {
        pair_of((q.item, q.comparator)) for q in asked if {gone, moved} & {q.item, q.comparator}
    }
    resumed = Session.open(store_of(session), keys, X[keep])
    same_known(session, resumed)
    session.confirm([moved])
    assert all(gone in said.items for said in session.state.set_aside())
    session.update(keys_of(90), X)
    assert session.state.set_aside() == []
    assert session.state.n_questions == 12
    answer_all(session)
    assert clustering_error(session.snapshot().labels, MADE.labels) == 0


def test_an_update_needs_the_new_rows_only() -> None:
    """As on the command line: the old file is gone when the new one is there."""
    live, later = new_session(), new_session()
    for session in (live, later):
        answer(session, 15)
    keys, X = keys_of(90)[5:], MADE.X[5:]
    live.update(keys, X)
    later = Session.open(store_of(later), keys, X, update=True, clock=Clock())
    assert {s.pair for s in live.state.answers()} == {s.pair for s in later.state.answers()}
    assert (live.snapshot().labels == later.snapshot().labels).all()
    same_known(later, Session.open(store_of(later), keys, X, clock=Clock()))
    assert not later.update(keys, X)


def test_an_update_that_cannot_be_used_changes_nothing() -> None:
    session = new_session()
    answer(session, 5)
    with pytest.raises(InvalidInputError, match="nan at row 0"):
        session.update(keys_of(90), np.full((90, 2), np.nan))
    same_known(session, reopened(session))


# -- numbers and names ---------------------------------------------------------------------------


def shown_numbers(session: Session) -> dict[int, int]:
    """The true cluster behind each public number that is there to stay."""
    kept = set(session.state.numbers.values())
    return {
        number: int(MADE.labels[int(anchor.split()[1])])
        for number, anchor in session.anchors().items()
        if number in kept
    }


def test_numbers_do_not_depend_on_when_somebody_looks() -> None:
    watched, unwatched = new_session(), new_session()
    while questions := watched.ask():
        watched.tell(questions[0].id, truth(questions[0]))
        watched.snapshot()
    answer_all(unwatched)
    assert (watched.snapshot().labels == unwatched.snapshot().labels).all()
    assert set(watched.snapshot().labels) == {0, 1, 2}


def test_numbers_and_names_survive_undo_resume_and_update() -> None:
    session = new_session()
    answer_all(session)
    named = max(session.anchors())
    session.name(named, "the far ones")
    numbers = shown_numbers(session)
    assert len(numbers) >= 2
    for _ in range(3):
        session.undo()
    answer_all(session)
    assert {n: c for n, c in shown_numbers(session).items() if n in numbers} == numbers
    session = reopened(session)
    assert session.names() == {named: "the far ones"}
    finished = shown_numbers(session)
    assert numbers.items() <= finished.items()
    anchor = session.anchors()[named]
    keep = [row for row in range(90) if f"item {row}" != anchor]
    session.update([f"item {row}" for row in keep], MADE.X[keep])
    answer_all_updated(session, keep)
    assert session.anchors()[named] != anchor
    assert shown_numbers(session) == finished
    assert session.names() == {named: "the far ones"}


def answer_all_updated(session: Session, keep: list[int]) -> None:
    while questions := session.ask():
        i, j = questions[0].rows
        same = MADE.labels[keep[i]] == MADE.labels[keep[j]]
        session.tell(questions[0].id, "same" if same else "different")


def test_a_name_needs_a_cluster() -> None:
    session = new_session()
    answer_all(session)
    with pytest.raises(InvalidInputError, match="cluster must be one of 0, 1, 2, got 9"):
        session.name(9, "nobody")


# -- what is known before ------------------------------------------------------------------------


def known_pairs(n: int) -> list[tuple[str, str, str]]:
    firsts = {int(label): int(np.argmax(MADE.labels == label)) for label in range(3)}
    return [
        (f"item {row}", f"item {firsts[int(MADE.labels[row])]}", "same")
        for row in range(n)
        if row not in firsts.values()
    ]


def test_imports_guide_the_run_are_no_questions_and_go_as_they_came() -> None:
    session, without = new_session(), new_session()
    answer(session, 3)
    before = session.snapshot().labels
    sequence = session.import_answers(known_pairs(60), "old labels.csv", who="ann")
    assert session.state.n_questions == 3
    assert (session.snapshot().labels >= 0).sum() > (before >= 0).sum()
    same_known(session, reopened(session))
    asked = answer_all(session)
    assert asked + 3 < answer_all(without)
    assert clustering_error(session.snapshot().labels, MADE.labels) == 0
    votes_of_event = session.state.book.votes_of_event
    assert {vote.source for vote in votes_of_event(sequence)} == {"old labels.csv"}
    session.retract(sequence, known_pairs(60)[0][:2])
    assert len(votes_of_event(sequence)) == len(known_pairs(60)) - 1
    session.retract(sequence)
    assert votes_of_event(sequence) == []
    same_known(session, reopened(session))


def test_contradictions_of_an_import_are_listed_before_anything_is_written() -> None:
    session = new_session()
    asked = answer(session, 8)
    wrong = [(q.item, q.comparator, other(truth(q))) for q in asked[:1]]
    chain = [("item 1", "item 2", "same"), ("item 2", "item 3", "same")]
    torn = [*chain, ("item 1", "item 3", "different")]
    before = kinds(session)
    with pytest.raises(AnswerError, match=r"(?s)nothing was imported: 1 sets.*old\.csv"):
        session.import_answers(torn, "old.csv")
    assert len(session.contradictions_with(torn, "old.csv")) == 1
    assert kinds(session) == before
    with pytest.raises(InvalidInputError, match="answer 2: 'stranger' is not a key"):
        session.import_answers([*chain[:1], ("item 1", "stranger", "same")], "old.csv")
    session.import_answers(torn, "old.csv", despite_contradictions=True)
    assert [t.kind for t in session.trouble] == ["contradiction"]
    session.import_answers(wrong, "other.csv", despite_contradictions=True)
    assert sorted(t.kind for t in session.trouble) == ["contradiction", "tie"]
    same_known(session, reopened(session))


# -- parameters ----------------------------------------------------------------------------------


def test_the_budget_stops_the_questions_and_a_larger_one_goes_on() -> None:
    session = new_session(max_questions=5)
    assert answer_all(session) == 5
    assert session.progress().ended == "the budget of 5 questions is spent"
    session = reopened(session)
    assert session.ask() == []
    session.set_parameters(max_questions=7)
    assert answer_all(session) == 2
    session.set_parameters(max_questions=None)
    answer_all(session)
    assert clustering_error(session.snapshot().labels, MADE.labels) == 0


def test_margin_k_and_method_may_change_and_answers_are_kept() -> None:
    session = new_session()
    answer(session, 10)
    for change in ({"margin": 0.5}, {"n_clusters": 3}, {"method": "everything"}, {"method": FAST}):
        session.set_parameters(**change)
        same_known(session, reopened(session))
        answer(session, 1)
    assert session.state.n_questions == 14
    before = kinds(session)
    with pytest.raises(InvalidInputError, match="n_clusters must be from 2"):
        session.set_parameters(n_clusters=1)
    with pytest.raises(InvalidInputError, match="got 'features'"):
        session.set_parameters(features="a,b")
    assert kinds(session) == before
    answer_all(session)
    assert clustering_error(session.snapshot().labels, MADE.labels) == 0


def test_a_finished_session_asks_nothing_until_something_happens() -> None:
    session = new_session()
    answer(session, 3)
    session.finish("ann")
    assert session.ask() == []
    assert reopened(session).progress().ended == "finished"
    session.undo()
    assert len(session.ask()) == 1


# -- disagreement --------------------------------------------------------------------------------


def test_a_refuted_margin_does_not_stop_the_session() -> None:
    """Points of one cluster inside another's hull: no margin of 1 allows these answers."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) * 0.1 + [6, 0]])
    labels = np.repeat([0, 1], 40)
    inside = int(np.argmin(np.sum(X[:40] ** 2, axis=1)))
    labels[inside] = 1
    session = Session.create(
        MemoryStore(), keys_of(80), X, parameters={"margin": 1.0, "method": FAST}, seed=0
    )

    def say(question):
        i, j = question.rows
        return "same" if labels[i] == labels[j] else "different"

    while questions := session.ask():
        session.tell(questions[0].id, say(questions[0]))
    assert session.snapshot().labels[inside] != session.snapshot().labels[79]
    for question in session.doubt(f"item {inside}"):
        if session.ask()[0].id == question.id:
            session.tell(question.id, say(question))
    (trouble,) = session.trouble
    assert trouble.kind == "refutation"
    assert trouble.answers
    while questions := session.ask():
        session.tell(questions[0].id, say(questions[0]))
    assert clustering_error(session.snapshot().labels, labels) == 0
    same_texts = [remedy.text for remedy in trouble.remedies]
    assert any(text == f"make item {inside} an exception" for text in same_texts)
    assert any(text.startswith("take back answer") for text in same_texts)
    before = kinds(session)
    effects = [session.preview(remedy) for remedy in session.trouble[0].remedies]
    assert kinds(session) == before
    assert len(effects) == len(session.trouble[0].remedies)
    exception = next(r for r in session.trouble[0].remedies if "exception" in r.text)
    session.apply(exception)
    assert session.trouble == []
    resumed = Session.open(store_of(session), keys_of(80), X)
    same_known(session, resumed)
    session.retract(session.state.n_events)
    assert session.trouble[0].kind == "refutation"


def test_the_preview_of_an_answer_is_what_the_answer_does() -> None:
    session = new_session()
    answer(session, 11)
    for verdict in ("same", "different", "unsure"):
        (question,) = session.ask()
        before = session.snapshot().labels
        effect = session.preview_answer(question.id, verdict)
        session.tell(question.id, verdict)
        after = session.snapshot().labels
        assert effect.decided == ((before < 0) & (after >= 0)).sum()
        assert effect.undecided == ((before >= 0) & (after < 0)).sum()
        session.undo()
        session.snapshot()


def test_a_contradiction_is_listed_with_its_answers_and_can_be_taken_back() -> None:
    session = new_session()
    answer_all(session)
    known = session.snapshot()
    members = np.flatnonzero((known.labels == 0) & (known.how == "asked"))[:2]
    pair = [f"item {row}" for row in members]
    implied = session.state.facts.get(pair_of(pair)) is None
    session.tell(question_id(pair), "different", who="ben")
    (trouble,) = session.trouble
    assert trouble.kind == ("contradiction" if implied else "tie")
    assert "ben" in {said.who for said in trouble.answers}
    same_known(session, reopened(session))
    mine = next(r for r in trouble.remedies if "(ben)" in r.text)
    assert str(session.preview(mine)) == "no label changes"
    session.apply(mine)
    assert session.trouble == []


def test_merging_asks_one_pair_and_splitting_the_chosen_members() -> None:
    session = new_session()
    answer_all(session)
    question = session.merge(0, 1)
    assert question is not None
    assert session.ask()[0].id == question.id
    session.tell(question.id, "different")
    assert session.trouble == []
    chosen = [f"item {row}" for row in np.flatnonzero(session.snapshot().labels == 2)[:3]]
    questions = session.split(2, chosen)
    assert {q.item for q in questions} <= set(chosen)
    assert session.ask()[0].id in {q.id for q in questions}
    with pytest.raises(InvalidInputError, match="cluster must be one of"):
        session.merge(0, 17)


def test_same_ends_a_doubt() -> None:
    session = new_session()
    answer_all(session)
    row = int(np.flatnonzero(session.snapshot().how == "proven")[0])
    questions = session.doubt(f"item {row}")
    assert len(questions) == 3
    own = session.snapshot().labels[row]
    assert session.snapshot().labels[questions[0].rows[1]] == own
    session.tell(questions[0].id, "same")
    assert session.ask() == []


# -- several people ------------------------------------------------------------------------------


def test_nobody_gets_a_question_that_somebody_else_looks_at() -> None:
    clock = Clock()
    session = new_session(clock=clock, method={**FAST, "batch": 4})
    answer(session, 6)
    seen: dict[str, str] = {}
    for who in ("ann", "ben", "cem"):
        for question in session.ask(who, count=2, lease_seconds=60):
            assert question.id not in seen
            seen[question.id] = who
    assert set(seen.values()) >= {"ann", "ben"}
    for who in ("ann", "ben"):
        again = session.ask(who, count=2, lease_seconds=60)
        assert {question.id for question in again} <= {i for i, w in seen.items() if w == who}


def test_nobody_waits_for_somebody_who_left() -> None:
    clock = Clock()
    session = new_session(clock=clock)
    (question,) = session.ask("ann", lease_seconds=60)
    (beside,) = session.ask("ben", lease_seconds=60)
    assert beside.item != question.item
    assert session.ask("ben", lease_seconds=60) == [beside]
    clock.move(61)
    (same,) = session.ask("ben", lease_seconds=60)
    assert same.id == question.id
    session.tell(same.id, truth(same), "ben")
    late = session.tell(question.id, truth(question), "ann")
    assert session.state.book.votes_of_event(late)[0].who == "ann"
    assert session.state.n_questions == 1
    (following,) = session.ask("ann", lease_seconds=60)
    session.release("ann")
    assert session.ask("ben", lease_seconds=60)[0].id == following.id


@pytest.mark.parametrize("n_people", [2, 5])
@pytest.mark.parametrize("margin", [1.0, "auto"])
def test_nobody_waits_for_another_and_all_ends_well(n_people: int, margin: float | str) -> None:
    """People who answer in any order get questions until every label is known."""
    session = new_session(clock=Clock(), margin=margin)
    rng = np.random.default_rng(n_people)
    looking_at: dict[str, SessionQuestion] = {}
    n_waits = 0
    while True:
        for who in (f"p{i}" for i in range(n_people)):
            if who not in looking_at and (found := session.ask(who, lease_seconds=60)):
                assert found[0].id not in {other.id for other in looking_at.values()}
                looking_at[who] = found[0]
            elif who not in looking_at and session.progress().n_labelled < 90:
                n_waits += 1
        if not looking_at:
            break
        who = str(rng.choice(sorted(looking_at)))
        question = looking_at.pop(who)
        session.tell(question.id, truth(question), who)
    assert session.progress().ended == "nothing is left to ask"
    assert clustering_error(session.snapshot().labels, MADE.labels) == 0
    assert n_waits == 0
    same_known(session, reopened(session))


def test_an_answer_that_was_put_ahead_of_its_turn_can_be_undone() -> None:
    session = new_session(clock=Clock())
    session.ask("ann", lease_seconds=60)
    (ahead,) = session.ask("ben", lease_seconds=60)
    before = session.snapshot().labels
    session.tell(ahead.id, truth(ahead), "ben")
    same_known(session, reopened(session))
    assert session.undo("ben") == replace(ahead, before=Verdict(truth(ahead)))
    np.testing.assert_array_equal(session.snapshot().labels, before)
    session.release("ann")
    session.release("ben")
    same_known(session, reopened(session))


def test_a_late_answer_that_nobody_asks_for_any_more_is_a_fact() -> None:
    session = new_session()
    answer(session, 4)
    (leased,) = session.ask("ann")
    session.undo()
    (again,) = session.ask()
    session.tell(again.id, "unsure")
    session.tell(leased.id, truth(leased), "ann")
    assert session.state.vote(pair_of((leased.item, leased.comparator)), "ann")
    same_known(session, reopened(session))


def test_the_majority_decides_and_a_tie_is_unsure_and_listed() -> None:
    session = new_session(opinions=3)
    (question,) = session.ask("ann")
    wrong = other(truth(question))
    session.tell(question.id, wrong, "ann")
    pair = pair_of((question.item, question.comparator))
    assert session.state.facts[pair].verdict.value == wrong
    session.tell(question.id, truth(question), "ben")
    assert session.state.facts[pair].verdict.value == "unsure"
    assert [trouble.kind for trouble in session.trouble] == ["tie"]
    same_known(session, reopened(session))
    assert question.id in {q.id for q in session.ask("cem", count=5)}
    session.tell(question.id, truth(question), "cem")
    assert session.state.facts[pair].verdict.value == truth(question)
    assert session.trouble == []
    assert session.state.n_questions == 1
    same_known(session, reopened(session))


def test_a_panel_is_asked_each_question_as_often_as_wanted() -> None:
    session = new_session(opinions=2)
    people = ("ann", "ben")
    asked = dict.fromkeys(people, 0)
    while sum(answer_one(session, who, asked) for who in people):
        pass
    assert asked["ann"] == asked["ben"] == session.state.n_questions
    assert clustering_error(session.snapshot().labels, MADE.labels) == 0


def answer_one(session: Session, who: str, asked: dict[str, int]) -> bool:
    questions = session.ask(who)
    if questions:
        session.tell(questions[0].id, truth(questions[0]), who)
        asked[who] += 1
    return bool(questions)


def test_undo_takes_back_ones_own_last_answer() -> None:
    session = new_session(method={**FAST, "batch": 4})
    answer(session, 6)
    (mine,) = session.ask("ann", lease_seconds=60)
    session.tell(mine.id, truth(mine), "ann")
    (theirs,) = session.ask("ben", lease_seconds=60)
    session.tell(theirs.id, truth(theirs), "ben")
    undone = session.undo("ann")
    assert undone is not None
    assert undone.id == mine.id
    assert session.ask("ann")[0].id == mine.id
    assert session.undo("cem") is None
    assert session.state.n_questions == 7
    same_known(session, reopened(session))


@pytest.mark.parametrize("parallel", [1, 4])
def test_the_async_driver_finishes_and_keeps_what_was_answered_before_an_error(parallel) -> None:
    session = new_session(method={**FAST, "batch": 4})
    left = 9

    async def failing(question):
        nonlocal left
        await asyncio.sleep(0)
        left -= 1
        if left < 0:
            raise RuntimeError("the line went dead")
        return truth(question)

    async def answering(question):
        await asyncio.sleep(0)
        return truth(question)

    with pytest.raises(RuntimeError, match="went dead"):
        asyncio.run(drive_async(session, failing, parallel=parallel))
    assert session.state.n_questions >= 9 - parallel
    session = reopened(session)
    found = asyncio.run(drive_async(session, answering, parallel=parallel))
    assert clustering_error(found.labels, MADE.labels) == 0
