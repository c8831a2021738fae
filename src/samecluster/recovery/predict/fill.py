"""Labels for the points that questions have left open, from the labels of the others.

Where most points are proven or inferred, the clusters are ellipsoids: each open point goes with the
cloud that suits it, or with none if it lies beyond all of them. Otherwise a model learns from the
answers (`model`). All of it is prediction.
"""

from __future__ import annotations

import numpy as np

from samecluster.questions.pair import Verdict
from samecluster.recovery.answer_groups import AnswerGroups
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.predict.calibration import CLOUD_SHARPNESS, Calibration
from samecluster.recovery.predict.clouds import Clouds, beyond_all, edges_of
from samecluster.recovery.predict.plan import PredictRun
from samecluster.recovery.predict.similarity import features
from samecluster.recovery.problem import Problem
from samecluster.recovery.result.how import How

# Points that clouds are fitted to: their error falls with the root, their time grows with n
_FITTED = 20_000
_MOSTLY = 0.5  # share of labels without a model from which on clouds of them stand for the clusters
# Share of points: more than twice the 1 % background of benchmarks/imperfect is a cluster
_MOST_STRAYS = 0.02


def predict_unlabelled(problem: Problem, labelling: Labelling) -> None:
    """Predict every label that is open, without a question."""
    if not (labelling.how <= How.PREDICTED).any():
        return
    if not mostly_known(labelling) or follow_clouds(problem, labelling) is None:
        PredictRun(problem, labelling, expected_error=1.0).write_all()


def keep_together(labelling: Labelling) -> None:
    """Give pairs that an answer joins, and nothing else was asked about, one label."""
    certain = labelling.probability
    for question in AnswerGroups(labelling.answers).isolated_pairs():
        first, second = question.pair
        ways = labelling.how[[first, second]]
        is_known = ways.min() > How.PREDICTED or ways[0] == ways[1]
        if is_known and labelling.labels[first] == labelling.labels[second]:
            continue
        weights = [
            (int(labelling.how[item]), 0.0 if certain is None else float(certain[item]))
            for item in (first, second)
        ]
        kept, gone = (first, second) if weights[0] >= weights[1] else (second, first)
        how = How(labelling.how[kept])
        if how is How.PROVEN and labelling.proof is not None:
            labelling.proof.add_answer(kept, gone, Verdict.SAME.value)
        labelling.mark(np.array([gone]), int(labelling.labels[kept]), how)


def mostly_known(labelling: Labelling) -> bool:
    """Whether most labels need no model."""
    return float(np.mean(labelling.how > How.PREDICTED)) >= _MOSTLY


def follow_clouds(problem: Problem, labelling: Labelling) -> float | None:
    """Predict open labels by the clouds of the others; the share of labels expected to be wrong.

    A few points beyond all clouds get no label. If they are too many, clouds do not tell: nothing
    is written, and None is returned.
    """
    known = np.flatnonzero(labelling.how > How.PREDICTED)
    some = np.sort(problem.rng.permutation(known)[:_FITTED])
    open_ = np.setdiff1d(
        np.flatnonzero(labelling.how <= How.PREDICTED), np.array(labelling.exceptions, np.int64)
    )
    if not len(open_):
        return 0.0
    points = features(problem.X, some)
    names, groups = np.unique(labelling.labels[some], return_inverse=True)
    clouds = Clouds(points[some], groups, len(names))
    trust = Calibration.fitted(clouds.scores(), groups, CLOUD_SHARPNESS)
    chances = trust.probabilities(clouds.scores_of(points[open_]))
    chances = labelling.allowed_chances(open_, chances, names)
    best = chances.argmax(axis=1)
    margin = problem.margin if problem.margin is not None else 0.0
    known = known[np.isin(labelling.labels[known], names)]
    members = np.searchsorted(names, labelling.labels[known])
    stray = beyond_all(clouds, edges_of(clouds, points[known], members, margin), points[open_])
    if np.count_nonzero(stray) > _MOST_STRAYS * len(labelling.labels):
        return None  # too many strays: probably an undiscovered cluster
    stray |= chances.max(axis=1) == 0
    probability = np.where(labelling.how == How.ASKED, 1.0, np.nan)
    probability[open_] = chances.max(axis=1)
    labelling.note_probability(probability)
    labelling.mark(open_[~stray], names[best[~stray]], How.PREDICTED)
    doubt = 1.0 - chances.max(axis=1)[~stray]
    return float(doubt.sum()) / len(labelling.labels)
