"""How far a session is."""

from __future__ import annotations

from dataclasses import dataclass

from samecluster.recovery.result.audit_report import AuditReport
from samecluster.recovery.result.how import How, ways
from samecluster.recovery.result.result import Recovery
from samecluster.recovery.result.sentences import count, goal_reached
from samecluster.sessions.state.state import BUDGETS, State


@dataclass(frozen=True)
class Progress:
    """How far a session is. As text it is a line for people.

    Attributes
    ----------
    n_items, n_clusters : rows, and clusters that have a label
    n_questions : pairs that people were asked about and whose answers stand
    n_looks : screens that they answered, each as a whole; a pair alone is one
    by_how : the number of labels known in each way
    n_trouble : things that do not fit together; `Session.trouble` lists them
    ended : why nothing is left to ask, or an empty text
    audit : what an audit has shown so far

    >>> print(Progress(300, 3, 12, {How.ASKED: 9, How.PROVEN: 251, How.UNASSIGNED: 40}, 1, ""))
    260 of 300 items have a label (9 asked, 251 proven) after 12 questions; 1 thing to look at
    """

    n_items: int
    n_clusters: int
    n_questions: int
    by_how: dict[How, int]
    n_trouble: int
    ended: str
    audit: AuditReport | None = None
    n_looks: int = 0

    @property
    def n_labelled(self) -> int:
        return self.n_items - self.by_how.get(How.UNASSIGNED, 0)

    def __str__(self) -> str:
        known = ways({**self.by_how, How.UNASSIGNED: 0})
        text = f"{self.n_labelled:,} of {self.n_items:,} items have a label"
        text += f" ({known})" if known else ""
        text += f" after {count(self.n_questions, 'question')}"
        text += f" in {count(self.n_looks, 'look')}" if 0 < self.n_looks < self.n_questions else ""
        text += f"; {count(self.n_trouble, 'thing')} to look at" if self.n_trouble else ""
        text += f"; {self.audit}" if self.audit is not None else ""
        return text + (f"; {self.ended}" if self.ended else "")


def reason_of_end(state: State, recovery: Recovery, is_done: bool, is_cut_short: bool) -> str:
    """Why nothing is left to ask, or an empty text.

    ``is_done`` says whether the run is, ``is_cut_short`` whether its next look did not fit into the
    budget.
    """
    if state.finished:
        return "finished"
    for name in state.spent_budgets:
        return f"the budget of {count(state.parameters[name], BUDGETS[name])} is spent"
    if not is_done:
        return ""
    if is_cut_short:
        left = state.budgets_left
        name = min(left, key=left.__getitem__)
        budget = count(state.parameters[name], BUDGETS[name])
        return f"the next look does not fit into the budget of {budget}"
    if recovery.audit is not None and recovery.audit.met:
        return "the bound is met"
    goal = state.parameters.get("expected_error")
    if goal is not None and recovery.count(How.PREDICTED):
        return goal_reached(goal)
    return "nothing is left to ask"
