"""What a result claims, as data: what, about which items, with which number, under which premises.

There are three certainties. A certain claim follows from its premises. One at a confidence is false
with at most the chance that it states, whatever the data, if its premises hold. An estimate is
judged by how often estimates of its kind are right, not by one of them.

`claims` makes all claims of a result; the words are in `samecluster.recovery.result.sentences`, and
`samecluster.testing.check_claims` judges them where the truth is known.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from samecluster._typing import Array, FloatArray, IntArray
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer
from samecluster.recovery.result.audit_report import AuditReport
from samecluster.recovery.result.how import How
from samecluster.recovery.result.label_separation import AnsweredLabels
from samecluster.recovery.result.premises import (
    AnswersRight,
    ClusterCount,
    GivenLabelsRight,
    MarginHolds,
    Premise,
    SeparateClusters,
    UnknownPremise,
)
from samecluster.recovery.result.sentences import sentence
from samecluster.recovery.result.separation import ProofSummary, separated_by_proof


class Certainty(enum.Enum):
    """How sure a claim is, if its premises hold."""

    CERTAIN = "certain"
    CONFIDENT = "at a confidence"
    ESTIMATED = "estimate"


@dataclass(frozen=True, eq=False)
class Claim:
    """One thing that a result says. As text it is the sentence for users.

    Attributes
    ----------
    kind : "asked", "proven", "inferred": these labels are right; "predicted": this share of them is
        wrong; "unassigned": these items have no label; "uncompared": nothing separates these
        clusters; "audit": at most so many of these labels are wrong; "forecast": so many questions
        are left; "found": so many clusters, where ``declared`` is another number or some items are
        in none; "given": people saw so many labels that others gave, and so many were wrong
    certainty : whether it is certain, at a confidence, or an estimate
    n_items : how many items it is about; `items` has their rows
    number : of the kind: a share, a number of labels or of pairs; None where there is none
    premises : what it rests on
    confidence : the chance that it is true, at least; None where it is certain or an expectation
    unseen : of "predicted": the share of rows that may be in groups that nobody has met
    n_modelled : of "predicted": the rows of a sample that alone was modelled, if it was one
    """

    kind: str
    certainty: Certainty
    n_items: int = 0
    number: float | None = None
    premises: tuple[Premise, ...] = ()
    confidence: float | None = None
    separate: SeparateClusters | None = field(default=None, repr=False)
    report: AuditReport | None = field(default=None, repr=False)
    interval: tuple[int, int] | None = None
    declared: int | None = None
    unseen: float | None = None
    n_modelled: int | None = None
    given: GivenCheck | None = field(default=None, repr=False)
    rows: Callable[[], IntArray] = field(default=lambda: np.zeros(0, np.int64), repr=False)

    def __str__(self) -> str:
        return sentence(self)

    @property
    def items(self) -> IntArray:
        """The rows that it is about."""
        return self.rows()

    def as_dict(self) -> dict[str, Any]:
        """The claim as plain values. Rows are left out: ``how`` in the labels has them."""
        details = {} if self.separate is None else self.separate.details()
        if self.interval is not None:
            details |= {"low": self.interval[0], "high": self.interval[1]}
        if self.report is not None:
            details |= self.report.details()
        for name in ("declared", "unseen", "n_modelled"):
            if getattr(self, name) is not None:
                details[name] = getattr(self, name)
        if self.given is not None:
            details |= {"by": list(self.given.by), "is_used": self.given.is_used}
        return {
            "kind": self.kind,
            "certainty": self.certainty.value,
            "text": str(self),
            "n_items": self.n_items,
            "number": self.number,
            "confidence": self.confidence,
            "premises": [premise.as_dict() for premise in self.premises],
            "details": details,
        }


class Foresight(NamedTuple):
    """How often predictions could be compared with answers, and what nobody has met.

    ``unseen`` is the share of rows that may be in groups without an asked member, at 95 %; None
    without random asks. ``n_modelled`` is the number of rows in the sample that is modelled, where
    not all are.
    """

    n_records: int
    unseen: float | None
    n_modelled: int | None = None

    @property
    def tells(self) -> bool:
        """Whether there are enough records: what was said after 20 or so was wrong by 5 times."""
        return self.n_records >= 50


class GivenCheck(NamedTuple):
    """What people saw of labels that others gave, ``by`` language models for instance.

    ``n_seen`` labels, ``n_wrong`` of them wrong; ``is_used`` unless they were put aside for it, or
    because they say nothing: then no label rests on them.
    """

    by: tuple[str, ...]
    n_seen: int
    n_wrong: int
    is_used: bool


@dataclass(frozen=True, eq=False)
class ClaimBasis:
    """What claims are made from.

    ``labels`` and ``how_codes`` (n,), ``answers``, ``exceptions`` and ``audit`` are those of a
    result; ``margin`` is what proofs rest on, ``guessed`` if nobody declared it. ``confirmed`` are
    answers that the margin does not allow. ``prepared`` says how the points were made that the
    margin is about, ``resolution`` what it is one at if there is no proof. ``models`` are language
    models that answered. ``foresight`` is that of the model that predicts, if one asked questions.
    ``given`` is what people saw of labels that others gave.
    """

    labels: Array
    how_codes: Array
    answers: tuple[Answer, ...]
    margin: float | None
    guessed: bool
    n_clusters: int | None
    proof: ProofSummary | None = None
    probability: FloatArray | None = None
    exceptions: tuple[int, ...] = ()
    confirmed: tuple[Answer, ...] = ()
    audit: AuditReport | None = None
    prepared: tuple[Premise, ...] = ()
    resolution: tuple[float, ...] = ()
    models: tuple[str, ...] = ()
    foresight: Foresight | None = None
    given: GivenCheck | None = None

    @classmethod
    def of(cls, result: Any, **instead: Any) -> ClaimBasis:
        """From what a result has under these names, but for what is given ``instead``."""
        names = (one.name for one in fields(cls))
        found = {name: getattr(result, name) for name in names if hasattr(result, name)}
        return cls(**{**found, "guessed": result.search is not None, **instead})


def claims(basis: ClaimBasis) -> tuple[Claim, ...]:
    """All that a result claims, the surest first."""
    return tuple(_Claims(basis).made())


class _Claims:
    """The claims of one result."""

    def __init__(self, basis: ClaimBasis) -> None:
        self.basis = basis
        codes = basis.how_codes
        if basis.models:
            # What models answered is called inferred, and tells clusters apart all the same.
            codes = np.where(codes == How.INFERRED, How.ASKED, codes)
        self.answers_right = AnswersRight(basis.confirmed, basis.models)
        self.answered = AnsweredLabels(basis.labels, codes, Ledger(basis.answers))
        found, pairs = tuple(self.answered.sizes), frozenset(self.answered.separated_pairs())
        by_proof = separated_by_proof(basis.labels, codes, basis.answers, basis.proof)
        self.by_answers = SeparateClusters(found, pairs)
        self.separate = SeparateClusters(found, pairs | by_proof)

    def made(self) -> Iterator[Claim]:
        certain, basis = Certainty.CERTAIN, self.basis
        yield from self._found_count()
        if basis.given is not None and (basis.given.n_seen or not basis.given.is_used):
            seen, wrong = basis.given.n_seen, basis.given.n_wrong
            yield Claim("given", certain, seen, wrong, given=basis.given)
        needs_proof = self.separate != self.by_answers or not self.answered.joined
        yield from self._labels("asked", How.ASKED, self._premises(proof=needs_proof))
        if self.separate.n_pairs:
            number = self.separate.n_pairs
            yield Claim("uncompared", certain, number=number, separate=self.separate)
        yield from self._labels("proven", How.PROVEN, self._premises(proof=True))
        yield from self._labels("inferred", How.INFERRED, self._of_inferred())
        yield from self._predicted()
        yield from self._unassigned()
        yield from self._audit()

    def _count(self, how: How) -> int:
        return int(np.count_nonzero(self.basis.how_codes == how))

    @property
    def _n_unassigned_exceptions(self) -> int:
        codes = self.basis.how_codes
        return sum(1 for item in self.basis.exceptions if codes[item] == How.UNASSIGNED)

    def _labels(self, kind: str, how: How, premises: tuple[Premise, ...]) -> Iterator[Claim]:
        if number := self._count(how):
            yield Claim(
                kind, Certainty.CERTAIN, number, premises=premises, rows=lambda: self._rows(how)
            )

    def _rows(self, how: How) -> IntArray:
        return np.flatnonzero(self.basis.how_codes == how)

    def _premises(self, *, proof: bool) -> tuple[Premise, ...]:
        """What labels rest on that follow from answers, and from a proof if there is one."""
        found: list[Premise] = []
        if proof:
            found += self._of_proof()
        if self.separate.n_pairs:
            found.append(self.separate)
        return (*found, self.answers_right)

    def _of_inferred(self) -> tuple[Premise, ...]:
        """Where the margin was declared, labels that do not follow from it rest on more.

        With language models that answered, also labels by answers and by proofs are among them.
        """
        basis = self.basis
        if basis.models:
            return self._premises(proof=basis.margin is not None or not self.answered.joined)
        if basis.given is not None and basis.given.is_used:
            return (GivenLabelsRight(basis.given.by), *self._premises(proof=False))
        unknown = () if basis.guessed else (UnknownPremise(),)
        return (*unknown, *self._premises(proof=True))

    def _of_proof(self) -> list[Premise]:
        basis, log, found = self.basis, self.basis.proof, list[Premise]()
        if basis.margin is not None:
            resolution = basis.resolution if log is None else log.resolution
            lift = "" if log is None else log.lift
            held = MarginHolds(basis.margin, basis.guessed, resolution, basis.exceptions, lift)
            found.append(held)
            found += basis.prepared
        # Without a log nobody can tell whether the number was used.
        if basis.n_clusters is not None and (log is None or log.rests_on_count):
            found.append(ClusterCount(basis.n_clusters))
        return found or [UnknownPremise()]

    def _found_count(self) -> Iterator[Claim]:
        """The number of clusters, where it is not the declared one or some items are in none."""
        basis, found = self.basis, len(self.separate.labels)
        if basis.n_clusters is None:
            return
        n_open = self._count(How.UNASSIGNED) - self._n_unassigned_exceptions
        if found > basis.n_clusters or (
            not n_open and (found < basis.n_clusters or basis.exceptions)
        ):
            yield Claim(
                "found",
                Certainty.CERTAIN,
                len(basis.exceptions),
                found,
                declared=basis.n_clusters,
                rows=lambda: np.array(basis.exceptions, dtype=np.int64),
            )

    def _predicted(self) -> Iterator[Claim]:
        if not (number := self._count(How.PREDICTED)):
            return
        wrong, foresight = None, self.basis.foresight
        if self.basis.probability is not None and (foresight is None or foresight.tells):
            wrong = float(np.mean(1.0 - self.basis.probability[self._rows(How.PREDICTED)]))
        yield Claim(
            "predicted",
            Certainty.ESTIMATED,
            number,
            wrong,
            self._premises(proof=False),
            unseen=None if foresight is None else foresight.unseen,
            n_modelled=None if foresight is None else foresight.n_modelled,
            rows=lambda: self._rows(How.PREDICTED),
        )

    def _unassigned(self) -> Iterator[Claim]:
        if number := self._count(How.UNASSIGNED):
            yield Claim(
                "unassigned",
                Certainty.CERTAIN,
                number,
                self._n_unassigned_exceptions,
                rows=lambda: self._rows(How.UNASSIGNED),
            )

    def _audit(self) -> Iterator[Claim]:
        """The bound needs no margin: what only a proof separates counts as separated by nobody."""
        report = self.basis.audit
        if report is None:
            return
        report = report.about(self.answered, len(self.basis.labels))
        premises: tuple[Premise, ...] = (self.answers_right,)
        if self.by_answers.n_pairs and report.n_labels:
            premises = (self.by_answers, self.answers_right)
        codes = self.basis.how_codes
        yield Claim(
            "audit",
            Certainty.CONFIDENT,
            report.n_labels,
            report.n_wrong_at_most,
            premises,
            report.confidence,
            report=report,
            rows=lambda: np.flatnonzero((self.basis.labels >= 0) & (codes != How.ASKED)),
        )
