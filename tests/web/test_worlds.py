"""Many worlds, one per seed, in each of which something else goes wrong at another moment."""

import os
from collections import Counter
from typing import Any

import pytest

from samecluster.sessions.running.leases import Leases
from samecluster.sessions.state.vote_book import VoteBook
from samecluster.sessions.state.votes import Vote
from samecluster.sessions.storage.session_file import SessionFile
from tests.cases.campaign import runs
from tests.web.world import run_world

ONE = os.environ.get("SAMECLUSTER_WORLD")
TOGETHER = 50
"""Worlds per test, so that tests run beside each other: 200 in all, 20,000 in `make test-long`."""


@pytest.mark.parametrize("part", range(runs(4, 400) if ONE is None else 1))
def test_no_world_loses_an_acknowledged_answer(part: int) -> None:
    first = part * TOGETHER
    seeds = range(first, first + TOGETHER) if ONE is None else [int(ONE)]
    counts: Counter[str] = Counter()
    for seed in seeds:
        world = run_world(seed)
        counts += world.counts
        counts["acknowledged"] += len(world.acknowledged)
    told = ", ".join(f"{number:,} {what}" for what, number in sorted(counts.items()))
    print(f"{len(seeds)} worlds from {seeds[0]:,} ({told}): 0 answers lost, 0 doubled")
    if ONE is None:
        for what in (
            "starts",
            "kills",
            "full disks",
            "files moved",
            "other writers",
            "status 503",
            "replies",
        ):
            assert counts[what], f"no world had {what}"


def _forgets_whose(book: VoteBook, who: str | None, key: str) -> Vote | None:
    del who
    return next((vote for (_, one), vote in book._vote_of_key.items() if one == key), None)


FAULTS: dict[str, tuple[type, str, Any]] = {
    "a file that is gone is not missed": (SessionFile, "trouble", lambda _: ""),
    "keys belong to everybody": (VoteBook, "vote_of_key", _forgets_whose),
    "a lease is not looked at": (Leases, "is_held_by_other", lambda *_: False),
}


def _run_worlds(n: int) -> None:
    for seed in range(n):
        run_world(seed)


@pytest.mark.parametrize("fault", FAULTS)
def test_worlds_notice_faults_that_there_were(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    owner, name, replacement = FAULTS[fault]
    monkeypatch.setattr(owner, name, replacement)
    with pytest.raises((AssertionError, pytest.fail.Exception, IndexError)) as noticed:
        _run_worlds(40)
    assert any("SAMECLUSTER_WORLD=" in note for note in noticed.value.__notes__)


@pytest.mark.parametrize("seed", [221, 2300, 4853])
def test_worlds_that_failed_once(seed: int) -> None:
    """A file lost twice, and written to by another program in between. Two checks of ours that were
    wrong: what was said in a look is said again about a pair; a release whose reply was lost."""
    run_world(seed)


def test_the_same_seed_is_the_same_world() -> None:
    one, two = run_world(11), run_world(11)
    assert one.counts == two.counts
    assert [(event.kind, event.who, event.body) for event in one.log] == [
        (event.kind, event.who, event.body) for event in two.log
    ]
