"""What claims rest on, as data: each kind of premise is a class here.

A new kind is a class with the fields that a program needs to decide whether it holds, a clause in
`samecluster.recovery.result.sentences`, and a judgement in `samecluster.testing.claim_check`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import combinations, islice
from typing import Any, ClassVar

from samecluster.questions.pair import Answer
from samecluster.recovery.result.sentences import clause

_MOST_PAIRS = 1_000  # pairs of clusters written out for programs; the number of all is with them


@dataclass(frozen=True)
class Premise:
    """Something that must hold for a claim to follow. As text it is a clause: "... if it holds"."""

    kind: ClassVar[str]

    def __str__(self) -> str:
        return clause(self)

    def details(self) -> dict[str, Any]:
        """What the kind has beside its name, as plain values."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}

    def as_dict(self) -> dict[str, Any]:
        """The premise as plain values."""
        return {"kind": self.kind, "text": str(self), "details": self.details()}


@dataclass(frozen=True)
class AnswersRight(Premise):
    """Every answer that labels rest on is right, also ``confirmed`` ones, which do not fit.

    ``models`` are the language models that gave some of them.
    """

    kind: ClassVar[str] = "answers"
    confirmed: tuple[Answer, ...] = ()
    models: tuple[str, ...] = ()

    def details(self) -> dict[str, Any]:
        said = {"confirmed": [str(answer) for answer in self.confirmed]}
        return {**said, "models": list(self.models)} if self.models else said


@dataclass(frozen=True)
class GivenLabelsRight(Premise):
    """Labels that language models gave, and that people left as they are, are right."""

    kind: ClassVar[str] = "given"
    models: tuple[str, ...] = ()

    def details(self) -> dict[str, Any]:
        return {"models": list(self.models)}


@dataclass(frozen=True)
class MarginHolds(Premise):
    """Every cluster has ``margin`` at ``resolution`` among all items but ``exceptions``.

    ``resolution`` has a length per column; it is empty where the margin is the paper's own. The
    margin is one in ``lift``, as text, unless that is empty.
    """

    kind: ClassVar[str] = "margin"
    margin: float
    guessed: bool = False
    resolution: tuple[float, ...] = ()
    exceptions: tuple[int, ...] = ()
    lift: str = ""


@dataclass(frozen=True)
class PreparedFeatures(Premise):
    """What holds of the points holds of features as they were prepared, not of the table itself.

    ``n_filled`` missing cells were filled in by medians, ``logarithms`` are columns used as such.
    """

    kind: ClassVar[str] = "prepared"
    n_filled: int = 0
    logarithms: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClusterCount(Premise):
    """The items are in exactly ``number`` clusters."""

    kind: ClassVar[str] = "count"
    number: int


@dataclass(frozen=True)
class SeparateClusters(Premise):
    """Any two of ``labels`` are different clusters, also those that are not in ``separated``."""

    kind: ClassVar[str] = "separate"
    labels: tuple[int, ...]
    separated: frozenset[tuple[int, int]]

    @property
    def n_pairs(self) -> int:
        """How many pairs of clusters nothing separates."""
        return len(self.labels) * (len(self.labels) - 1) // 2 - len(self.separated)

    def pairs(self) -> Iterator[tuple[int, int]]:
        """The pairs of clusters that nothing separates, the smaller number first."""
        return (pair for pair in combinations(self.labels, 2) if pair not in self.separated)

    def details(self) -> dict[str, Any]:
        listed = [list(pair) for pair in islice(self.pairs(), _MOST_PAIRS)]
        return {"n_pairs": self.n_pairs, "pairs": listed}


@dataclass(frozen=True)
class UnknownPremise(Premise):
    """A method follows rules that hold under something that nobody vouches for."""

    kind: ClassVar[str] = "unknown"
