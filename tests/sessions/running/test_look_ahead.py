"""Looking ahead: what a run would ask if nobody could place the items that others look at."""

from samecluster.sessions.question import question_id
from samecluster.sessions.running.engine import Engine
from samecluster.sessions.running.look_ahead import LookAhead
from tests.cases.session_cases import FAST, answer, instance, keys_of, new_session

MADE = instance(45)
MADE_KEYS = keys_of(45)


def engine_of(session) -> Engine:
    engine = Engine(MADE.X)
    engine.follow(session.state)
    return engine


def test_pairs_are_about_other_items_and_the_first_run_is_left_alone() -> None:
    session = new_session(MADE)
    answer(session, 4, MADE)
    engine, look_ahead = engine_of(session), LookAhead()
    pending = engine.run.pending
    looked_at = session.ask()[0].item
    row = session.state.items.row_of[looked_at]
    (first, *_) = look_ahead.looks(engine, session.state, [looked_at])
    assert first.shown[0] != row
    assert engine.run.pending == pending
    (further, *_) = look_ahead.looks(engine, session.state, [looked_at, MADE_KEYS[first.shown[0]]])
    assert further.shown[0] not in (row, first.shown[0])


def test_the_second_run_begins_again_with_an_answer_and_goes_on_for_who_looks(monkeypatch) -> None:
    session = new_session(MADE)
    answer(session, 4, MADE)
    engine, look_ahead = engine_of(session), LookAhead()
    made = []

    def fresh(self, skipped=()):
        made.append(frozenset(skipped))
        return Engine(MADE.X, None, skipped)

    monkeypatch.setattr(Engine, "fresh", fresh)
    looked_at = session.ask()[0].item
    first, second, *_ = look_ahead.looks(engine, session.state, [looked_at])
    assert next(look_ahead.looks(engine, session.state, iter([looked_at]))) == first
    both = [looked_at, MADE_KEYS[first.shown[0]]]
    assert next(look_ahead.looks(engine, session.state, both)) == second
    assert made == [{looked_at}]
    answer(session, 1, MADE)
    engine.follow(session.state)
    next(look_ahead.looks(engine, session.state, [looked_at]))
    assert len(made) == 2


def test_nothing_is_asked_ahead_of_an_audit() -> None:
    session = new_session(MADE, audit=(0.05, 0.9), max_questions=1_000)
    while session.snapshot().audit is None:
        answer(session, 1, MADE)
    looked_at = session.ask()[0].item
    assert not [*LookAhead().looks(engine_of(session), session.state, [looked_at])]


def test_answers_that_refute_a_margin_on_the_way_are_no_error_for_who_asks() -> None:
    """A wrong answer shows only once the second run has gone past what others look at."""
    made = instance(60, 2, 42)
    session = new_session(made, method={**FAST, "batch": 4}, looks="auto")
    same = [(41, 20), (44, 55), (2, 55), (43, 55), (54, 32), (59, 41), (39, 32), (49, 41)]
    same += [(52, 32), (16, 32), (48, 10), (47, 32), (27, 20)]
    for pair, verdict in [((47, 20), "different"), *((pair, "same") for pair in same)]:
        session.tell(question_id(f"item {row}" for row in pair), verdict)
    engine = Engine(made.X)
    engine.follow(session.state)
    ahead = LookAhead()
    assert [*ahead.looks(engine, session.state, ["item 48"])]
    assert ahead._engine is not None
    assert ahead._engine.refutation is not None, "the premise of this test"
