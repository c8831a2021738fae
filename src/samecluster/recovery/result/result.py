"""What a recovery gives: labels, how each is known, and what it cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from samecluster._typing import FloatArray, IntArray
from samecluster.lifts.lift import ColumnMap
from samecluster.proof.log import ProofLog
from samecluster.questions.pair import Answer
from samecluster.recovery.result.audit_report import AuditReport
from samecluster.recovery.result.claims import Claim, ClaimBasis, Foresight, GivenCheck, claims
from samecluster.recovery.result.clustering_error import clustering_error
from samecluster.recovery.result.explain import explain
from samecluster.recovery.result.how import CodedLabels, How, ways
from samecluster.recovery.result.premises import Premise
from samecluster.recovery.result.separation import summary_of


@dataclass(frozen=True)
class Round:
    """One round of an algorithm: questions asked in it, and labels known at its end."""

    n_questions: int
    n_labelled: int


@dataclass(frozen=True)
class MarginSearch:
    """How a margin that nobody declared was found. As text it is the sentence for users.

    Attributes
    ----------
    margin : the margin that inferred labels rest on; None if none was found that helps
    refuted : margins tried before, which the answers do not allow
    n_questions : questions spent on the search: at labels that looked risky, and at exceptions
    lift : the lift that the margin is one in, if it is

    Examples
    --------
    >>> print(MarginSearch(0.42, (1.0,), 21))
    margin 0.42, guessed; 21 questions spent on finding it; the answers do not allow 1
    """

    margin: float | None
    refuted: tuple[float, ...]
    n_questions: int
    lift: ColumnMap | None = None

    def __str__(self) -> str:
        tried = ", ".join(f"{margin:.3g}" for margin in self.refuted)
        against = f"; the answers do not allow {tried}" if tried else ""
        if self.margin is None:
            return "no margin was found that saves questions" + against
        spent = f"{self.n_questions} question{'' if self.n_questions == 1 else 's'}"
        inside = "" if self.lift is None else f" in {self.lift.said()}"
        return f"margin {self.margin:.3g}{inside}, guessed; {spent} spent on finding it{against}"


@dataclass(frozen=True)
class Refutation:
    """Answers that the margin does not allow although they were confirmed.

    ``item`` was set apart because of them.
    """

    item: int
    answers: tuple[Answer, ...]

    def __str__(self) -> str:
        listed = "; ".join(map(str, self.answers))
        return f"item {self.item}: these answers and the margin cannot all be right: {listed}"


@dataclass(frozen=True, eq=False)
class Recovery(CodedLabels):
    """The outcome of a recovery, complete or not.

    Attributes
    ----------
    labels : (n,) cluster of each point, numbered from 0; -1 where there is none
    how_codes : (n,) `How` of each label as a small integer; `how` has the words
    n_questions : pairs that were really put to the oracle
    rounds : what each round cost and gave
    round_of : (n,) the round, from 0, in which the label became known; -1 where there is none
    answers : all answers, in the order given
    points : (n, d) the data
    method, margin, n_clusters : what it ran with; a margin that nobody declared is in `search`
    proof : the log that proves the labels, where the method writes one
    probability : (n,) probability that each label is right, where labels are predicted; 1.0 for
        asked ones, and NaN for those that follow from a margin
    exceptions : items that answers put outside every group that was found; they have no label
    search : how the margin was found, if it was not declared
    audit : what an audit showed, if there was one
    retracted : answers that others outvoted; no label rests on them
    refutations : answers that the margin does not allow although they were confirmed
    n_looks : screens that were answered, each as a whole; a pair alone is one
    n_shown : items on all these screens together
    prepared : how the points were made of what was measured, where a margin is one of them only
    resolution : (d) lengths that the margin is one at, where there is no proof that has them
    models : language models that gave answers; labels by answers or proofs are then inferred
    foresight : how often predictions could be compared with answers, where a model predicts
    given : what people saw of labels that others gave, where the method began with these
    frame : how the points were made of the columns of a data frame, if they were
    """

    labels: IntArray
    how_codes: npt.NDArray[np.int8]
    n_questions: int
    rounds: tuple[Round, ...]
    round_of: npt.NDArray[np.int32]
    answers: tuple[Answer, ...]
    points: FloatArray
    method: str
    margin: float | None
    n_clusters: int | None
    proof: ProofLog | None = None
    probability: FloatArray | None = None
    exceptions: tuple[int, ...] = ()
    search: MarginSearch | None = None
    audit: AuditReport | None = None
    retracted: tuple[Answer, ...] = ()
    refutations: tuple[Refutation, ...] = ()
    n_looks: int = 0
    n_shown: int = 0
    prepared: tuple[Premise, ...] = ()
    resolution: tuple[float, ...] = ()
    models: tuple[str, ...] = ()
    foresight: Foresight | None = None
    frame: Any = None
    given: GivenCheck | None = None

    def by_models(self, models: Iterable[str]) -> Recovery:
        """The same where language models gave answers: nothing is asked, and nothing proven.

        Nor has a label that rests on their answers a probability: nobody knows how often they err.
        """
        names = tuple(models)
        if not names:
            return self
        codes = np.where(self.how_codes > How.INFERRED, How.INFERRED, self.how_codes)
        codes, sure = codes.astype(self.how_codes.dtype), self.probability
        if sure is not None:
            sure = np.where(codes > How.PREDICTED, np.nan, sure)
        return replace(self, models=names, how_codes=codes, probability=sure)

    @property
    def lift(self) -> ColumnMap | None:
        """The lift that the margin is one in; None for the columns as they are."""
        if self.proof is not None:
            return self.proof.lift
        return None if self.search is None else self.search.lift

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """What is claimed about the labels, and under which premises."""
        confirmed = tuple(dict.fromkeys(a for one in self.refutations for a in one.answers))
        return claims(ClaimBasis.of(self, proof=summary_of(self.proof), confirmed=confirmed))

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is claimed about the labels, and what that rests on: a sentence for each claim."""
        return tuple(map(str, self.claims))

    def explain(self, item: int) -> str:
        """Why the item has its label, in words."""
        return explain(self, item)

    @cached_property
    def _labeller(self) -> Any:
        # By name, as it is made of rooms above this one.
        return import_module("samecluster.assignment.labeller").RowLabeller(self)

    def predict(self, rows: Any) -> Any:
        """Labels for new rows (m, d), as an `samecluster.assignment.result.Assignment`.

        A row in reach of known members is proven if the margin was declared, under the premise that
        it holds for the old rows and this one together, and inferred if it was guessed. Other rows
        are predicted, or in none of the clusters (-1) if they lie beyond all. Old rows have the
        labels that they have. What else is in ``rows`` makes no difference. If the old rows came in
        a data frame, so do these, with the same columns in any order.
        """
        return self._labeller.assign(rows if self.frame is None else self.frame.points(rows))

    def to_frame(self) -> Any:
        """The columns cluster, how and probability, as a frame of the kind that came in.

        In pandas it has the index that came in; after an array it is a frame of pandas.
        """
        kind, index = ("", None) if self.frame is None else (self.frame.kind, self.frame.index)
        return _frames().frame_of(self._columns(), kind, index)

    def join(self, frame: Any, prefix: str = "") -> Any:
        """A frame of these rows with the columns of `to_frame`, each after a ``prefix``."""
        return _frames().joined(frame, self._columns(prefix))

    def _columns(self, prefix: str = "") -> Any:
        chance = self.probability
        if chance is None:
            chance = np.where(self.how_codes == How.ASKED, 1.0, np.nan)
        return _frames().result_columns(self.labels, self.how, chance, prefix)

    def summary(self) -> dict[str, Any]:
        """What is known, as plain values; ``print(found.summary()["text"])`` shows it."""
        counts = {how.name.lower(): n for how, n in reversed(self.by_how.items()) if n}
        found = len(np.unique(self.labels[self.labels >= 0]))
        first = (
            f"{len(self.labels):,} points in {found} clusters by {self.method}, "
            f"{self.n_questions:,} questions"
        )
        used = () if self.frame is None else self.frame.uses
        return {
            "text": "\n".join([first, *self.assumptions, *used]),
            "n_points": len(self.labels),
            "n_clusters_found": found,
            "n_questions": self.n_questions,
            "method": self.method,
            "labels": counts,
            "claims": [claim.as_dict() for claim in self.claims],
        }

    def plot(self, **options: Any) -> Any:
        """The picture of the page, as a figure of matplotlib; options as in `plot_clusters`."""
        return import_module("samecluster.plots").plot_clusters(self, **options)

    def save(self, path: Any, *, force: bool = False) -> None:
        """Keep the result in one file, which `samecluster.load` reads; nothing in it can run.

        It holds the coordinates of all rows, and all answers. A file that exists is replaced only
        if it is such a result, or with ``force``.
        """
        import_module("samecluster.assignment.files").save_recovery(self, path, force=force)

    def error_curve(self, truth: Any) -> list[tuple[int, float]]:
        """Questions so far and clustering error after each round, given the true labels."""
        curve = []
        questions = 0
        for number, finished in enumerate(self.rounds):
            questions += finished.n_questions
            known = (self.round_of >= 0) & (self.round_of <= number)
            curve.append((questions, clustering_error(np.where(known, self.labels, -1), truth)))
        return curve

    def _repr_html_(self) -> str:
        """For notebooks: how many labels are known in which way."""
        rows = "".join(
            f"<tr><td>{how.name.lower()}</td><td>{number:,}</td></tr>"
            for how, number in reversed(self.by_how.items())
            if number
        )
        found = len(np.unique(self.labels[self.labels >= 0]))
        rests = "".join(f"<li>{escape(line)}</li>" for line in self.assumptions)
        return (
            f"<p>{len(self.labels):,} points in {found} clusters by {escape(self.method)}, "
            f"{self.n_questions:,} questions</p>"
            f"<table><tr><th>label</th><th>points</th></tr>{rows}</table><ul>{rests}</ul>"
        )

    def __repr__(self) -> str:
        found = len(np.unique(self.labels[self.labels >= 0]))
        return (
            f"<Recovery by {self.method}: {len(self.labels):,} points in {found} clusters, "
            f"{self.n_questions:,} questions, labels {ways(self.by_how)}>"
        )


def _frames() -> Any:
    # By name, as tables are a room above this one.
    return import_module("samecluster.tables.frame_points")
