"""Ask about every point: the reference that needs no assumption, with up to k·n questions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from samecluster.questions.run import Plan
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.placement import Placement
from samecluster.recovery.problem import Problem
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery


@dataclass(frozen=True)
class AskEverything:
    """Place every point by asking. Exact whatever the clusters look like."""

    name = "everything"

    def plan(self, problem: Problem, labelling: Labelling) -> Plan[Recovery]:
        placing = Placement(problem.n_clusters)
        found = np.array((yield from placing.place(range(len(problem.X)))))
        items = np.flatnonzero(found >= 0)
        labelling.mark(items, found[items], How.ASKED)
        labelling.close_round()
        return labelling.recovery()
