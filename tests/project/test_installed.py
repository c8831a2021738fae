"""What a user of the bare package does first, by the shortest way: no extra, no source beside it.

`tests.project.wheel` runs this against the built wheel, on every Python and with the oldest
libraries that are allowed.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import samecluster
from samecluster import How, Session, SqliteStore, clustering_error, recover, start
from samecluster.errors import RefutedError
from samecluster.instances import make_ellipsoids
from samecluster.oracles import LabelOracle
from samecluster.proof.checker import check

MADE = make_ellipsoids(n=500, d=3, k=3, random_state=0)


def command(*words: str, folder: Path) -> str:
    """What a command prints; the exit code must be 0."""
    done = subprocess.run(
        [sys.executable, "-m", "samecluster", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    rows = [
        f"{row},{','.join(map(str, point))},{'abc'[label]}"
        for row, (point, label) in enumerate(zip(MADE.X.tolist(), MADE.labels, strict=True))
    ]
    path.write_text("\n".join(["row,x,y,z,kind", *rows]) + "\n")
    return path


def test_it_is_the_package_that_was_installed() -> None:
    place = os.environ.get("SAMECLUSTER_INSTALLED")
    if place is None:
        pytest.skip("only in an environment that tests.project.wheel made")
    assert Path(samecluster.__file__).is_relative_to(place)
    with pytest.raises(ImportError):
        import numba  # noqa: F401


def test_recover_proves_and_the_checker_agrees() -> None:
    found = recover(
        MADE.X, LabelOracle(MADE.labels), n_clusters=3, margin=MADE.margin, random_state=0
    )
    assert clustering_error(found.labels, MADE.labels) == 0
    assert found.count(How.PROVEN) > 400
    assert found.proof is not None
    shown = check(MADE.X, found.proof.lines()).labels
    assert clustering_error(shown, MADE.labels) == 0


@pytest.mark.parametrize("method", ["certify", "recur", "scq-k-means", "everything", "predict"])
def test_every_method_runs(method) -> None:
    made = make_ellipsoids(n=80, d=2, k=2, random_state=1)
    run = start(made.X, n_clusters=2, margin=1.0, method=method, random_state=0)
    while run.pending:
        for question in run.pending:
            i, j = question.pair
            run.tell(question, same=bool(made.labels[i] == made.labels[j]))
    assert (run.result.labels >= 0).mean() > 0.5


def test_nothing_declared_with_an_audit() -> None:
    found = recover(MADE.X, LabelOracle(MADE.labels), audit=(0.05, 0.9), random_state=0)
    assert found.audit is not None
    assert clustering_error(found.labels, MADE.labels) < 0.05


def test_a_margin_that_does_not_hold_is_refuted() -> None:
    """Also takes the solver for the complete test."""
    mixed = np.arange(len(MADE.X)) % 2
    with pytest.raises(RefutedError):
        recover(MADE.X, LabelOracle(mixed), n_clusters=2, margin=10.0, random_state=0)


def test_a_session_is_closed_and_goes_on(tmp_path) -> None:
    keys = [str(row) for row in range(len(MADE.X))]
    path = tmp_path / "s.samecluster"
    parameters = {"margin": 1.0, "n_clusters": 3}

    def answer_all(session: Session, most: int) -> None:
        for _ in range(most):
            if not (questions := session.ask("ann")):
                return
            i, j = questions[0].rows
            verdict = "same" if MADE.labels[i] == MADE.labels[j] else "different"
            session.tell(questions[0].id, verdict, "ann")

    store = SqliteStore(path, create=True)
    with Session.create(store, keys, MADE.X, parameters=parameters, seed=0) as session:
        answer_all(session, 3)
    with Session.open(SqliteStore(path), keys, MADE.X) as session:
        assert session.state.n_questions == 3
        answer_all(session, 100)
        assert clustering_error(session.snapshot().labels, MADE.labels) == 0


def test_help_and_version(tmp_path) -> None:
    assert "label" in command("--help", folder=tmp_path)
    assert samecluster.__version__ in command("--version", folder=tmp_path)


def test_demo_and_verify(tmp_path) -> None:
    told = command(
        "demo", "--points", "2000", "--dimension", "2", "--save", "demo", folder=tmp_path
    )
    assert "it holds" in told
    assert "2,000" in command("verify", "demo/data.npy", "demo/proof.jsonl.gz", folder=tmp_path)


def test_a_table_is_inspected_and_clustered(table) -> None:
    columns = ("--id", "row", "--truth", "kind")
    assert "500" in command("inspect", table.name, *columns, folder=table.parent)
    command("cluster", table.name, *columns, "-o", "out.csv", folder=table.parent)
    lines = (table.parent / "out.csv").read_text().splitlines()
    assert len(lines) == 501
    kinds, clusters = zip(*(line.split(",")[4:6] for line in lines[1:]), strict=True)
    assert clustering_error(np.array(clusters, dtype=int), np.array(kinds)) == 0
