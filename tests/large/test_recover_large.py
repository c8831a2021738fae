"""Data in blocks: the same questions and labels as in memory, wherever the data lives."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samecluster import Certify, How, Recovery, clustering_error, recover
from samecluster.errors import RefutedError
from samecluster.instances import Instance, make_ellipsoids
from samecluster.large.api import recover_large, start_large
from samecluster.large.result import LargeRecovery
from samecluster.oracles import LabelOracle
from samecluster.oracles.functions import RowOracle
from samecluster.points.block_work import over_blocks
from samecluster.proof.checker import VerifiedProof, check, fingerprint
from samecluster.proof.files import read_lines
from samecluster.recovery.certify.levels import first_rows

pytestmark = pytest.mark.compiled
PLAIN = Certify(kernel="numpy")


def in_blocks(made: Instance, source: Any = None, **options: Any) -> LargeRecovery:
    options = {"n_clusters": made.n_clusters, "margin": made.margin, "random_state": 0} | options
    return recover_large(made.X if source is None else source, LabelOracle(made.labels), **options)


def in_memory(made: Instance, method: Any = "certify") -> Recovery:
    return recover(
        made.X,
        LabelOracle(made.labels),
        n_clusters=made.n_clusters,
        margin=made.margin,
        method=method,
        random_state=0,
    )


def checked(X: Any, found: LargeRecovery, proof: Path) -> VerifiedProof:
    """The proof as the checker sees it, which must agree with every label."""
    shown = check(np.asarray(X, dtype=np.float64), read_lines(proof))
    known = found.labels >= 0
    assert ((shown.labels >= 0) == known).all()
    assert clustering_error(shown.labels[known], found.labels[known]) == 0
    return shown


@pytest.mark.parametrize(("n", "d", "k", "sample"), [(30_000, 2, 3, 4096), (40_000, 4, 5, 16_384)])
def test_questions_and_labels_are_those_of_the_data_in_memory(n, d, k, sample, tmp_path) -> None:
    """The sample is a level of the run in memory, so everything up to the sweep is the same."""
    made = make_ellipsoids(n, d, k, random_state=1)
    whole = in_memory(made)
    for block in (n, 7_001):
        found = in_blocks(made, sample=sample, block=block, proof=tmp_path / "proof.gz")
        assert [a.question for a in found.answers] == [a.question for a in whole.answers]
        assert (found.labels == whole.labels).all()
        assert found.n_questions == whole.n_questions
        assert found.count(How.PROVEN) == whole.count(How.PROVEN)
        assert found.n_sweeps == 1
        checked(made.X, found, tmp_path / "proof.gz")


def test_data_that_fits_is_recovered_as_in_memory() -> None:
    for seed, margin in enumerate([0.3, 1.0, 1.0]):
        made = make_ellipsoids(500, 3, 4, margin=margin, random_state=seed)
        found, whole = in_blocks(made, block=100, method=PLAIN), in_memory(made, PLAIN)
        assert found.answers == whole.answers
        assert (found.labels == whole.labels).all()
        assert (found.how_codes == whole.how_codes).all()


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    d=st.integers(1, 4),
    k=st.integers(2, 4),
    fill=st.sampled_from(["ball", "shell", "half", "blobs"]),
    sample=st.integers(20, 300),
    blocks=st.tuples(st.integers(1, 700), st.integers(50, 700)),
    told=st.booleans(),
)
def test_any_sample_and_any_block_prove_the_truth(
    seed, d, k, fill, sample, blocks, told, tmp_path_factory
) -> None:
    """However small the sample: labels are the true ones, the proof holds, and neither the
    questions nor the labels depend on where blocks are cut or on how many threads work."""
    made = make_ellipsoids(600, d, k, fill=fill, random_state=seed)
    runs = []
    for block, threads in zip(blocks, (1, 3), strict=True):
        proof = tmp_path_factory.mktemp("scale") / "proof.gz"
        found = in_blocks(
            made,
            sample=sample,
            block=block,
            threads=threads,
            method=PLAIN,
            n_clusters=k if told else None,
            proof=proof,
        )
        assert clustering_error(found.labels, made.labels) == 0
        assert not found.count(How.UNASSIGNED)
        assert checked(made.X, found, proof).all_different
        runs.append(found)
    one, other = runs
    assert one.answers == other.answers
    assert (one.labels == other.labels).all()
    assert (one.how_codes == other.how_codes).all()


def test_undecided_rows_join_the_sample_and_are_asked_about() -> None:
    """A cluster that the sample does not hold is found by the sweep."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(5_000, 2)), rng.normal(size=(5_000, 2)) + 60.0])
    X = np.concatenate([X, rng.normal(size=(3, 2)) + np.array([0.0, 90.0])])
    labels = np.repeat([0, 1, 2], [5_000, 5_000, 3])
    found = recover_large(
        X, LabelOracle(labels), margin=1.0, sample=300, random_state=1, method=PLAIN
    )
    assert found.n_sample > 300
    assert clustering_error(found.labels, labels) == 0


def test_more_undecided_rows_than_fit_are_taken_in_turns(monkeypatch) -> None:
    monkeypatch.setattr("samecluster.large.other_rows._MOST_TAKEN", 40)
    made = make_ellipsoids(3_000, 3, 3, fill="shell", random_state=5)
    runs = [in_blocks(made, sample=60, block=block, method=PLAIN) for block in (500, 999)]
    assert runs[0].n_sweeps > 1
    assert runs[0].answers == runs[1].answers
    for found in runs:
        assert clustering_error(found.labels, made.labels) == 0


def test_single_precision_is_the_same_data(tmp_path) -> None:
    """Float32 is read in blocks as it is; the proof is about its numbers as doubles."""
    made = make_ellipsoids(20_000, 3, 3, margin=1.1, random_state=2)
    single = made.X.astype(np.float32)
    options = {"margin": 1.0, "sample": 4096, "block": 3_000}
    narrow = in_blocks(made, single, **options, proof=tmp_path / "proof.gz")
    wide = in_blocks(made, single.astype(np.float64), **options)
    assert narrow.answers == wide.answers
    assert (narrow.labels == wide.labels).all()
    checked(single, narrow, tmp_path / "proof.gz")


def test_every_container_gives_the_same_questions_and_labels(tmp_path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    made = make_ellipsoids(9_000, 3, 3, random_state=4)
    np.save(tmp_path / "whole.npy", made.X)
    np.save(tmp_path / "turned.npy", np.asfortranarray(made.X))
    (tmp_path / "arrays").mkdir()
    for at, part in enumerate(np.split(made.X, [10, 4_000, 8_191])):
        np.save(tmp_path / "arrays" / f"part{at}.npy", part)
    (tmp_path / "tables").mkdir()
    names = ["x", "y", "z"]
    for at, part in enumerate(np.array_split(made.X, 3)):
        table = pa.table(
            {name: part[:, i] for i, name in enumerate(names)} | {"w": [0] * len(part)}
        )
        pq.write_table(table, tmp_path / "tables" / f"part-{at}.parquet", row_group_size=701)
    options = {"sample": 1_000, "block": 512, "method": PLAIN}
    expected = in_blocks(made, **options)
    sources = ["whole.npy", "turned.npy", "arrays", np.load(tmp_path / "whole.npy", mmap_mode="r")]
    for source in sources:
        where = tmp_path / source if isinstance(source, str) else source
        found = in_blocks(made, where, **options)
        assert found.answers == expected.answers
        assert (found.labels == expected.labels).all()
    found = in_blocks(made, tmp_path / "tables", columns=names, **options)
    assert found.answers == expected.answers
    assert (found.labels == expected.labels).all()


def test_results_are_in_files_that_appear_when_complete(tmp_path) -> None:
    made = make_ellipsoids(5_000, 2, 3, random_state=3)
    options = {"sample": 500, "method": PLAIN}
    plain = in_blocks(made, **options)
    found = in_blocks(made, out=tmp_path / "found", proof=tmp_path / "proof.parquet", **options)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["found", "proof.parquet"]
    assert sorted(path.name for path in (tmp_path / "found").iterdir()) == ["how.npy", "labels.npy"]
    assert (np.load(tmp_path / "found" / "labels.npy") == plain.labels).all()
    assert (found.how_codes == plain.how_codes).all()
    shown = check(made.X, read_lines(tmp_path / "proof.parquet"))
    assert clustering_error(shown.labels, made.labels) == 0


def test_answers_given_before_are_used_wherever_their_rows_are() -> None:
    made = make_ellipsoids(4_000, 3, 4, random_state=6)
    first = in_blocks(made, sample=400, method=PLAIN)
    again = in_blocks(made, sample=400, method=PLAIN, answers=first.answers, random_state=99)
    assert again.n_questions <= 2
    assert clustering_error(again.labels, made.labels) == 0


def test_a_margin_that_is_too_large_is_refuted_by_row() -> None:
    """The error speaks of rows of the data, not of places in the sample."""
    made = make_ellipsoids(3_000, 2, 4, margin=0.05, fill="shell", random_state=1)
    with pytest.raises(RefutedError) as caught:
        in_blocks(made, margin=5.0, sample=300, method=PLAIN)
    for answer in caught.value.answers:
        i, j = answer.question.pair
        same = bool(made.labels[i] == made.labels[j])
        assert answer.verdict.value == ("same" if same else "different")
    assert caught.value.largest_margin < 5.0


def test_an_oracle_that_looks_at_rows_sees_them() -> None:
    made = make_ellipsoids(3_000, 2, 2, random_state=8)
    place = {row.tobytes(): label for row, label in zip(made.X, made.labels, strict=True)}
    oracle = RowOracle(lambda x, y: bool(place[x.tobytes()] == place[y.tobytes()]))
    found = recover_large(
        made.X, oracle, n_clusters=2, margin=1.0, sample=200, random_state=0, method=PLAIN
    )
    assert clustering_error(found.labels, made.labels) == 0


def test_the_fingerprint_is_that_of_the_checker(tmp_path) -> None:
    made = make_ellipsoids(1_000, 2, 2, random_state=0)
    in_blocks(made, sample=100, block=33, proof=tmp_path / "proof.gz", method=PLAIN)
    assert next(read_lines(tmp_path / "proof.gz"))["fingerprint"] == fingerprint(made.X)


def test_progress_is_told_block_by_block() -> None:
    made = make_ellipsoids(2_000, 2, 2, random_state=0)
    heard: list[Any] = []
    in_blocks(made, sample=200, block=500, threads=1, on_progress=heard.append, method=PLAIN)
    assert [p.done for p in heard if p.stage == "survey"] == [500, 1_000, 1_500, 2_000]
    assert [p.done for p in heard if p.stage == "sweep"][:4] == [500, 1_000, 1_500, 2_000]
    assert {p.n for p in heard} == {2_000}


def test_a_stop_in_the_middle_leaves_nothing_behind(tmp_path) -> None:
    made = make_ellipsoids(2_000, 2, 2, random_state=0)

    def stop(progress: Any) -> None:
        if progress.stage == "sweep" and progress.done >= 1_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_blocks(
            made,
            sample=200,
            block=250,
            on_progress=stop,
            out=tmp_path / "found",
            proof=tmp_path / "proof.gz",
        )
    assert not list(tmp_path.iterdir())


def test_a_run_that_is_left_early_goes_on_from_its_answers(tmp_path) -> None:
    made = make_ellipsoids(2_000, 3, 3, random_state=0)
    options: dict[str, Any] = {"n_clusters": 3, "margin": 1.0, "sample": 150, "method": PLAIN}
    whole = in_blocks(made, **options)
    files = {"out": tmp_path / "found", "proof": tmp_path / "proof.gz"}
    with start_large(made.X, random_state=0, **options, **files) as run:
        while run.n_questions < 5:
            question = run.pending[0]
            i, j = question.pair
            assert (run.view[i] == made.X[i]).all(), "questions are about rows of the data"
            run.tell(question, same=bool(made.labels[i] == made.labels[j]))
    assert not list(tmp_path.iterdir())
    rest = in_blocks(made, answers=tuple(run.ledger), **options, **files)
    assert rest.answers[:5] == whole.answers[:5]
    assert len(rest.answers) == 5 + rest.n_questions
    assert clustering_error(rest.labels, made.labels) == 0
    checked(made.X, rest, tmp_path / "proof.gz")


def test_the_sample_of_very_many_rows_needs_no_permutation() -> None:
    rows = first_rows(10**12, 50_000, seed=3)
    assert len(np.unique(rows)) == 50_000
    assert abs(rows.mean() / 10**12 - 0.5) < 0.01
    assert (rows == first_rows(10**12, 50_000, seed=3)).all()


def test_few_rows_of_very_many_are_the_beginning_of_all() -> None:
    n = 2_500_000
    everything = first_rows(n, n, seed=3)
    assert (np.sort(everything) == np.arange(n)).all()
    assert (first_rows(n, 1_000, seed=3) == everything[:1_000]).all()
    assert (first_rows(n, 300_000, seed=3) == everything[:300_000]).all()


@pytest.mark.parametrize("kernel", ["numpy", "auto"])
def test_columns_near_a_direction_decide_what_all_columns_decide(
    kernel, tmp_path, monkeypatch
) -> None:
    """They are tried first where rows are many; the same rows are proven, and the proof holds."""
    made = make_ellipsoids(12_000, 4, 3, fill="shell", random_state=7)
    options: dict[str, Any] = {"sample": 2_000, "method": Certify(kernel=kernel)}
    usual = in_blocks(made, **options)
    monkeypatch.setattr("samecluster.large.sweep.MANY_ROWS", 1)
    near = in_blocks(made, proof=tmp_path / "proof.gz", **options)
    assert near.answers == usual.answers
    assert (near.labels == usual.labels).all()
    assert near.n_sample == usual.n_sample, "the same rows came back undecided"
    checked(made.X, near, tmp_path / "proof.gz")


def test_a_sweep_that_was_sent_elsewhere_decides_the_same(monkeypatch) -> None:
    """Pickled as for a worker: without the sample, and with the same decisions."""
    made = make_ellipsoids(6_000, 3, 3, random_state=2)
    sent: list[Any] = []
    over = "samecluster.large.other_rows.over_blocks"

    def sending(points: Any, work: Any, *rest: Any) -> Any:
        packed = pickle.dumps(work)
        sent.append(len(packed))
        return over_blocks(points, pickle.loads(packed), *rest)

    monkeypatch.setattr("samecluster.large.sweep.MANY_ROWS", 1)
    usual = in_blocks(made, sample=4_000, method=PLAIN)
    monkeypatch.setattr(over, sending)
    found = in_blocks(made, sample=4_000, method=PLAIN)
    assert (found.labels == usual.labels).all()
    assert sent
    larger = in_blocks(made, sample=5_000, method=PLAIN)
    assert larger.n_sample > found.n_sample
    assert sent[-1] < sent[0] + 20_000, "1,000 more rows in the sample would be 24,000 bytes"
