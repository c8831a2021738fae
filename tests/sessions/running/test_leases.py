"""Leases: one holder per pair, until a time; nothing outlives it."""

from datetime import UTC, datetime, timedelta

import pytest

from samecluster.sessions.running.leases import Leases
from samecluster.sessions.state.votes import Pair

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
AB: Pair = ("a", "b")
CD: Pair = ("c", "d")


@pytest.fixture
def leases() -> Leases:
    leases = Leases()
    leases.take(AB, "ann", NOW + timedelta(seconds=60))
    leases.take(CD, None, NOW + timedelta(seconds=30))
    return leases


def test_a_pair_is_held_against_others_until_the_time_is_up(leases) -> None:
    for seconds, is_held in ((0, True), (59.9, True), (60, False), (61, False)):
        now = NOW + timedelta(seconds=seconds)
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
    leases.take(AB, "ann", NOW + timedelta(seconds=120))
    assert leases.held_by("ann", NOW + timedelta(seconds=100)) == [AB]
    leases.take(AB, "ben", NOW + timedelta(seconds=180))
    assert leases.held_by("ann", NOW) == []
    assert leases.held_by("ben", NOW) == [AB]


def test_leases_on_items_that_went_end(leases) -> None:
    leases.end_missing({"a", "c", "d"})
    assert leases.held_by("ann", NOW) == []
    assert leases.held_by(None, NOW) == [CD]
