"""Public numbers: an anchor keeps its number, a new cluster gets one that was never used."""

from dataclasses import replace

import numpy as np
import pytest

from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery
from samecluster.sessions.state.items import Changes
from samecluster.sessions.state.numbering import NumberedRecovery, new_anchors, numbered
from samecluster.sessions.state.state import State
from tests.cases.session_cases import answer_event, opened_event

N = 8


def state_of(pairs: str = "", **numbers: int) -> State:
    """A state in which pairs of rows such as "01 23" were said to be the same; numbers by row."""
    kept = {f"item {row[1:]}": number for row, number in numbers.items()}
    events = [
        opened_event(N),
        *(answer_event(f"item {two[0]}", f"item {two[1]}", "same") for two in pairs.split()),
    ]
    state = State(replace(event, sequence=n) for n, event in enumerate(events, start=1))
    state.numbers.update(kept)
    return state


def recovery_of(labels: list[int], asked: list[int]) -> Recovery:
    """Labels as a run has them; those of asked rows are asked, the others proven."""
    found = np.array(labels)
    how = np.where(found < 0, How.UNASSIGNED, How.PROVEN).astype(np.int8)
    how[asked] = How.ASKED
    rounds = np.zeros(len(found), dtype=np.int32)
    return Recovery(found, how, 0, (), rounds, (), np.zeros((len(found), 1)), "certify", 1.0, None)


def numbers_of(labels: list[int], asked: list[int], state: State) -> NumberedRecovery:
    return numbered(recovery_of(labels, asked), state)


def test_a_cluster_has_the_number_of_its_anchor_whatever_the_run_calls_it() -> None:
    state = state_of("01 23", r0=5, r2=3)
    found = numbers_of([0, 0, 1, 1, -1, -1, -1, -1], [0, 1, 2, 3], state)
    assert found.recovery.labels.tolist() == [5, 5, 3, 3, -1, -1, -1, -1]
    assert found.anchors == {5: "item 0", 3: "item 2"}
    assert found.new == {"item 1": 5, "item 3": 3}, "more anchors"
    other = numbers_of([1, 1, 0, 0, -1, -1, -1, -1], [0, 1, 2, 3], state)
    assert (other.recovery.labels == found.recovery.labels).all()


def test_a_new_cluster_gets_a_number_that_was_never_used_and_its_first_asked_item() -> None:
    state = state_of("45 01", r7=9)
    found = numbers_of([0, 0, 0, -1, 1, 1, -1, -1], [0, 1, 4, 5], state)
    new = {"item 4": 10, "item 5": 10, "item 0": 11, "item 1": 11}
    assert found.new == new, "item 4 turned up first"
    assert found.recovery.labels.tolist() == [11, 11, 11, -1, 10, 10, -1, -1]


def test_of_two_numbers_in_one_cluster_the_lower_stays() -> None:
    state = state_of("01 23", r0=4, r2=2)
    found = numbers_of([0, 0, 0, 0, -1, -1, -1, -1], [0, 1, 2, 3], state)
    assert found.anchors == {2: "item 2"}
    assert found.aliases == {4: 2}
    assert set(found.recovery.labels) == {2, -1}
    assert "item 0" not in found.new, "its number is there again if the answer is taken back"


def test_of_a_cluster_in_two_parts_that_with_the_oldest_anchor_keeps_the_number() -> None:
    state = state_of("01 23", r2=0, r0=0, r1=0)
    found = numbers_of([0, 0, 1, 1, -1, -1, -1, -1], [0, 1, 2, 3], state)
    assert found.recovery.labels.tolist() == [1, 1, 0, 0, -1, -1, -1, -1]
    assert found.new == {"item 0": 1, "item 1": 1, "item 3": 0}


def test_most_anchors_keep_a_number_whose_oldest_went_to_another_cluster() -> None:
    state = state_of("01 23", r0=0, r1=0, r2=1, r3=1, r4=1)
    found = numbers_of([0, 0, 0, 1, 1, -1, -1, -1], [0, 1, 2, 3, 4], state)
    assert found.recovery.labels.tolist() == [0, 0, 0, 1, 1, -1, -1, -1]
    assert found.new == {"item 2": 0}
    one_left = numbers_of([0, 0, 0, 0, 1, -1, -1, -1], [0, 1, 2, 3, 4], state)
    assert one_left.aliases == {1: 0}
    assert one_left.recovery.labels[4] == 2


def test_an_anchor_that_is_not_asked_any_more_comes_after_the_others() -> None:
    state = state_of("01", r5=0, r0=0)
    assert numbers_of([0, 0, -1, -1, -1, 0, -1, -1], [0, 1], state).new["item 5"] == 0
    state.numbers.pop("item 5")
    state.numbers["item 5"] = 0
    assert "item 5" not in numbers_of([0, 0, -1, -1, -1, 0, -1, -1], [0, 1], state).new


def test_an_asked_anchor_has_the_better_claim() -> None:
    state = state_of("23", r0=1, r2=2)
    found = numbers_of([0, 0, 0, 0, -1, -1, -1, -1], [2, 3], state)
    assert found.anchors == {2: "item 2"}


def test_an_anchor_without_a_label_claims_nothing() -> None:
    state = state_of("01", r6=0)
    found = numbers_of([0, 0, -1, -1, -1, -1, -1, -1], [0, 1], state)
    assert found.new == {"item 0": 1, "item 1": 1}


@pytest.mark.parametrize("how", ["removed", "changed"])
def test_a_lost_anchor_hands_its_number_to_an_item_that_answers_connect_with_it(how) -> None:
    state = state_of("01 12 34", r0=0, r3=1)
    lost = ("item 0", "item 3")
    changes = Changes((), lost, ()) if how == "removed" else Changes((), (), lost)
    assert new_anchors(state, changes, {}) == {"item 1": 0, "item 4": 1}
    all_gone = Changes((), ("item 0", "item 1", "item 2"), ())
    assert new_anchors(state, all_gone, {}) == {}
    other_has_one = state_of("01", r0=0, r1=1)
    gone = Changes((), ("item 0",), ())
    assert new_anchors(other_has_one, gone, {}) == {}
    assert new_anchors(other_has_one, gone, {1: 0}) == {"item 1": 0}, "1 is only an alias of 0"
    also_kept = state_of("01", r0=0, r1=1, r5=0)
    assert new_anchors(also_kept, gone, {1: 0}) == {}
