"""What is known after the events so far: a run that follows the state, and public numbers."""

from __future__ import annotations

from dataclasses import replace

from samecluster.errors import InvalidInputError
from samecluster.questions.pair import Answer, Verdict
from samecluster.recovery.auto.error_model import compared
from samecluster.recovery.result.how import How
from samecluster.recovery.result.premises import Premise
from samecluster.recovery.result.result import Recovery
from samecluster.sessions.running.engine import Engine
from samecluster.sessions.state.numbering import NumberedRecovery, numbered
from samecluster.sessions.state.state import State


class KnownLabels:
    """Labels of a state. They are worked out when somebody asks for them, and then kept."""

    def __init__(self, state: State, engine: Engine, prepared: tuple[Premise, ...] = ()) -> None:
        self._state, self._engine, self._prepared = state, engine, prepared
        self._last: tuple[int, NumberedRecovery] | None = None

    def of_state(self, state: State, engine: Engine | None = None) -> KnownLabels:
        """Labels of another state, of the same rows unless an engine for others is given."""
        return KnownLabels(state, engine or self._engine.fresh(), self._prepared)

    def replace_run(self, other: KnownLabels) -> None:
        """Go on with the run of a state that was tried out, and has become this one."""
        self._engine, self._last = other._engine, None

    def prepare(self) -> None:
        """Work out the next questions now rather than when they are asked for."""
        self._engine.follow(self._state)

    @property
    def engine(self) -> Engine:
        """The run, where the state is."""
        self.prepare()
        return self._engine

    def snapshot(self) -> Recovery:
        """What is known now, with cluster numbers that stay."""
        return self._numbered().recovery

    def anchors(self) -> dict[int, str]:
        """The anchor item of each cluster."""
        return dict(self._numbered().anchors)

    def aliases(self) -> dict[int, int]:
        """Numbers of clusters that turned out to be part of others, and the numbers of these."""
        return dict(self._numbered().aliases)

    def cluster(self, number: int) -> int:
        """The number that a cluster goes by now; InvalidInputError if there is no such cluster."""
        found = self._numbered()
        number = found.aliases.get(number, number)
        if number not in found.anchors:
            known = ", ".join(map(str, sorted(found.anchors))) or "none yet"
            raise InvalidInputError(f"cluster must be one of {known}, got {number!r}")
        return number

    def judged_answers(self) -> dict[str, dict[Answer, float]]:
        """Of each model the answers that people's answers decide: 1 where it was wrong, else 0.

        Nothing before people check what models said.
        """
        if not self._state.trust.people_only:
            return {}
        engine, said = self.engine, dict[str, list[Answer]]()
        for vote in self._state.answers():
            if vote.who is not None and not vote.is_trusted:
                answer = Answer(engine.question(vote.items), vote.verdict)
                said.setdefault(vote.who, []).append(answer)
        return {who: compared(answers, engine.run.ledger.implied) for who, answers in said.items()}

    def new_numbers(self) -> dict[str, int]:
        """Numbers to be kept with the next event: the same whether or not anybody has looked.

        After an undo they wait, as working them out might take as long as a resume, unless somebody
        has seen them.
        """
        if not self._state.n_events or (self._state.run_facts.undone and self._seen() is None):
            return {}
        return self._numbered().new

    def has_new_audit(self) -> bool:
        """Whether an audit has begun in this epoch, as far as labels are worked out by now, and no
        event says so yet."""
        state, seen = self._state, self._seen()
        if state.parameters.get("audit") is None or state.epoch in state.audited:
            return False
        return seen is not None and seen.recovery.audit is not None

    def _seen(self) -> NumberedRecovery | None:
        """What was worked out already for the events so far."""
        last = self._last
        return None if last is None or last[0] != self._state.n_events else last[1]

    def _numbered(self) -> NumberedRecovery:
        state, found = self._state, self._seen()
        if found is None:
            recovery = _with_exceptions(_as_declared(self.engine.recovery(), state), state)
            recovery = replace(recovery, prepared=self._prepared)
            if not state.trust.people_only:
                recovery = recovery.by_models(state.book.models)
            found = numbered(recovery, state)
            self._last = (state.n_events, found)
        return found


def _as_declared(recovery: Recovery, state: State) -> Recovery:
    """All questions of the session, and the confidence that holds over all its epochs."""
    audit = recovery.audit
    if audit is not None:
        audit = replace(audit, confidence=float(state.parameters["audit"][1]))
        if state.trust.people_only:
            people = state.answers_of_people().items()
            checked_by = tuple((who or "somebody", len(pairs)) for who, pairs in people)
            audit = replace(audit, checked_by=checked_by)
    return replace(
        recovery,
        n_questions=state.n_questions,
        n_looks=state.n_looks,
        n_shown=state.n_shown,
        audit=audit,
    )


def _with_exceptions(recovery: Recovery, state: State) -> Recovery:
    """Exceptions have the label that "same" answers about them say, or none at all."""
    row_of = state.items.row_of
    rows = {row_of[item]: -1 for item in state.book.exceptions if item in row_of}
    if not rows:
        return recovery
    for fact in state.book.facts_on_exceptions(state.trust.settling):
        if fact.verdict is Verdict.SAME:
            one, two = (row_of[key] for key in fact.items)
            for item, comparator in ((one, two), (two, one)):
                if item in rows and comparator not in rows:
                    rows[item] = max(rows[item], int(recovery.labels[comparator]))
    labels, how = recovery.labels.copy(), recovery.how_codes.copy()
    for row, label in rows.items():
        labels[row] = label
        how[row] = How.UNASSIGNED if label < 0 else How.ASKED
    return replace(recovery, labels=labels, how_codes=how)
