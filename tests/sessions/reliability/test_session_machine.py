"""Whatever people do and whenever the process dies: replaying the events gives the live state."""

import os
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from samecluster.errors import AnswerError
from samecluster.questions.pair import Verdict
from samecluster.sessions.question import question_id
from samecluster.sessions.session import Session
from samecluster.sessions.state.state import State
from samecluster.sessions.storage.store import MemoryStore
from tests.cases.session_cases import FAST, Clock, instance, same_known

N = 16
LEAST = 8
RUNS = 2_000 if os.environ.get("SAMECLUSTER_TESTS") == "long" else 40
PEOPLE = st.sampled_from([None, "ann", "ben"])
# A failing run of 20 steps is read easily; making it smaller takes minutes.
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
ROWS = st.integers(0, N - 1)
METHODS: dict[str, Any] = {
    "certify": FAST,
    "everything": "everything",
    "pairs": {**FAST, "batch": 3},
}


class SessionMachine(RuleBasedStateMachine):
    @initialize(method=st.sampled_from(sorted(METHODS)), budget=st.sampled_from([None, 6]))
    def begin(self, method: str, budget: int | None) -> None:
        self.made = instance(N, 3, 1)
        self.rows = {f"item {row}": self.made.X[row] for row in range(N)}
        self.store = MemoryStore()
        parameters = {"margin": 0.5, "method": METHODS[method], "max_questions": budget}
        self.session = Session.create(
            self.store, *self.data(), parameters=parameters, clock=Clock(), seed=3
        )

    def data(self) -> tuple[list[str], np.ndarray]:
        return list(self.rows), np.array(list(self.rows.values()))

    def truth(self, one: str, two: str) -> Verdict:
        labels = self.made.labels
        return Verdict.of(bool(labels[int(one.split()[1])] == labels[int(two.split()[1])]))

    def present(self, row: int) -> str:
        return list(self.rows)[row % len(self.rows)]

    @rule(who=PEOPLE, count=st.integers(1, 3))
    def answer(self, who: str | None, count: int) -> None:
        for question in self.session.ask(who, count=count):
            self.session.tell(question.id, self.truth(question.item, question.comparator), who)

    @rule(who=PEOPLE, verdict=st.sampled_from(Verdict))
    def answer_anyhow(self, who: str | None, verdict: Verdict) -> None:
        for question in self.session.ask(who):
            self.session.tell(question.id, verdict, who)

    @rule(who=PEOPLE, one=ROWS, two=ROWS, verdict=st.sampled_from(Verdict))
    def answer_late(self, who: str | None, one: int, two: int, verdict: Verdict) -> None:
        a, b = self.present(one), self.present(two)
        if a != b:
            first = self.session.tell(question_id((a, b)), verdict, who)
            assert self.session.tell(question_id((b, a)), verdict, who) == first

    @rule(who=PEOPLE)
    def flag(self, who: str | None) -> None:
        for question in self.session.ask(who):
            self.session.flag(question.id, "blurred", who)

    @rule(who=PEOPLE)
    def undo(self, who: str | None) -> None:
        last = self.session.state.book.last_answer(who)
        shown = self.session.undo(who)
        assert (shown is None) == (last is None)
        if shown is not None:
            assert [question.id for question in self.session.ask(who)] == [shown.id]

    @precondition(lambda self: any(True for _ in self.session.state.answers()))
    @rule(which=st.integers(0, 50))
    def retract(self, which: int) -> None:
        standing = list(self.session.state.answers())
        self.session.retract(standing[which % len(standing)].sequence)

    @rule(pairs=st.lists(st.tuples(ROWS, ROWS, st.booleans()), max_size=4))
    def import_answers(self, pairs: list[tuple[int, int, bool]]) -> None:
        named = [(self.present(one), self.present(two), right) for one, two, right in pairs]
        answers = [
            (a, b, self.truth(a, b) if right else "different") for a, b, right in named if a != b
        ]
        before = self.session.state.n_events
        try:
            self.session.import_answers(answers, "elsewhere")
        except AnswerError:
            assert self.session.state.n_events == before

    @rule(row=ROWS, moved=st.booleans())
    def update(self, row: int, moved: bool) -> None:
        key = f"item {row}"
        if key not in self.rows:
            self.rows[key] = self.made.X[row]
        elif moved:
            self.rows[key] = self.rows[key] + 1e-3
        elif len(self.rows) > LEAST:
            del self.rows[key]
        self.session.update(*self.data())

    @precondition(lambda self: self.session.state.set_aside())
    @rule()
    def confirm(self) -> None:
        items = {item for said in self.session.state.set_aside() for item in said.items}
        self.session.confirm(items & self.rows.keys())

    @rule(more=st.integers(1, 5))
    def larger_budget(self, more: int) -> None:
        self.session.set_parameters(max_questions=self.session.state.n_questions + more)

    @rule(margin=st.sampled_from([0.2, 0.5, 2.0]))
    def other_margin(self, margin: float) -> None:
        self.session.set_parameters(margin=margin)

    @rule(row=ROWS)
    def make_exception(self, row: int) -> None:
        self.session.make_exception(self.present(row))

    @rule(which=st.integers(0, 5), text=st.text(max_size=3))
    def name(self, which: int, text: str) -> None:
        anchors = self.session.anchors()
        if anchors:
            number, before = sorted(anchors)[which % len(anchors)], self.session.snapshot()
            self.session.name(number, text)
            assert self.session.names()[number] == text
            assert (self.session.snapshot().labels == before.labels).all()
            # An item that is not asked any more is an anchor only until an event names others.
            if before.how[list(self.rows).index(anchors[number])] == "asked":
                assert self.session.anchors()[number] == anchors[number]

    @rule(which=st.integers(0, 9))
    def choose_a_remedy(self, which: int) -> None:
        remedies = [remedy for trouble in self.session.trouble for remedy in trouble.remedies]
        if remedies:
            remedy = remedies[which % len(remedies)]
            effect = self.session.preview(remedy)
            before = self.session.snapshot().labels
            self.session.apply(remedy)
            after = self.session.snapshot().labels
            assert effect.undecided == np.count_nonzero((before >= 0) & (after < 0))
            assert effect.changed == np.count_nonzero(
                (before != after) & (before >= 0) & (after >= 0)
            )

    @rule()
    def crash_and_resume(self) -> None:
        resumed = Session.open(self.store, *self.data(), clock=Clock())
        same_known(self.session, resumed)
        self.session = resumed
        for who in (None, "ann", "ben", "somebody new"):
            assert resumed.ask(who) or resumed.progress().ended, "somebody waits for ever"

    @invariant()
    def replay_equals_live_state(self) -> None:
        if hasattr(self, "session"):
            assert State(self.store.read()) == self.session.state

    def teardown(self) -> None:
        if hasattr(self, "session"):
            same_known(self.session, Session.open(self.store, *self.data(), clock=Clock()))


TestSession = SessionMachine.TestCase
TestSession.settings = settings(
    max_examples=RUNS,
    stateful_step_count=20,
    phases=PHASES,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
