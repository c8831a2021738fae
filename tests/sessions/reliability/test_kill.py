"""kill -9 at random moments of a labelling run: nothing acknowledged is lost, nothing doubled."""

import multiprocessing
import os
import random
import time
from multiprocessing.context import ForkServerContext
from pathlib import Path

import numpy as np
import pytest

from samecluster.sessions.question import question_id
from samecluster.sessions.session import Session
from samecluster.sessions.storage.sqlite import SqliteStore
from tests.cases.session_cases import instance, keys_of
from tests.sessions.reliability.labelling import N, acknowledged, label

KILLS = 300 if os.environ.get("SAMECLUSTER_TESTS") == "long" else 12


@pytest.fixture(scope="module")
def quick_start() -> ForkServerContext:
    """Processes that need not import everything each time they are started again."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.sessions.reliability.labelling"])
    return context


def run_and_kill(context, path: Path, seed: int, chance: random.Random) -> bool:
    """Start the program and kill it at some moment; False if it was done before."""
    process = context.Process(target=label, args=(path, seed))
    enough = len(acknowledged(path)) + chance.randrange(4)
    process.start()
    while process.is_alive() and len(acknowledged(path)) < enough:
        time.sleep(0.0005)
    time.sleep(chance.random() * chance.choice([0.0, 0.01, 0.06]))
    process.kill()
    process.join()
    assert process.exitcode in (0, -9), "the program failed by itself"
    return bool(process.exitcode == -9)


def outcome(path: Path, seed: int) -> tuple[list[tuple[str, str]], np.ndarray]:
    """All answers in the file, and the labels."""
    with Session.open(SqliteStore(path), keys_of(N), instance(N, 3, seed).X) as session:
        said = [(question_id(one.items), one.verdict.value) for one in session.state.answers()]
        return said, session.snapshot().labels


def test_killed_at_random_moments(tmp_path, quick_start) -> None:
    chance = random.Random(0)
    kills = sessions = acknowledgements = unheard = 0
    while kills < KILLS:
        seed, sessions = sessions, sessions + 1
        path = tmp_path / f"{seed}.samecluster"
        while run_and_kill(quick_start, path, seed, chance):
            kills += 1
        said, labels = outcome(path, seed)
        assert len(said) == len({pair for pair, _ in said}), "an answer was doubled"
        assert set(acknowledged(path)) <= set(said), "an acknowledged answer was lost"
        whole = tmp_path / f"{seed} whole.samecluster"
        label(whole, seed)
        said_whole, labels_whole = outcome(whole, seed)
        assert said == said_whole
        np.testing.assert_array_equal(labels, labels_whole)
        acknowledgements += len(acknowledged(path))
        unheard += len(said) - len(acknowledged(path))
    print(
        f"{kills} kills in {sessions} sessions: {acknowledgements} acknowledged answers, 0 lost, "
        f"0 doubled; {unheard} were committed when the kill came before the acknowledgement; "
        "all labels as in an uninterrupted run"
    )
