"""Leases: one holder per pair, until a time; nothing outlives it."""

import pytest

from samecluster.sessions.running.leases import ElapsedTime, Leases
from samecluster.sessions.state.votes import Pair
from tests.cases.session_cases import Clock, new_session

NOW = 1000.0
AB: Pair = ("a", "b")
CD: Pair = ("c", "d")


@pytest.fixture
def leases() -> Leases:
    leases = Leases()
    leases.take(AB, "ann", NOW + 60)
    leases.take(CD, None, NOW + 30)
    return leases


def test_a_pair_is_held_against_others_until_the_time_is_up(leases) -> None:
    for seconds, is_held in ((0, True), (59.9, True), (60, False), (61, False)):
        now = NOW + seconds
        assert leases.is_held_by_other("ben", AB, now) is is_held
        assert leases.is_held_by_other(None, AB, now) is is_held
        assert not leases.is_held_by_other("ann", AB, now)
        assert leases.held_by("ann", now) == ([AB] if is_held else [])
        assert (AB in leases.held_by_others("ben", now)) is is_held


def test_nobody_in_particular_holds_like_everybody_else(leases) -> None:
    assert leases.is_held_by_other("ann", CD, NOW)
    assert leases.held_by(None, NOW) == [CD]
    assert leases.held_by_others("ann", NOW) == [CD]


def test_only_its_holder_ends_a_lease(leases) -> None:
    leases.end(AB, "ben")
    leases.end(("x", "y"), "ben")
    assert leases.held_by("ann", NOW) == [AB]
    leases.end(AB, "ann")
    assert leases.held_by("ann", NOW) == []
    leases.end_all(None)
    assert leases.held_by_others("ann", NOW) == []


def test_taking_again_renews_and_another_may_take_what_ran_out(leases) -> None:
    leases.take(AB, "ann", NOW + 120)
    assert leases.held_by("ann", NOW + 100) == [AB]
    leases.take(AB, "ben", NOW + 180)
    assert leases.held_by("ann", NOW) == []
    assert leases.held_by("ben", NOW) == [AB]


def test_leases_on_items_that_went_end(leases) -> None:
    leases.end_missing({"a", "c", "d"})
    assert leases.held_by("ann", NOW) == []
    assert leases.held_by(None, NOW) == [CD]


def test_time_that_a_clock_goes_back_does_not_count() -> None:
    clock = Clock()
    elapsed = ElapsedTime(clock)
    for seconds, expected in ((5, 5), (-86_400, 5), (7, 12), (0, 12), (-1, 12), (86_400, 86_412)):
        clock.move(seconds)
        assert elapsed() == expected


def test_a_lease_runs_out_although_the_clock_was_set_back() -> None:
    clock = Clock()
    session = new_session(clock=clock, method="everything")
    (question,) = session.ask("ann", lease_seconds=120)
    assert session.ask("ben", lease_seconds=1)[0].id != question.id
    clock.move(-86_400)
    assert session.ask("ben", lease_seconds=1)[0].id != question.id
    clock.move(119)
    assert session.ask("ben", lease_seconds=1)[0].id != question.id
    clock.move(1)
    assert session.ask("ben", lease_seconds=1)[0].id == question.id
