"""An audit of the labels of all rows of data in blocks, with answers that a session keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from samecluster._typing import Array
from samecluster.large.other_rows import about_rows, answers_about
from samecluster.questions.look import pairs_of
from samecluster.questions.pair import Question, Verdict
from samecluster.recovery.audit.stored_labels import audited
from samecluster.recovery.result.audit_report import AuditReport
from samecluster.recovery.result.how import How
from samecluster.sessions.question import question_id
from samecluster.sessions.running.drivers import Answering
from samecluster.sessions.state.votes import pair_of
from samecluster.workspace.in_blocks.all_rows import AllRowsSweep, with_rows
from samecluster.workspace.open import OpenSession


@dataclass(eq=False)
class RowAudit:
    """Random rows are asked about until the bound on wrong labels holds; they become items.

    Parameters
    ----------
    opened : the session, in whose place there is one with more items in the end
    answering : answers questions about items of the session that ``follow`` was last given
    """

    opened: OpenSession
    answering: Answering
    follow: Callable[[OpenSession], None]
    who: str | None
    _verdicts: dict[Question, Verdict] = field(default_factory=dict, init=False)
    _is_news: bool = field(default=False, init=False)

    def check(self, found: AllRowsSweep, error: float, confidence: float) -> AuditReport:
        """Check labels, and correct those that are found to be wrong."""
        assert found.labels is not None
        rows = self.opened.block_data.rows
        answers = answers_about(self.opened.session.snapshot().answers, rows)
        # The same checks again as long as the labels rest on the same answers: those to checks are
        # kept, but the run does not hear of them before all are there.
        seed = [self.opened.session.state.seed, len(answers)]
        while True:
            labels, how = found.labels.copy(), found.how.copy()
            draws = np.random.default_rng(seed)
            plan = audited(labels, how, answers, error, confidence, draws)
            unknown: list[Question] = []
            verdicts: list[Verdict] | None = None
            found_wrong = False
            try:
                while True:
                    batch = pairs_of(next(plan) if verdicts is None else plan.send(verdicts))
                    unknown += [question for question in batch if question not in self._verdicts]
                    found_wrong |= any(self._contradicts(q, labels) for q in batch)
                    # What is not known yet is expected to confirm the labels.
                    verdicts = [self._verdicts.get(q, _expected(q, labels, how)) for q in batch]
            except StopIteration as end:
                report: AuditReport = end.value
            if not unknown:
                found.labels[:], found.how[:] = labels, how
                if found_wrong and self._is_news:
                    self._tell_the_run()
                return report
            self._ask(unknown)

    def _ask(self, questions: Sequence[Question]) -> None:
        """Ask about rows, all at once; each answer is kept as it comes."""
        rows = np.unique([row for question in questions for row in question.pair])
        self.opened = with_rows(self.opened, rows, self.who)
        self.follow(self.opened)
        session, keys = self.opened.session, self.opened.data.keys
        rows = self.opened.block_data.rows
        place = {row: at for at, row in enumerate(rows.tolist())}

        def unanswered() -> Iterator[Question]:
            for question in questions:
                items = place[question.item], place[question.comparator]
                fact = session.state.facts.get(pair_of([keys[at] for at in items]))
                if fact is None:
                    yield Question(*items)
                else:
                    self._verdicts[question] = fact.verdict

        for question, verdict in self.answering(unanswered()):
            items = keys[question.item], keys[question.comparator]
            session.tell(question_id(items), verdict, self.who, deferred=True)
            self._is_news = True
            self._verdicts[about_rows(question, rows)] = verdict

    def _contradicts(self, question: Question, labels: Array) -> bool:
        """Whether an answer says otherwise than the labels of its two rows."""
        verdict, (one, other) = self._verdicts.get(question), labels[list(question.pair)]
        return verdict not in (None, Verdict.UNSURE, Verdict.of(bool(one == other)))

    def _tell_the_run(self) -> None:
        """A label was wrong, and the session has to learn from it: it begins from all answers."""
        margin = self.opened.session.state.parameters.get("margin", "auto")
        self.opened.session.set_parameters(margin=margin, who=self.who)


def _expected(question: Question, labels: Array, how: Array) -> Verdict:
    """Asked rows of two labels are different; others are checked against the label they have."""
    rows = list(question.pair)
    asked = bool((how[rows] == How.ASKED).all())
    return Verdict.of(not asked or bool(labels[rows[0]] == labels[rows[1]]))
