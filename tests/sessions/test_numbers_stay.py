"""Cluster numbers stay through random updates, merges, splits, undos, redos, imports and names."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from samecluster import recover
from samecluster.errors import SameClusterError
from samecluster.instances import make_ellipsoids
from samecluster.questions.pair import Verdict
from samecluster.recovery.result.how import How
from samecluster.sessions.question import question_id
from samecluster.sessions.session import Session
from samecluster.sessions.storage.store import MemoryStore
from tests.cases.campaign import LONG
from tests.cases.session_cases import Clock, store_of

MADE = make_ellipsoids(90, 2, 6, random_state=3)
STEPS = 1000 if LONG else 110  # of which about 40 are no answers to the plan


@dataclass
class Life:
    """A session and somebody who does things at random; some of their answers are wrong."""

    seed: int
    parameters: dict[str, Any]
    rows: list[int] = field(default_factory=lambda: list(range(60)))
    names: dict[int, str] = field(default_factory=dict)
    shown: dict[int, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.session = Session.create(
            MemoryStore(), self.keys, self.X, parameters=self.parameters, clock=Clock(), seed=1
        )

    @property
    def keys(self) -> list[str]:
        return [f"item {row}" for row in self.rows]

    @property
    def X(self) -> Any:
        return MADE.X[self.rows]

    def said(self, one: int, two: int) -> str:
        same = MADE.labels[self.rows[one]] == MADE.labels[self.rows[two]]
        return "same" if same ^ (self.rng.random() < 0.04) else "different"

    def answer(self) -> None:
        for question in self.session.ask():
            self.session.tell(question.id, self.said(*question.rows))

    def undo(self) -> None:
        self.session.undo()

    def redo(self) -> None:
        """Take back, and say the same again."""
        last = self.session.state.book.last_answer(None)
        if last is not None and self.session.undo() is not None:
            self.look()
            self.session.tell(question_id(last.items), last.verdict)

    def retract(self) -> None:
        votes = self.session.state.answers()
        if votes:
            self.session.retract(self.rng.choice(votes).sequence)

    def pair(self) -> None:
        """Anything about two items: joins clusters, parts them, or repeats what is known."""
        one, two = self.rng.sample(self.keys, 2)
        self.session.tell(question_id((one, two)), self.rng.choice(["same", "different"]))

    def merge(self) -> None:
        anchors = self.session.anchors()
        if len(anchors) > 1:
            one, two = self.rng.sample([*anchors, *self.session.aliases()], 2)
            question = self.session.merge(one, two)
            if question is not None:
                self.session.tell(question.id, "same")

    def update(self) -> None:
        gone = set(self.rng.sample(self.rows, self.rng.randint(0, 6)))
        new = [row for row in range(len(MADE.X)) if row not in self.rows]
        added = self.rng.sample(new, min(len(new), self.rng.randint(0, 6)))
        kept = [row for row in self.rows if row not in gone]
        self.rng.shuffle(kept)
        self.rows = kept + added
        self.session.update(self.keys, self.X)

    def resume(self) -> None:
        self.session = Session.open(store_of(self.session), self.keys, self.X, clock=Clock())

    def bring_in(self) -> None:
        one, two = self.rng.sample(range(len(self.rows)), 2)
        verdict = Verdict(self.said(one, two))
        self.session.import_answers(
            [(self.keys[one], self.keys[two], verdict)], "x", despite_contradictions=True
        )

    def name(self) -> None:
        if self.session.anchors():
            number = self.rng.choice(sorted(self.session.anchors()))
            self.names[number] = f"name {self.rng.randrange(10**6)}"
            self.session.name(number, self.names[number])

    def look(self) -> "Seen":
        """What somebody sees who looks now."""
        seen = Seen.of(self.session)
        for key, number in seen.number_of.items():
            self.shown.setdefault(number, set()).add(key)
        return seen

    def step(self) -> Callable[[], None]:
        rare = [self.update, self.resume, self.bring_in, self.name]
        others = [self.undo, self.redo, self.retract, self.pair, self.merge]
        return self.rng.choice([*[self.answer] * 24, *others * 2, *rare])


@dataclass(frozen=True)
class Seen:
    """Asked items and the numbers that somebody has seen."""

    number_of: dict[str, int]
    oldest: dict[int, str]
    aliases: dict[int, int]

    @classmethod
    def of(cls, session: Session) -> "Seen":
        known, births = session.snapshot(), session.state.book.births
        rows = np.flatnonzero((known.how_codes == How.ASKED) & (known.labels >= 0)).tolist()
        keys = session.state.items.keys
        number_of = {keys[row]: int(known.labels[row]) for row in rows}
        assert set(number_of.values()) <= session.anchors().keys()
        oldest: dict[int, str] = {}
        for key in sorted(number_of, key=lambda key: births[key]):
            oldest.setdefault(number_of[key], key)
        return cls(number_of, oldest, session.aliases())


def changes_without_reason(before: Seen, after: Seen, shown: dict[int, set[str]]) -> list[str]:
    """Numbers whose asked members are together as before, and go by another number now.

    The reason must be that they were joined with an item that was ``shown`` with a lower number, of
    which theirs is an alias then, or that this has ended.
    """
    found = []
    for number in before.oldest:
        members = [k for k, n in before.number_of.items() if n == number and k in after.number_of]
        now = {after.number_of[key] for key in members}
        if len(now) != 1 or now == {number}:
            continue
        (other,) = now
        joined = {key for key, number in after.number_of.items() if number == other}
        is_merge = other < number and after.aliases.get(number) == other
        has_ended = before.aliases.get(other) == number
        if not ((is_merge and joined & shown[other]) or has_ended):
            found.append(f"{number} became {other}: {members}")
    return found


@pytest.mark.parametrize(
    "parameters", [{"margin": 0.5}, {}, {"method": {"name": "predict", "expected_error": 0.05}}]
)
@pytest.mark.parametrize("seed", range(2))
def test_no_number_changes_without_a_reason(seed: int, parameters: dict[str, Any]) -> None:
    life = Life(seed, parameters)
    for number in range(STEPS):
        before, step = life.look(), life.step()
        try:
            step()
        except SameClusterError:
            continue  # an operation that is not possible now
        after = life.look()
        assert not changes_without_reason(before, after, life.shown), (number, step.__name__)
        for alias, now in after.aliases.items():
            assert life.session.cluster(alias) == now == life.session.cluster(now)
    assert max(life.shown) < 40, "numbers are not used up"


def test_what_is_exported_goes_by_the_name_of_the_older_cluster_after_a_merge() -> None:
    life = Life(0, {"margin": 0.5})
    for _ in range(30):
        for question in life.session.ask():
            same = MADE.labels[question.rows[0]] == MADE.labels[question.rows[1]]
            life.session.tell(question.id, "same" if same else "different")
    first, second = sorted(life.session.anchors())[:2]
    life.session.name(second, "the second")
    asked = life.session.merge(first, second)
    assert asked is not None
    members = Seen.of(life.session).number_of
    event = life.session.tell(asked.id, "same")
    assert life.session.aliases() == {second: first}
    assert life.session.names() == {first: "the second"}
    life.session.name(second, "both")  # the alias is understood
    assert life.session.names() == {first: "both"}
    life.session.retract(event)
    assert life.session.aliases() == {}
    assert Seen.of(life.session).number_of == members
    assert life.session.names() == {first: "both", second: "the second"}


@pytest.mark.parametrize("declared", [{}, {"margin": 0.5}, {"method": "predict"}])
def test_numbers_of_results_stay_with_more_answers(declared: dict[str, Any]) -> None:
    """Where groups of a run that a budget ended turn out to be one, those after them move up."""

    def same(i: int, j: int) -> bool:
        return bool(MADE.labels[i] == MADE.labels[j])

    answers: tuple[Any, ...] = ()
    before = None
    for n in (8, 14, 20, 30, 45, 70, 200):
        left = max(n - len(answers), 1)
        found = recover(
            MADE.X, same, answers=answers, max_questions=left, random_state=n, **declared
        )
        answers = found.answers
        if before is not None:
            both = (found.how_codes == How.ASKED) & (before.how_codes == How.ASKED)
            pairs = set(zip(before.labels[both].tolist(), found.labels[both].tolist(), strict=True))
            merged = len(pairs) > len({two for _, two in pairs})
            assert merged or all(one == two for one, two in pairs), (n, pairs)
        before = found
