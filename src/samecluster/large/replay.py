"""What a proof about a sample has shown, ready to be extended to the rows outside the sample.

The resolution is that of the log, so that every record stays valid. Only `count` speaks of all
items, so it has to wait for the other rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from samecluster._typing import FloatArray
from samecluster.geometry.reach.kernel import Kernel, compiled_programs
from samecluster.points.survey import Survey
from samecluster.proof.log import ProofLog
from samecluster.questions.pair import Question, Verdict
from samecluster.recovery.certify.knowledge import Knowledge
from samecluster.recovery.certify.plan import Certify


def replayed(log: ProofLog, X: FloatArray, survey: Survey, settings: Certify) -> Knowledge:
    """Members of the clusters as a log about the sample X (m, d) has them, closed under the margin.

    Its own log has the records of the given one but for `count`, and the header of a proof about
    all rows. RefutedError if the margin does not allow it.
    """
    kernel = Kernel(None if settings.kernel == "numpy" else compiled_programs)
    known = Knowledge(X, log.margin, log.n_clusters, log.resolution, kernel, 0, survey, log.lift)
    records = [record for record in log.records if record[0] != "count"]
    for record in records:
        _take(known, record)
    closure = known.closure
    for name in closure.alive:
        members = np.flatnonzero(closure.labels == name)
        closure.join(name, members)
        # The extremes of all members, in coordinates in which these are round.
        closure.clusters[name].whiten()
        closure.join(name, members)
    known.log = closure.log = ProofLog.from_lines(iter([known.log.header(), *records]))
    if closure.alive:
        known.close()
        climb(known)
    return known


def climb(known: Knowledge) -> None:
    """Close all levels that there are."""
    while known.climb():
        pass


def _take(known: Knowledge, record: tuple[Any, ...]) -> None:
    """Names, answers and members; what is known to be outside of a cluster shows no member."""
    labels = known.closure.labels
    kind, *fields = record
    if kind == "cluster":
        known.found_cluster(fields[0])
    elif kind == "answer":
        comparator, item, verdict = fields
        known.take_answer(Question(item, comparator), int(labels[comparator]), Verdict(verdict))
    elif kind == "in":
        # Each row is an item and the columns that show it.
        labels[np.asarray(fields[1])[:, 0]] = fields[0]
    elif kind == "last":
        labels[fields[0]] = fields[1]
    elif kind == "sdp" and fields[1] == "in":
        labels[fields[2]] = fields[0]
