"""RECUR is exact where it promises to be, and its cells are monochromatic."""

import dataclasses
import math

import numpy as np
import pytest

from samecluster import How, Question, Recur, Verdict, clustering_error, recover, start
from samecluster.errors import InvalidInputError
from samecluster.geometry.ellipsoid import Ellipsoid
from samecluster.geometry.mvee import enclosing_ellipsoid
from samecluster.instances import Instance, make_ellipsoids
from samecluster.oracles import LabelOracle
from samecluster.questions.ledger import Ledger
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.paper.recur import RecurRun
from samecluster.recovery.problem import Problem
from tests.cases.campaign import runs

CAMPAIGN = runs(160, 12_000)
SHARDS = 16
UNUSED = Ellipsoid(np.zeros(0), np.zeros((0, 0)), np.zeros(0))  # only the number of them counts


def random_instance(seed: int) -> Instance:
    """Any dimension, rank, balance and margin; some points stand twice."""
    rng = np.random.default_rng(seed)
    d, k = int(rng.integers(1, 7)), int(rng.integers(2, 9))
    made = make_ellipsoids(
        n=int(rng.integers(10 * k, 80 * k)),
        d=d,
        k=k,
        margin=float(rng.choice([0.05, 0.2, 0.5, 1.0, 3.0])),
        condition=float(rng.choice([1.0, 100.0, 1e6])),
        rank=[int(r) for r in rng.integers(1, d + 1, size=k)] if rng.random() < 0.5 else None,
        sizes=rng.exponential(size=k) + 0.01,
        random_state=rng,
    )
    copies = rng.integers(len(made.X), size=len(made.X) // 10)
    order = rng.permutation(len(made.X) + len(copies))
    scale = 10.0 ** rng.integers(-6, 7, size=d)
    X = np.concatenate([made.X, made.X[copies]])[order] * scale
    labels = np.concatenate([made.labels, made.labels[copies]])[order]
    return Instance(X, labels, made.margin, made.ellipsoids)


def surrounded_instance(seed: int) -> Instance:
    """A cluster with single foreign points all around it, just outside the margin.

    The ellipsoid of any sample sticks out among them, so a cell that is too large mixes.
    """
    rng = np.random.default_rng([seed, 2])
    d, margin = int(rng.integers(1, 5)), float(rng.choice([0.05, 0.2, 0.5, 1.0]))
    n, n_foreign = int(rng.integers(20, 400)), int(rng.integers(1, 40))
    directions = rng.normal(size=(n + n_foreign, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    radii = np.concatenate([rng.random(n) ** (1 / d), np.full(n_foreign, 1 + 1e-6)])
    radii[n:] *= radii[:n].max() * np.sqrt(1 + margin) * (1 + 0.1 * rng.random(n_foreign) ** 3)
    X = (directions * radii[:, None]) @ (rng.normal(size=(d, d)) * np.exp(rng.normal(size=d)))
    labels = np.concatenate([np.zeros(n, dtype=np.int64), 1 + np.arange(n_foreign)])
    order = rng.permutation(len(X))
    return Instance(
        X[order] + rng.normal(size=d), labels[order], margin, (UNUSED,) * (n_foreign + 1)
    )


def capped_instance(seed: int) -> Instance:
    """A cluster that fills a cap of its ball, with foreign points where its MVEE leaves the ball.

    A sample's MVEE does not separate it from these, so a separator is an ellipsoid of its own.
    """
    rng = np.random.default_rng([seed, 3])
    d, margin = int(rng.integers(2, 5)), float(rng.choice([0.02, 0.05, 0.1, 0.2]))
    sphere = rng.normal(size=(20_000, d))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    members = sphere * rng.random((20_000, 1)) ** (1 / d)
    members = members[members[:, 0] > 0.6][: int(rng.integers(50, 800))]
    foreign = sphere * np.sqrt(1 + margin) * (1 + 1e-6 + 0.02 * rng.random((20_000, 1)))
    around = enclosing_ellipsoid(members).ellipsoid
    foreign = foreign[np.argsort(around.norms(foreign))[: int(rng.integers(5, 60))]]
    X = np.concatenate([members, foreign]) @ (rng.normal(size=(d, d)) * np.exp(rng.normal(size=d)))
    labels = np.maximum(np.arange(len(X)) - len(members) + 1, 0)
    order = rng.permutation(len(X))
    return Instance(
        X[order] + rng.normal(size=d), labels[order], margin, (UNUSED,) * (len(foreign) + 1)
    )


def random_settings(seed: int) -> Recur:
    rng = np.random.default_rng([seed, 1])
    return Recur(
        sampling="until" if rng.random() < 0.5 else "batches",
        sample_constant=float(rng.choice([0.1, 0.5, 4.5])),
        expansion=None if rng.random() < 0.5 else "sound",
        ellipsoid="mvee" if rng.random() < 0.5 else "separator",
    )


INSTANCES = (random_instance, surrounded_instance, random_instance, capped_instance)


@pytest.mark.campaign
@pytest.mark.parametrize("shard", range(SHARDS))
def test_recur_is_exact_and_its_cells_are_monochromatic(shard, monkeypatch) -> None:
    tessellate = RecurRun._tessellate
    enclose = RecurRun._enclose
    seen = {"cells": 0, "shared": 0, "stretched": 0}

    def enclosed(self, members, foreign):
        ellipsoid, rounding = enclose(self, members, foreign)
        points = self.points[members]
        assert ellipsoid.contains(points, off_span=self.thickness, slack=1e-9).all()
        if rounding > 1.01 * enclosing_ellipsoid(points, thickness=self.thickness).rounding:
            assert self.settings.ellipsoid == "separator"
            assert not ellipsoid.contains(self.points[foreign], off_span=self.thickness).any()
            seen["stretched"] += 1
        return ellipsoid, rounding

    def watched(self, members, others, foreign):
        inside, cells = tessellate(self, members, others, foreign)
        both = np.concatenate([members, inside])
        in_cluster = made.labels[both] == made.labels[members[0]]
        size = np.bincount(cells)
        hits = np.bincount(cells, weights=in_cluster)
        assert ((hits == 0) | (hits == size)).all(), "a cell mixes members and others"
        seen["cells"] += len(size)
        seen["shared"] += int((size > 1).sum())
        return inside, cells

    monkeypatch.setattr(RecurRun, "_tessellate", watched)
    monkeypatch.setattr(RecurRun, "_enclose", enclosed)
    for seed in range(shard, CAMPAIGN, SHARDS):
        make = INSTANCES[seed // SHARDS % len(INSTANCES)]
        made, settings = make(seed), random_settings(seed)
        if make is capped_instance:
            settings = dataclasses.replace(settings, ellipsoid="separator")
        found = recover(
            made.X,
            LabelOracle(made.labels),
            n_clusters=made.n_clusters,
            margin=made.margin,
            method=settings,
            random_state=seed,
        )
        assert clustering_error(found.labels, made.labels) == 0, f"seed {seed}"
        assert set(found.how) <= {"asked", "proven"}, f"seed {seed}"
        assert found.n_questions <= made.n_clusters * len(made.X)
    assert seen["cells"] > 0
    assert seen["shared"] > 0, "no cell held two points, so the test shows nothing"
    assert seen["stretched"] > 0, "no separator was needed, so the test shows nothing of them"


def test_a_dense_cluster_costs_few_questions() -> None:
    """Counts are deterministic given the seed; these are what the demo's family costs."""
    made = make_ellipsoids(20_000, 3, 4, random_state=0)
    oracle = LabelOracle(made.labels)
    counts = {}
    for name, method in {
        "sound": Recur(sampling="batches"),
        "none": Recur(sampling="batches", expansion=None),
        "published": Recur.as_published(),
    }.items():
        found = recover(made.X, oracle, n_clusters=4, margin=1.0, method=method, random_state=0)
        assert clustering_error(found.labels, made.labels) == 0
        counts[name] = found.n_questions
    assert counts["sound"] < 500
    assert counts["sound"] < counts["published"] < counts["none"] < 4 * 20_000


def test_epsilon_stops_early_and_says_what_is_left() -> None:
    made = make_ellipsoids(2000, 2, 4, random_state=1)
    found = recover(
        made.X,
        LabelOracle(made.labels),
        n_clusters=4,
        margin=1.0,
        method=Recur(epsilon=0.3),
        random_state=0,
    )
    left = found.labels < 0
    assert 0 < left.mean() <= 0.3
    assert (found.how[left] == "unassigned").all()
    assert clustering_error(found.labels, made.labels) == pytest.approx(left.mean())


def test_the_error_curve_follows_the_rounds() -> None:
    made = make_ellipsoids(3000, 2, 3, random_state=2)
    found = recover(
        made.X,
        LabelOracle(made.labels),
        n_clusters=3,
        margin=1.0,
        method=Recur(sampling="batches"),
        random_state=0,
    )
    curve = found.error_curve(made.labels)
    questions, errors = zip(*curve, strict=True)
    assert questions[-1] == found.n_questions == sum(r.n_questions for r in found.rounds)
    assert list(errors) == sorted(errors, reverse=True)
    assert errors[-1] == 0
    assert [round(1 - r.n_labelled / 3000, 9) for r in found.rounds] == [
        round(e, 9) for e in errors
    ]


def test_settings_without_a_guarantee_only_infer() -> None:
    made = make_ellipsoids(2000, 2, 3, random_state=3)
    for method in (Recur(capped=False), Recur(expansion="paper"), Recur.as_published()):
        found = recover(made.X, LabelOracle(made.labels), n_clusters=3, margin=1.0, method=method)
        assert found.count(How.PROVEN) == 0
        assert found.count(How.INFERRED) > 0


def test_the_sample_size_keeps_half_of_the_cluster_inside_the_ellipsoid() -> None:
    """The reason given for b: on average at most half of C lies outside, for any d and k."""
    for d in range(1, 50):
        size = math.ceil(Recur().sample_constant * d**2 * math.log(2))
        assert d * (d + 3) / 2 / (size + 1) <= 0.5


@pytest.mark.parametrize("method", ["certify", "recur", "everything", "scq-k-means"])
def test_unsure_answers_end_with_points_set_aside(method) -> None:
    """Nobody can tell anything about item 5; everything else is found, nothing loops."""
    made = make_ellipsoids(300, 2, 3, random_state=4)
    run = start(made.X, n_clusters=3, margin=1.0, method=method, random_state=0)
    while run.pending:
        for question in run.pending:
            i, j = question.pair
            verdict = Verdict.of(bool(made.labels[i] == made.labels[j]))
            run.tell(question, Verdict.UNSURE if 5 in (i, j) else verdict)
    found = run.result
    if method != "scq-k-means":
        others = np.arange(300) != 5
        assert clustering_error(found.labels[others], made.labels[others]) == 0
        assert found.labels[5] in (-1, found.labels[made.labels == made.labels[5]][0])


def test_an_oracle_that_is_never_sure_leaves_everything_unassigned() -> None:
    made = make_ellipsoids(40, 2, 2, random_state=0)
    for method in ("recur", "certify"):
        found = recover(
            made.X,
            lambda i, j: Verdict.UNSURE,
            n_clusters=2,
            margin=1.0,
            method=method,
            random_state=0,
        )
        # A cluster's first point needs no question; all others stay open.
        assert np.count_nonzero(found.labels >= 0) <= 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sampling": "sometimes"}, "sampling is"),
        ({"expansion": "wild"}, "expansion is"),
        ({"ellipsoid": "sphere"}, 'ellipsoid is "mvee" or "separator", got \'sphere\''),
        ({"epsilon": 1.0}, "epsilon must be"),
        ({"sample_constant": 0.0}, "sample_constant must be"),
    ],
)
def test_impossible_settings_are_refused(settings, message) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Recur(**settings)


def test_a_cell_about_which_nobody_is_sure_gets_no_label() -> None:
    made = make_ellipsoids(40, 2, 2, random_state=0)
    problem = Problem(made.X, n_clusters=2, margin=1.0, rng=np.random.default_rng(0))
    labelling = Labelling(problem, "recur", Ledger())
    run = RecurRun(Recur(), problem, labelling)
    run.placing.found(0)
    plan = run._ask_cells(0, np.array([3, 4, 5]), np.array([0, 0, 1]))
    assert next(plan) == [Question(3, 0), Question(5, 0)], "one question per cell"
    assert plan.send([Verdict.UNSURE, Verdict.SAME]) == [Question(4, 0)], "then another point"
    plan.send([Verdict.UNSURE])
    with pytest.raises(StopIteration):
        plan.send([Verdict.UNSURE])
    assert labelling.labels[[3, 4]].tolist() == [-1, -1]
    assert (labelling.labels[5], labelling.how[5]) == (0, How.ASKED)
