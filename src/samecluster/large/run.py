"""A recovery in blocks under way: from the first look at the data to the result."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from samecluster._typing import FloatArray, IntArray
from samecluster.errors import InvalidInputError
from samecluster.large.other_rows import OtherRows, PassProgress, answers_about
from samecluster.large.plan import LargePlan
from samecluster.large.result import LabelStore, LargeRecovery, SampleRows
from samecluster.lifts.lift import Lift, OwnColumns, fitted_lift
from samecluster.lifts.polynomial import Polynomial
from samecluster.points.protocol import Points
from samecluster.points.survey import lifted_survey, surveyed
from samecluster.proof.files import writing_proof
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer
from samecluster.questions.run import Plan, Run
from samecluster.recovery.audit.stored_labels import audited
from samecluster.recovery.certify.levels import first_rows, sample_seed
from samecluster.recovery.certify.plan import Certify, resolution_in
from samecluster.recovery.problem import Problem
from samecluster.recovery.result.separation import summary_of


@dataclass(frozen=True, eq=False)
class LargeParameters:
    """What was asked for, checked; the fields are parameters of `samecluster.start_large`."""

    method: Certify
    margin: float | None
    n_clusters: int | None
    answers: tuple[Answer, ...]
    rng: np.random.Generator
    sample: int
    block: int
    threads: int
    on_progress: Callable[[PassProgress], None]
    audit: tuple[float, float] | None
    lift: str | Polynomial | Lift | None = None


class LargeRun(Run[LargeRecovery]):
    """A recovery in blocks whose questions are about rows; ``view[row]`` are their coordinates."""

    def __init__(
        self,
        points: Points,
        parameters: LargeParameters,
        store: LabelStore,
        proof: Path | None,
        files: ExitStack,
    ) -> None:
        self._parameters, self._store = parameters, store
        rows = _sampled_rows(points, parameters)
        survey, X = surveyed(
            points,
            rows,
            parameters.block,
            proof is not None,
            lambda done: parameters.on_progress(
                PassProgress("survey", done, points.n, 0, parameters.block)
            ),
            parameters.threads,
        )
        self._lift = None
        if parameters.lift is not None:
            if parameters.lift == "auto":
                raise InvalidInputError(
                    'lift="auto" is for data in memory: find a lift with recover on a sample of '
                    'the rows, and name it here, such as lift="quadratic"'
                )
            names = [points.column(at) for at in range(points.d)]
            self._lift = fitted_lift(parameters.lift, survey.low, survey.high, X, names)
            if proof is not None and isinstance(self._lift, OwnColumns):
                raise InvalidInputError(
                    "a proof in blocks states its lift, and a function cannot be stated; write "
                    "what it returns to a file and recover that"
                )
            survey = lifted_survey(points, survey, self._lift, parameters.block, parameters.threads)
        ledger = Ledger(parameters.answers)
        problem = Problem(
            X=X,
            n_clusters=parameters.n_clusters,
            margin=parameters.margin,
            rng=parameters.rng,
            answers=answers_about(ledger, {row: at for at, row in enumerate(rows.tolist())}),
            survey=survey,
            lift=self._lift,
        )
        self._rest = OtherRows(
            points,
            rows,
            store.names,
            store.how,
            parameters.threads,
            np.random.default_rng(len(rows)),
            on_progress=parameters.on_progress,
            block=parameters.block,
        )
        self._resolution = resolution_in(parameters.method, problem)
        self._large = LargePlan(parameters.method, problem, self._rest)
        if proof is not None:
            assert self._large.labelling.proof is not None
            header = self._large.labelling.proof.header()
            self._rest.write = files.enter_context(writing_proof(header, proof))
        self.view: Any = _RowView(points, self._rest, self._large)
        super().__init__(self._play(), ledger)

    def _play(self) -> Plan[LargeRecovery]:
        labels, how = yield from self._large.play()
        parameters, store, labelling = self._parameters, self._store, self._large.labelling
        self._rest.finish(labels, how, store.labels)
        report = None
        if parameters.audit is not None:
            # Drawn only now: the labels were chosen without knowing which would be checked.
            draws = np.random.default_rng(int(parameters.rng.integers(2**63)))
            report = yield from audited(
                store.labels,
                store.how,
                tuple(self.ledger),
                *parameters.audit,
                draws,
                parameters.margin,
            )
        rows, search = self._rest.rows, labelling.search
        margin = parameters.margin if search is None else search.margin
        return LargeRecovery(
            labels=store.labels,
            how_codes=store.how,
            n_questions=self.n_questions,
            answers=tuple(self.ledger),
            n_sample=len(rows),
            n_sweeps=self._rest.n_sweeps,
            margin=margin,
            n_clusters=parameters.n_clusters,
            search=search,
            audit=report,
            exceptions=tuple(rows[list(labelling.exceptions)].tolist()),
            proof=summary_of(labelling.proof, lambda item: int(rows[item])),
            lift=self._lift,
            sample=SampleRows(
                self._large.points,
                store.labels[rows].astype(np.int64),
                store.how[rows],
                margin,
                search,
                self._lift,
                tuple(self._resolution.tolist()),
            ),
        )


def _sampled_rows(points: Points, parameters: LargeParameters) -> IntArray:
    """The rows that certify in memory would look at first, then those with answers."""
    # Certify draws the seed again, from a generator in the same state.
    seed = sample_seed(copy.deepcopy(parameters.rng))
    rows = first_rows(points.n, min(parameters.sample, points.n), seed)
    asked = {item for answer in parameters.answers for item in answer.question.pair}
    return np.concatenate([rows, np.array(sorted(asked - set(rows.tolist())), dtype=np.int64)])


class _RowView:
    """The data as oracles see it: mostly they are asked about rows of the sample."""

    def __init__(self, points: Points, rest: OtherRows, plan: LargePlan) -> None:
        self._points, self._rest, self._plan = points, rest, plan

    def __len__(self) -> int:
        return self._points.n

    def __getitem__(self, row: int) -> FloatArray:
        at = np.flatnonzero(self._rest.rows == row)
        if len(at):
            return np.asarray(self._plan.points[at[0]])
        return self._points.row(row).astype(np.float64)
