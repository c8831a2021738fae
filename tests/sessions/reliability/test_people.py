"""Eight people at once who come, go, err and undo, and a server that dies: nothing is doubled, lost
or waited for for ever."""

import os
import random

import pytest

from samecluster import clustering_error
from samecluster.sessions.question import SessionQuestion, question_id
from samecluster.sessions.session import Session
from samecluster.sessions.storage.sqlite import SqliteStore
from tests.cases.session_cases import FAST, Clock, instance, keys_of, truth

SEEDS = 40 if os.environ.get("SAMECLUSTER_TESTS") == "long" else 1
LEASE = 60.0
PEOPLE = [f"person {number}" for number in range(8)]
N = 150


class Office:
    """A server with its clock, and what is on everybody's screen."""

    def __init__(self, path, chance: random.Random) -> None:
        self.path, self.chance, self.clock = path, chance, Clock()
        self.made = instance(N, 4, 2)
        self.screens: dict[str, tuple[SessionQuestion, float]] = {}
        self.acknowledged: dict[tuple[str, str], str] = {}
        self.restarts = self.unfinished = 0
        self.session = Session.create(
            SqliteStore(path, create=True),
            keys_of(N),
            self.made.X,
            parameters={"margin": 1.0, "method": {**FAST, "batch": 8}},
            clock=self.clock,
            seed=5,
        )

    def restart(self) -> None:
        """As after kill -9: what was not committed is gone, leases too; screens are still there."""
        self.session.close()
        self.session = Session.open(
            SqliteStore(self.path), keys_of(N), self.made.X, clock=self.clock
        )
        self.screens.clear()
        self.restarts += 1

    def step(self, who: str) -> bool:
        """One person does one thing; False if there was nothing for them to do."""
        self.clock.move(self.chance.random() * 2)
        if who in self.screens:
            self.use_screen(who)
            return True
        questions = self.session.ask(who, lease_seconds=LEASE)
        if questions:
            self.look(who, questions[0])
        return bool(questions)

    def look(self, who: str, question: SessionQuestion) -> None:
        now = self.clock.now.timestamp()
        for other, (shown, until) in self.screens.items():
            assert shown.id != question.id or until <= now or other == who, "leased twice"
        self.screens[who] = (question, now + LEASE)

    def use_screen(self, who: str) -> None:
        question, _ = self.screens.pop(who)
        luck = self.chance.random()
        if luck < 0.05:
            self.unfinished += 1  # leaves with the question on the screen
        elif luck < 0.10:
            again = self.session.undo(who, lease_seconds=LEASE)
            if again is not None:
                del self.acknowledged[(who, again.id)]
        else:
            verdict = "unsure" if luck < 0.15 else truth(question, self.made)
            self.session.tell(question.id, verdict, who, key=f"{who} {self.clock.now}")
            self.acknowledged[(who, question.id)] = verdict


@pytest.mark.parametrize("seed", range(SEEDS))
def test_eight_people_at_once(tmp_path, seed) -> None:
    office = Office(tmp_path / "s.samecluster", random.Random(seed))
    idle = 0
    while idle < 200:  # two leases' worth of steps in which nobody has anything to do
        if office.chance.random() < 0.02 and office.restarts < 5:
            office.restart()
        idle = 0 if office.step(office.chance.choice(PEOPLE)) else idle + 1
    session = office.session
    said = [(str(one.who), question_id(one.items)) for one in session.state.answers()]
    assert len(said) == len(set(said))
    assert set(said) == set(office.acknowledged)
    assert session.progress().ended == "nothing is left to ask"
    known = session.snapshot().labels
    assert clustering_error(known[known >= 0], office.made.labels[known >= 0]) == 0
    print(
        f"8 people, {office.restarts} restarts, {len(said)} answers, {office.unfinished} left "
        "mid-question: 0 doubled, 0 lost, 0 questions leased twice"
    )
    session.close()
