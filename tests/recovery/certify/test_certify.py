"""Certify: every label right and proven, in few questions, whatever the guide believes."""

from typing import Any

import numpy as np
import pytest

from samecluster import (
    Answer,
    Certify,
    Question,
    Recovery,
    Verdict,
    clustering_error,
    recover,
    start,
)
from samecluster._resolution import resolution_of
from samecluster.errors import InvalidInputError, RefutedError
from samecluster.geometry.reach.kernel import Kernel, compiled_programs
from samecluster.instances import Instance, make_ellipsoids
from samecluster.oracles import LabelOracle
from samecluster.proof.checker import BadProof, check
from samecluster.recovery.certify.guide.guide import Guide
from samecluster.recovery.certify.knowledge import Knowledge
from tests.cases.campaign import runs

pytestmark = pytest.mark.compiled
CAMPAIGN = runs(52, 6000)
SHARDS = 26
PLAIN = Certify(kernel="numpy")


def certified(made: Instance, method: Any = PLAIN, k: int | None = 0, seed: int = 0) -> Recovery:
    """A recovery whose labels are right and whose proof passes the checker."""
    found = recover(
        made.X,
        LabelOracle(made.labels),
        n_clusters=made.n_clusters if k == 0 else k,
        margin=made.margin,
        method=method,
        random_state=seed,
    )
    assert clustering_error(found.labels, made.labels) == 0
    assert set(found.how) <= {"asked", "proven"}
    assert found.proof is not None
    verified = check(made.X, found.proof.lines())
    assert clustering_error(verified.labels, found.labels) == 0
    assert verified.all_different
    return found


def hard_instance(seed: int) -> Instance:
    """One of the families that hurt, small."""
    rng = np.random.default_rng(seed)
    d, k = int(rng.integers(1, 7)), int(rng.integers(2, 7))
    family = seed % 8
    options: dict[str, Any] = {"margin": float(rng.choice([0.05, 0.2, 0.5, 1.0, 3.0]))}
    if family == 0:
        options["sizes"] = [100.0] * (k - 1) + [1.0]
    elif family == 1:
        options["sizes"] = [100.0] * (k - 1) + [1e-9]
    elif family == 2:
        d = 8
        options["rank"] = [int(r) for r in rng.integers(1, 3, size=k)]
    elif family in (3, 4, 5):
        options["fill"] = ("shell", "half", "blobs")[family - 3]
    elif family == 6:
        d, k = int(rng.integers(1, 4)), 20
    n = int(rng.integers(6 * k, 10 * k if k == 20 else 28 * k))
    made = make_ellipsoids(n, d, k, random_state=rng, **options)
    if seed % 3 == 0:
        scale = 10.0 ** rng.integers(-8, 9, size=d)
        made = Instance(made.X * scale, made.labels, made.margin, made.ellipsoids)
    return made


@pytest.mark.campaign
@pytest.mark.parametrize("shard", range(SHARDS))
def test_all_families_are_exact_and_every_proof_passes(shard) -> None:
    for seed in range(shard, CAMPAIGN, SHARDS):
        made = hard_instance(seed)
        known_k = made.n_clusters if seed % 2 else None
        batch = int(np.random.default_rng([seed, 1]).choice([1, 1, 4]))
        effort: Any = "fast" if seed % 3 == 1 else "auto"
        certified(made, Certify(kernel="numpy", batch=batch, effort=effort), known_k, seed)


@pytest.mark.skipif(compiled_programs() is None, reason="numba is not installed")
@pytest.mark.parametrize("d", [2, 4])
def test_the_compiled_kernel_proves_as_well(d) -> None:
    for seed in range(3):
        made = make_ellipsoids(20_000, d, 5, random_state=seed)
        fast = certified(made, Certify(kernel="compiled"), seed=seed)
        plain = certified(made, PLAIN, seed=seed)
        assert abs(fast.n_questions - plain.n_questions) <= 3


@pytest.mark.parametrize(("d", "goal"), [(2, 22), (4, 31), (6, 41)])
def test_questions_stay_at_the_floor(d, goal) -> None:
    """Counts are deterministic given the seed; the goals are those of the benchmark."""
    counts = [
        certified(make_ellipsoids(20_000, d, 5, random_state=seed), seed=seed).n_questions
        for seed in range(3)
    ]
    assert np.mean(counts) <= goal


def test_an_unknown_number_of_clusters_costs_little() -> None:
    made = make_ellipsoids(10_000, 3, 5, random_state=0)
    known = certified(made).n_questions
    unknown = certified(made, k=None).n_questions
    # With k the names are counted; without, pairs of them must be told apart.
    assert known <= 5 * 3
    assert unknown <= 5 * 3 + 10


def test_a_guide_that_knows_nothing_costs_questions_only(monkeypatch) -> None:
    """All points in one component, or at random: the labels are still right and proven."""
    made = make_ellipsoids(3000, 3, 4, random_state=1)
    rng = np.random.default_rng(0)
    for guess in (np.zeros(3000, dtype=np.int64), rng.integers(4, size=3000)):
        monkeypatch.setattr(
            "samecluster.recovery.certify.guide.guide.components", lambda *a, g=guess: g.copy()
        )
        assert certified(made).n_questions < 300
    monkeypatch.setattr(Guide, "learn", lambda *a: None)
    assert certified(made).n_questions < 600


def test_several_people_get_a_batch_of_different_points() -> None:
    made = make_ellipsoids(5000, 4, 4, random_state=2)
    run = start(made.X, n_clusters=4, margin=1.0, method=Certify(batch=6), random_state=0)
    largest = 0
    while run.pending:
        pending = run.pending
        assert len({question.item for question in pending}) == len(pending) <= 6
        largest = max(largest, len(pending))
        for question in pending:
            i, j = question.pair
            run.tell(question, same=bool(made.labels[i] == made.labels[j]))
    assert largest >= 4
    assert clustering_error(run.result.labels, made.labels) == 0


def test_a_batch_goes_on_where_nobody_can_say_where_points_belong() -> None:
    for seed in range(8):
        made = make_ellipsoids(600, 3, 4, random_state=seed)
        shy = set(np.random.default_rng(seed).permutation(600)[:200].tolist())

        def answer(i: int, j: int, made: Instance = made, shy: set[int] = shy) -> Verdict:
            same = bool(made.labels[i] == made.labels[j])
            return Verdict.UNSURE if shy & {i, j} else Verdict.of(same)

        found = recover(made.X, answer, margin=1.0, method=Certify(batch=8), random_state=seed)
        told = found.labels >= 0
        assert clustering_error(found.labels[told], made.labels[told]) == 0


def test_fewer_clusters_than_declared_are_looked_into() -> None:
    """A ring around a disc: no margin holds, and the answers that are asked do not show it."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, size=300)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    X = np.concatenate([0.1 * rng.normal(size=(300, 2)), ring])
    oracle = LabelOracle(np.repeat([0, 1], 300))
    with pytest.raises(RefutedError, match="would have to be in cluster 0, but answers say"):
        recover(X, oracle, margin=0.5, n_clusters=2, method=PLAIN, random_state=0)
    found = recover(X, oracle, n_clusters=2, random_state=0)
    assert len(np.unique(found.labels)) == 2


def test_comparators_are_asked_members() -> None:
    """A proven comparator would confirm a mistake if the margin were wrong."""
    made = make_ellipsoids(5000, 3, 4, random_state=3)
    found = certified(made)
    asked = set(np.flatnonzero(found.how == "asked").tolist())
    for answer in found.answers:
        assert answer.question.comparator in asked


def test_a_margin_that_is_too_large_is_refuted_and_a_smaller_one_named() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    labels = (X[:, 0] > 0).astype(int)
    with pytest.raises(RefutedError, match="allow margins below") as caught:
        recover(X, LabelOracle(labels), n_clusters=2, margin=1.0, random_state=0)
    error = caught.value
    assert 0 < error.largest_margin < 1
    assert error.answers
    assert any(error.item in answer.question.pair for answer in error.answers)


def test_identical_points_with_different_answers_allow_no_margin() -> None:
    X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 3.0], [2.0, 2.0]])
    known = Knowledge(X, 0.5, None, resolution_of(X), Kernel(), seed=0)
    known.found_cluster(0)
    known.take_answer(Question(1, 0), 0, Verdict.DIFFERENT)
    known.found_cluster(1)
    with pytest.raises(RefutedError, match="no margin at all") as caught:
        known.close()
    assert caught.value.largest_margin == 0


def test_a_run_that_was_refuted_stays_so() -> None:
    X = np.random.default_rng(0).normal(size=(500, 2))
    run = start(X, n_clusters=2, margin=1.0, random_state=0)

    def answer_all() -> None:
        while run.pending:
            for question in run.pending:
                i, j = question.pair
                run.tell(question, same=bool((X[i, 0] > 0) == (X[j, 0] > 0)))

    with pytest.raises(RefutedError):
        answer_all()
    assert run.pending == ()
    assert not run.done
    with pytest.raises(RefutedError):
        _ = run.result


def test_more_clusters_than_declared_are_refused() -> None:
    X = np.array([[0.0], [9.0], [20.0]])
    known = Knowledge(X, 1.0, 2, resolution_of(X), Kernel(), seed=0)
    for item in range(3):
        for other in range(item):
            known.take_answer(Question(item, other), other, Verdict.DIFFERENT)
        known.found_cluster(item)
    with pytest.raises(RefutedError, match="more clusters than declared"):
        known.raise_if_too_many()


def test_two_names_of_one_cluster_are_merged() -> None:
    """A guide that sees two clusters where there is one costs questions, not truth."""
    rng = np.random.default_rng(0)
    X = np.concatenate(
        [rng.normal(size=(300, 2)), rng.normal(size=(300, 2)) + np.array([40.0, 0.0])]
    )
    X[:150, 0] -= 6.0  # the first cluster has two lumps
    labels = np.repeat([0, 1], 300)
    made = Instance(X, labels, 0.5, make_ellipsoids(4, 2, 2, random_state=0).ellipsoids)
    for k in (2, None):
        for seed in range(4):
            certified(made, k=k, seed=seed)


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_odd_data_neither_crashes_nor_proves_anything_false(scale) -> None:
    rng = np.random.default_rng(0)
    grid = rng.integers(0, 4, size=(300, 2)) * scale
    tilted = rng.normal(size=(300, 1)) @ rng.normal(size=(1, 3)) * scale + 1e6 * scale
    for X, margin in ((grid, 0.05), (tilted, 1e-7), (np.hstack([grid, 0 * grid]), 0.05)):
        labels = (X[:, 0] > np.median(X[:, 0])).astype(int)
        found = recover(X, LabelOracle(labels), margin=margin, random_state=0)
        assert clustering_error(found.labels, labels) == 0
        assert found.proof is not None
        check(X, found.proof.lines())


def test_unsure_answers_are_not_written_into_the_proof() -> None:
    made = make_ellipsoids(2000, 2, 3, random_state=0)
    run = start(made.X, n_clusters=3, margin=1.0, random_state=0)
    turn = 0
    while run.pending:
        for question in run.pending:
            turn += 1
            i, j = question.pair
            verdict = Verdict.of(bool(made.labels[i] == made.labels[j]))
            run.tell(question, Verdict.UNSURE if turn % 3 == 0 else verdict)
    found = run.result
    known = found.labels >= 0
    assert known.mean() > 0.9
    assert clustering_error(found.labels[known], made.labels[known]) == 0
    assert found.proof is not None
    shown = check(made.X, found.proof.lines()).labels
    assert ((shown >= 0) == known).all()
    assert clustering_error(shown[known], found.labels[known]) == 0


def test_explanations_say_which_points_and_weights() -> None:
    made = make_ellipsoids(3000, 2, 3, random_state=0)
    found = certified(made)
    proven = np.flatnonzero(found.how == "proven")
    texts = [found.explain(int(i)) for i in proven[:50]]
    assert any("× item" in text and "≤ √(1+γ) = 1.41421" in text for text in texts)
    asked = int(np.flatnonzero(found.how == "asked")[1])
    assert "by answers" in found.explain(asked)


FORGERIES = 60


def test_a_forged_log_of_a_real_run_is_rejected() -> None:
    """Any row whose point is replaced by one of another cluster must fail, and so must any order
    that uses a point before it is shown."""
    made = make_ellipsoids(1500, 3, 3, random_state=0)
    found = certified(made)
    assert found.proof is not None
    lines = list(found.proof.lines())
    rng = np.random.default_rng(0)
    blocks = [at for at, line in enumerate(lines) if isinstance(line, tuple) and line[0] == "in"]
    for _ in range(FORGERIES):
        at = int(rng.choice(blocks))
        _, cluster, rows = lines[at]
        row = int(rng.integers(len(rows)))
        forged = rows.copy()
        kind = int(rng.integers(3))
        if kind == 0:
            forged[row, 0] = rng.choice(np.flatnonzero(made.labels != made.labels[rows[row, 0]]))
        elif kind == 1:
            forged[row, 1:] = rng.choice(np.flatnonzero(found.labels != cluster), size=4)
        else:
            forged[row, 1] = forged[row, 2]
        with pytest.raises(BadProof):
            check(made.X, [*lines[:at], ("in", cluster, forged), *lines[at + 1 :]])
    with pytest.raises(BadProof):
        check(made.X, [lines[0], *reversed(lines[1:])])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch": 0}, "batch must be"),
        ({"resolution": -0.1}, "resolution must be"),
        ({"resolution": 1.0}, "resolution must be"),
        ({"kernel": "gpu"}, "kernel is"),
    ],
)
def test_impossible_settings_are_refused(settings, message) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Certify(**settings)


def test_methods_that_need_the_number_of_clusters_say_so() -> None:
    for method in ("recur", "scq-k-means"):
        with pytest.raises(InvalidInputError, match="needs n_clusters"):
            recover([[0], [1], [2]], lambda i, j: True, margin=1.0, method=method)


def without_answers(found: Recovery) -> set[str]:
    """Kinds of records that needed no question."""
    assert found.proof is not None
    return {record[0] for record in found.proof.records} - {"answer", "cluster"}


@pytest.mark.parametrize("kernel", ["numpy", "compiled"])
def test_thinking_saves_questions_at_a_small_margin(kernel) -> None:
    if kernel == "compiled" and compiled_programs() is None:
        pytest.skip("numba is not installed")
    made = make_ellipsoids(600, 3, 4, margin=0.2, random_state=1)
    fast = certified(made, Certify(kernel=kernel, effort="fast"))
    auto = certified(made, Certify(kernel=kernel))
    assert auto.n_questions < fast.n_questions
    assert {"out", "sdp", "last"} <= without_answers(auto)
    assert "sdp" not in without_answers(fast)


def test_names_are_told_apart_without_a_question() -> None:
    made = make_ellipsoids(3000, 3, 5, random_state=4)
    fast = certified(made, Certify(effort="fast"), k=None)
    auto = certified(made, k=None)
    assert "differ" in without_answers(auto)
    assert auto.n_questions < fast.n_questions


def test_thorough_is_exact_too() -> None:
    for seed in range(runs(1, 10)):
        made = make_ellipsoids(300, 3, 4, margin=0.2, random_state=seed)
        auto = certified(made, Certify(), seed=seed).n_questions
        assert certified(made, Certify(effort="thorough"), seed=seed).n_questions <= auto + 5


def test_an_effort_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="effort"):
        Certify(effort="lazy")  # type: ignore[arg-type]


def test_a_margin_that_is_too_large_is_refuted_also_by_thinking() -> None:
    """Whatever is concluded under a wrong margin, an answer that forbids it is noticed, or the
    labels are right: a wrong label is never returned with all its own answers respected."""
    allowed = []
    for seed in range(12):
        made = make_ellipsoids(400, 2, 4, margin=0.1, fill="shell", random_state=seed)
        try:
            found = recover(
                made.X,
                LabelOracle(made.labels),
                n_clusters=4,
                margin=0.8,
                method=PLAIN,
                random_state=seed,
            )
        except RefutedError as error:
            allowed.append(error.largest_margin)
            continue
        for answer in found.answers:
            i, j = answer.question.pair
            same = found.labels[i] == found.labels[j]
            assert same == (answer.verdict is Verdict.SAME)
    assert allowed
    assert 0 <= min(allowed) <= max(allowed) < 0.8


def test_answers_given_before_are_used_and_not_asked_again() -> None:
    made = make_ellipsoids(4000, 3, 4, random_state=6)
    oracle = LabelOracle(made.labels)
    whole = certified(made)
    options: dict[str, Any] = {"n_clusters": 4, "margin": 1.0}
    again = recover(made.X, oracle, answers=whole.answers, **options, random_state=99)
    assert again.n_questions == 0, "all follows from the answers, whatever the seed"
    for part in (3, 7, whole.n_questions - 1):
        rest = recover(made.X, oracle, answers=whole.answers[:part], **options, random_state=5)
        assert clustering_error(rest.labels, made.labels) == 0
        assert rest.answers[:part] == whole.answers[:part]
        assert rest.n_questions <= whole.n_questions
        assert rest.proof is not None
        check(made.X, rest.proof.lines())


def test_answers_of_strangers_in_any_order_are_taken_in() -> None:
    """Answers that no plan asked: chains, merged names, unsure ones, pairs known to differ."""
    for seed in range(6):
        made = make_ellipsoids(300, 2, 3, random_state=seed)
        rng = np.random.default_rng(seed)
        given = []
        for _ in range(60):
            i, j = (int(item) for item in rng.choice(300, size=2, replace=False))
            verdict = Verdict.of(bool(made.labels[i] == made.labels[j]))
            given.append(Answer(Question(i, j), Verdict.UNSURE if rng.random() < 0.1 else verdict))
        found = recover(
            made.X, LabelOracle(made.labels), n_clusters=None, margin=1.0, answers=given
        )
        assert clustering_error(found.labels, made.labels) == 0
        assert found.proof is not None
        assert check(made.X, found.proof.lines()).all_different


def test_answers_given_before_that_the_margin_forbids_are_refuted() -> None:
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    given = [
        Answer(Question(0, 2), Verdict.SAME),
        Answer(Question(0, 1), Verdict.DIFFERENT),
    ]
    with pytest.raises(RefutedError):
        start(X, n_clusters=2, margin=1.0, answers=given)
    with pytest.raises(InvalidInputError, match="does not exist"):
        start(X, n_clusters=2, margin=1.0, answers=[Answer(Question(0, 9), Verdict.SAME)])
