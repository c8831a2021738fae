"""The head of a report in words; what is known, and what that rests on, is in its claims."""

from __future__ import annotations

import numpy as np

from samecluster.recovery.result.result import Recovery
from samecluster.recovery.result.sentences import count


def headline(recovery: Recovery) -> str:
    n_clusters = len(np.unique(recovery.labels[recovery.labels >= 0]))
    labelled = int(np.count_nonzero(recovery.how_codes))
    all_of = "All" if labelled == len(recovery.labels) else f"{labelled:,} of"
    return (
        f"{all_of} {count(len(recovery.labels), 'point')} have a label, in "
        f"{count(n_clusters, 'cluster')}, after {count(recovery.n_questions, 'question')}."
    )
