"""What can be done when a session has nothing left to ask, and what each choice costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from samecluster.recovery.audit.audit import Audit
from samecluster.recovery.auto.margin_search import CertifyWithoutMargin
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery
from samecluster.recovery.result.sentences import brief, count
from samecluster.sessions.session import Session
from samecluster.sessions.state.state import BUDGETS

# The two audits that are offered, each by its key: about 60 and about 300 questions if no label is
# wrong, at the confidence that is customary.
_ERRORS = (("5", 0.05), ("1", 0.01))
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class NextStep:
    """A key, what it does and costs in words, and the parameters that change; None to stop."""

    key: str
    text: str
    parameters: Mapping[str, Any] | None

    def take(self, session: Session, who: str | None) -> bool:
        """Go on in this way; False if it is to stop."""
        if self.parameters is None:
            session.finish(who)
        else:
            session.set_parameters(who=who, **self.parameters)
        return self.parameters is not None


def choices(recovery: Recovery, parameters: Mapping[str, Any]) -> list[NextStep]:
    """To stop, to go on beyond a budget, to audit for a guarantee, or to rest on less."""
    # A budget that is spent would allow none of the questions that are agreed to.
    unlimited = {name: None for name in BUDGETS if parameters.get(name) is not None}
    no_goal = {} if parameters.get("expected_error") is None else {"expected_error": None}
    asked = {"max_questions": recovery.n_questions, "max_looks": recovery.n_looks}
    found = [NextStep("s", f"stop here: {expected_wrong(recovery)}", None)]
    if spent := [name for name in unlimited if asked[name] >= parameters[name]]:
        text = f"go on without a limit on {BUDGETS[spent[0]]}s"
        found.append(NextStep("g", text, dict.fromkeys(spent)))
    if no_goal and recovery.count(How.PREDICTED):
        usual = f"{100 * CertifyWithoutMargin.expected_error:.2g} %"
        text = f"go on until about {usual} of the labels may be wrong"
        found.append(NextStep("a", text, {**no_goal, **unlimited}))
    if recovery.audit is None:
        found += _audits(recovery, unlimited)
    if recovery.margin is not None and np.any(recovery.how_codes < How.ASKED):
        lower = float(f"{recovery.margin / 2:.3g}")
        text = f"assume a margin of {lower:g} only: more questions, labels that rest on less"
        found.append(NextStep("m", text, {"margin": lower, **unlimited, **no_goal}))
    return found


def expected_wrong(recovery: Recovery) -> str:
    """What is known about wrong labels, in a few words."""
    if recovery.count(How.ASKED) == len(recovery.labels):
        return "every label was asked about"
    return "; ".join(filter(None, map(brief, recovery.claims)))


def _audits(recovery: Recovery, unlimited: Mapping[str, Any]) -> Iterator[NextStep]:
    items = np.flatnonzero((recovery.labels >= 0) & (recovery.how_codes != How.ASKED))
    if not len(items):
        return
    for key, error in _ERRORS:
        audit = Audit(
            items,
            recovery.labels[items],
            error=error,
            confidence=1 - 0.8 * (1 - _CONFIDENCE),
            rng=np.random.default_rng(0),
            pairs=True,
        )
        more = audit.n_more()
        price = f"{'about ' if more else ''}{count(more or len(items), 'more question')}"
        text = f"audit: {price} to show that at most {100 * error:g} % are wrong, if none is"
        yield NextStep(key, text, {"audit": [error, _CONFIDENCE], **unlimited})
