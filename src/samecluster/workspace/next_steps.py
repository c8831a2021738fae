"""What can be done when a session has nothing left to ask, and what each choice costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from samecluster.recovery.audit.audit import Audit
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery
from samecluster.recovery.result.sentences import brief, count

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


def choices(recovery: Recovery, budget: int | None) -> list[NextStep]:
    """To stop, to go on beyond a budget, to audit for a guarantee, or to rest on less."""
    found = [NextStep("s", f"stop here: {expected_wrong(recovery)}", None)]
    if budget is not None and recovery.n_questions >= budget:
        found.append(NextStep("g", "go on without a limit on questions", {"max_questions": None}))
    if recovery.audit is None:
        found += _audits(recovery, budget)
    if recovery.margin is not None and np.any(recovery.how_codes < How.ASKED):
        lower = float(f"{recovery.margin / 2:.3g}")
        text = f"assume a margin of {lower:g} only: more questions, labels that rest on less"
        found.append(NextStep("m", text, {"margin": lower, **_without(budget)}))
    return found


def expected_wrong(recovery: Recovery) -> str:
    """What is known about wrong labels, in a few words."""
    if recovery.count(How.ASKED) == len(recovery.labels):
        return "every label was asked about"
    return "; ".join(filter(None, map(brief, recovery.claims)))


def _audits(recovery: Recovery, budget: int | None) -> Iterator[NextStep]:
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
        text = f"audit: {price} to show that at most {error:.0%} are wrong, if none is"
        yield NextStep(key, text, {"audit": [error, _CONFIDENCE], **_without(budget)})


def _without(budget: int | None) -> dict[str, Any]:
    """A budget that is spent would allow none of the questions that were just agreed to."""
    return {} if budget is None else {"max_questions": None}
