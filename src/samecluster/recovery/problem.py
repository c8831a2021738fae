"""What every method is given, and what it writes its findings on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from samecluster._typing import FloatArray, IntArray
from samecluster.errors import InvalidInputError
from samecluster.proof.log import ProofLog
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer
from samecluster.questions.run import Plan
from samecluster.recovery.result import How, Recovery, Round

__all__ = ["Labelling", "Method", "Problem"]


@dataclass(frozen=True, eq=False)
class Problem:
    """The data and what is declared about it. Checked by whoever makes one."""

    X: FloatArray
    n_clusters: int | None
    margin: float
    rng: np.random.Generator
    # What was answered before; the ledger knows it too, so no method asks it again.
    answers: tuple[Answer, ...] = ()

    def known_n_clusters(self, method: str) -> int:
        """The number of clusters, for methods that cannot do without."""
        if self.n_clusters is None:
            raise InvalidInputError(f"method {method!r} needs n_clusters")
        return self.n_clusters


class Method(Protocol):
    """A way to recover a clustering: settings, and the plan that follows them."""

    @property
    def name(self) -> str: ...

    def plan(self, problem: Problem, labelling: Labelling) -> Plan[Recovery]: ...


class Labelling:
    """What is known so far. A plan writes on it; anybody may read it between two batches."""

    def __init__(self, problem: Problem, method: str, ledger: Ledger) -> None:
        n = len(problem.X)
        self.labels: IntArray = np.full(n, -1, dtype=np.int64)
        self.how: npt.NDArray[np.int8] = np.zeros(n, dtype=np.int8)
        self.probability: FloatArray | None = None
        self._round_of: npt.NDArray[np.int32] = np.full(n, -1, dtype=np.int32)
        self._rounds: list[Round] = []
        self._problem = problem
        self._method = method
        self._ledger = ledger
        self._given = len(ledger)
        self._counted = 0

    @property
    def n_questions(self) -> int:
        """Questions asked so far; answers that were there before do not count."""
        return len(self._ledger) - self._given

    @property
    def n_labelled(self) -> int:
        return int(np.count_nonzero(self.how))

    @property
    def n_rounds(self) -> int:
        return len(self._rounds)

    def unlabelled(self) -> IntArray:
        return np.flatnonzero(self.how == How.UNASSIGNED)

    def mark(self, items: IntArray, label: int | IntArray, how: How) -> None:
        """Write labels on items that have none."""
        self.labels[items] = label
        self.how[items] = how
        self._round_of[items] = len(self._rounds)

    def rename(self, name: int, to: int) -> None:
        """Give all points of one name another."""
        if name != to:
            self.labels[self.labels == name] = to

    def close_round(self) -> None:
        self._rounds.append(Round(self.n_questions - self._counted, self.n_labelled))
        self._counted = self.n_questions

    def recovery(self, proof: ProofLog | None = None) -> Recovery:
        """All that is known now, as a result of its own."""
        return Recovery(
            labels=self.labels.copy(),
            how_codes=self.how.copy(),
            n_questions=self.n_questions,
            rounds=tuple(self._rounds),
            round_of=self._round_of.copy(),
            answers=tuple(self._ledger),
            points=self._problem.X,
            method=self._method,
            margin=self._problem.margin,
            n_clusters=self._problem.n_clusters,
            proof=proof,
            probability=None if self.probability is None else self.probability.copy(),
        )
