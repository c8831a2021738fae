"""The state: what a run begins with, what it is told, and when it has to begin again."""

from dataclasses import replace

import pytest

from samecluster.errors import SchemaError
from samecluster.sessions.state.state import State
from samecluster.sessions.storage.events import Event
from tests.cases.session_cases import AT, answer_event, opened_event


def state_of(*events: Event) -> State:
    numbered = [opened_event(6, margin=1.0), *events]
    return State(replace(event, sequence=n) for n, event in enumerate(numbered, start=1))


def then(state: State, event: Event) -> None:
    state.apply(replace(event, sequence=state.n_events + 1))


def item(number: int) -> str:
    return f"item {number}"


def plan(one: int, two: int, verdict: str = "same", **more: str) -> Event:
    return answer_event(item(one), item(two), verdict, **more)


def undo(sequence: int) -> Event:
    return Event("retracted", AT, "ann", {"sequence": sequence, "undo": True})


def told(state: State) -> list[tuple[str, str]]:
    return [fact.items for fact in state.run_facts.told]


def test_answers_to_the_plan_are_told_in_order_in_one_epoch() -> None:
    state = state_of(plan(0, 1), plan(2, 1, "different"))
    assert told(state) == [(item(0), item(1)), (item(2), item(1))]
    assert (state.epoch, state.run_facts.initial) == (0, [])


def test_the_last_fact_can_be_undone_and_told_again_in_the_same_epoch() -> None:
    state = state_of(plan(0, 1), plan(2, 1), undo(3))
    assert told(state) == [(item(0), item(1))]
    assert state.run_facts.next_undone_pair() == (item(1), item(2))
    then(state, plan(2, 1))
    assert (len(state.run_facts.told), state.run_facts.undone, state.epoch) == (2, [], 0)


def test_another_verdict_after_an_undo_forgets_what_else_was_undone() -> None:
    state = state_of(plan(0, 1), plan(2, 1), undo(3), undo(2))
    assert len(state.run_facts.undone) == 2
    then(state, plan(0, 1, "different"))
    assert (state.run_facts.undone, state.epoch) == ([], 0)


def test_a_retraction_of_an_older_fact_begins_an_epoch_with_all_others() -> None:
    state = state_of(plan(0, 1), plan(2, 1), Event("retracted", AT, None, {"sequence": 2}))
    assert (state.epoch, told(state)) == (1, [])
    assert [fact.items for fact in state.run_facts.initial] == [(item(2), item(1))]
    assert state.spent_before == {"max_questions": 1, "max_looks": 1}


@pytest.mark.parametrize(
    ("role", "is_told", "is_early", "is_unused", "epoch"),
    [
        ("plan", True, False, False, 0),
        ("ahead", True, True, False, 0),
        ("beside", False, False, True, 0),
        ("extra", False, False, False, 1),
    ],
)
def test_a_role_says_what_becomes_of_an_answer(role, is_told, is_early, is_unused, epoch) -> None:
    state = state_of(plan(0, 1, role=role))
    pair = (item(0), item(1))
    assert (pair in told(state)) is is_told
    assert (pair in state.run_facts.early) is is_early
    assert (pair in state.run_facts.unused) is is_unused
    assert state.epoch == epoch
    assert pair in state.facts, "no answer is lost, whatever the run does with it"


def test_a_second_vote_for_the_same_changes_nothing_for_the_run() -> None:
    state = state_of(plan(0, 1), plan(2, 1))
    then(state, plan(0, 1, who="ben", role="beside"))
    assert (len(state.run_facts.told), state.run_facts.unused, state.epoch) == (2, set(), 0)
    then(state, plan(0, 1, "different", who="cem", role="beside"))
    then(state, plan(0, 1, "different", who="dot", role="beside"))
    assert state.facts[item(0), item(1)].verdict.value == "unsure"
    assert state.epoch == 1


def test_opinions_do_not_concern_the_run_and_other_parameters_do() -> None:
    state = state_of(plan(0, 1))
    then(state, Event("parameters", AT, None, {"parameters": {"opinions": 2}}))
    assert state.epoch == 0
    then(state, Event("parameters", AT, None, {"parameters": {"margin": 0.5}}))
    assert state.epoch == 1
    assert state.parameters == {"margin": 0.5, "opinions": 2}


@pytest.mark.parametrize("sequence", [0, 1, 2, 4])
def test_an_event_out_of_order_is_refused(sequence) -> None:
    state = state_of(plan(0, 1))
    before = state.copy()
    with pytest.raises(SchemaError, match="cannot follow event 2"):
        state.apply(replace(plan(2, 1), sequence=sequence))
    with pytest.raises(SchemaError, match="cannot follow event 2"):
        state.apply(replace(opened_event(6), sequence=3))
    assert state == before


def test_a_copy_is_equal_and_changes_alone() -> None:
    state = state_of(plan(0, 1), plan(2, 1))
    before, twin = state.copy(), state.copy()
    assert twin == state
    for event in (
        plan(3, 1),
        undo(4),
        Event("named", AT, None, {"anchor": item(0), "number": 0, "text": "cats"}),
    ):
        then(twin, event)
        assert twin != state
    assert state == before
