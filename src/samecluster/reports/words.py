"""A recovery in sentences: what is known, and what that rests on."""

from __future__ import annotations

import numpy as np

from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery

__all__ = ["count", "headline", "meaning"]


def count(number: int, noun: str) -> str:
    """
    >>> count(1, "question"), count(2000, "question")
    ('1 question', '2,000 questions')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def headline(recovery: Recovery) -> str:
    n_clusters = len(np.unique(recovery.labels[recovery.labels >= 0]))
    labelled = int(np.count_nonzero(recovery.how_codes))
    all_of = "All" if labelled == len(recovery.labels) else f"{labelled:,} of"
    return (
        f"{all_of} {count(len(recovery.labels), 'point')} have a label, in "
        f"{count(n_clusters, 'cluster')}, after {count(recovery.n_questions, 'question')}."
    )


def meaning(recovery: Recovery, how: How, *, margin_declared: bool) -> str:
    """What it means that labels are known in this way, and what it rests on."""
    given = f"the {count(len(recovery.answers), 'answer')} listed below"
    if how is How.ASKED:
        return f"They rest on {given}, about these very points. They are right if those are."
    if how is How.PROVEN:
        return f"Proven under {_premises(recovery)} and {given}: right if all of that is."
    if how is How.INFERRED:
        premise = (
            "a premise that nobody vouches for"
            if margin_declared
            else f"margin {recovery.margin:g}, which was estimated and which nobody vouches for"
        )
        return f"By the rules of a proof, but from {premise}. They may be wrong."
    if how is How.PREDICTED:
        return f"By a model. They may be wrong.{_expectation(recovery)}"
    return "Nothing is known about these points yet."


def _premises(recovery: Recovery) -> str:
    if recovery.n_clusters is None:
        return f"margin {recovery.margin:g}"
    return f"margin {recovery.margin:g}, {count(recovery.n_clusters, 'cluster')}"


def _expectation(recovery: Recovery) -> str:
    if recovery.probability is None:
        return ""
    predicted = recovery.probability[recovery.how_codes == How.PREDICTED]
    wrong = float(np.sum(1.0 - predicted))
    return f" The model itself expects {wrong:,.1f} of them to be ({wrong / len(predicted):.1%})."
