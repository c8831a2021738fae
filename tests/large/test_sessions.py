"""Sessions on data in blocks: questions about a sample, labels for all rows."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samecluster import Certify, How, clustering_error, recover, start
from samecluster.cli.terminal.all_rows import take_in_what_needs_questions
from samecluster.cli.terminal.screen import Screen
from samecluster.errors import DataMismatchError, InvalidInputError
from samecluster.instances import make_ellipsoids
from samecluster.large.api import recover_large
from samecluster.large.follow import LabelledSample, SampleLabels
from samecluster.large.other_rows import UNDECIDED, OtherRows
from samecluster.oracles import LabelOracle
from samecluster.points.protocol import ArrayPoints
from samecluster.points.survey import Survey
from samecluster.proof.checker import check, fingerprint
from samecluster.proof.log import in_parts
from samecluster.recovery.certify.levels import first_rows
from samecluster.workspace.in_blocks.all_rows import swept, taken_in
from samecluster.workspace.open import OpenSession, open_session, reopen
from samecluster.workspace.pair_display import checked_columns, compared
from samecluster.workspace.request import Request
from samecluster.workspace.status import session_facts, status_lines
from tests.cases.large_session_cases import (
    SAMPLE,
    answer_all,
    answered_to_the_end,
    folder_of,
    rows_of,
    small_sample,
    write_all,
    write_parquet,
)

MADE = make_ellipsoids(6_000, 2, 3, random_state=4)
RNG = np.random.default_rng(0)
# Two large clusters and one of which a sample of 600 rows holds nothing.
RARE = np.concatenate(
    [
        RNG.normal(size=(4_000, 2)),
        RNG.normal(size=(4_000, 2)) + 60.0,
        RNG.normal(size=(3, 2)) + np.array([0.0, 90.0]),
    ]
)
RARE_LABELS = np.repeat([0, 1, 2], [4_000, 4_000, 3])

pytestmark = pytest.mark.usefixtures("small_sample")
__all__ = ["small_sample"]


def quietly(_: Any) -> None:
    pass


@pytest.fixture
def points(tmp_path: Path) -> Path:
    np.save(tmp_path / "points.npy", MADE.X)
    return tmp_path / "points.npy"


def asked_for(data: Path, **more: Any) -> Request:
    return Request(str(data), in_blocks=True, **more)


def test_with_a_declared_margin_every_label_is_asked_or_proven_and_right(points, tmp_path) -> None:
    """The sample is that of `recover_large`, and so is the partition."""
    with open_session(asked_for(points, margin="1", clusters="3")) as opened:
        seed = int(np.random.default_rng(0).integers(2**31))
        assert (rows_of(opened) == first_rows(6_000, SAMPLE, seed)).all()
        assert (MADE.X[rows_of(opened)] == opened.data.X).all()
        opened, found, _ = answered_to_the_end(opened, MADE.labels)
        assert found.by_how[How.ASKED] + found.by_how[How.PROVEN] == 6_000
        write_all(opened, tmp_path / "found")
    labels, how = folder_of(tmp_path / "found")
    assert clustering_error(labels, MADE.labels) == 0
    assert np.bincount(how, minlength=5).tolist() == [found.by_how[how] for how in How]
    other = recover_large(
        MADE.X, LabelOracle(MADE.labels), margin=1.0, n_clusters=3, sample=SAMPLE, random_state=0
    )
    assert clustering_error(labels, other.labels) == 0


def test_with_a_guessed_margin_nothing_is_called_proven(points, tmp_path) -> None:
    with open_session(asked_for(points)) as opened:
        opened, found, n_joined = answered_to_the_end(opened, MADE.labels)
        assert not n_joined
        assert found.to_ask is None
        write_all(opened, tmp_path / "found")
        known = opened.session.snapshot()
        rows = rows_of(opened)
    labels, how = folder_of(tmp_path / "found")
    assert not np.count_nonzero(how == How.PROVEN)
    assert np.count_nonzero(how == How.INFERRED) > 5_000
    assert clustering_error(labels, MADE.labels) < 0.001
    assert (labels[rows] == known.labels).all()
    assert (how[rows] == known.how_codes).all()


def test_what_the_sample_proves_by_more_than_reach_is_not_asked_about_again(tmp_path) -> None:
    """With a small margin much of the sample is proven by exclusion and the like. Other rows are
    within reach of that, so none joins, and the questions are as many as without a session."""
    made = make_ellipsoids(6_000, 2, 3, margin=0.2, fill="shell", random_state=1)
    np.save(tmp_path / "points.npy", made.X)
    with open_session(asked_for(tmp_path / "points.npy", margin="0.2", clusters="3")) as opened:
        opened, found, n_joined = answered_to_the_end(opened, made.labels)
        assert not n_joined
        assert not found.by_how[How.UNASSIGNED]
        other = recover_large(
            made.X,
            LabelOracle(made.labels),
            margin=0.2,
            n_clusters=3,
            sample=SAMPLE,
            random_state=0,
        )
        assert opened.session.state.n_questions <= other.n_questions


def test_rows_out_of_reach_join_and_are_asked_about(tmp_path) -> None:
    """A cluster that the sample does not hold is found by the sweep, also by another process."""
    np.save(tmp_path / "points.npy", RARE)
    with open_session(asked_for(tmp_path / "points.npy", margin="1")) as opened:
        answer_all(opened, RARE_LABELS)
        found = swept(opened, quietly)
        assert found.to_ask is not None
        assert set(found.to_ask.rows) >= {8_000, 8_001, 8_002}
        before = opened.session.state.n_questions
        opened = taken_in(opened, found.to_ask, "ann")
        keys, X = opened.data.keys, opened.data.X
        assert len(keys) == SAMPLE + len(found.to_ask.rows)
        assert "row 8000" in keys
    with open_session(Request(str(tmp_path / "points.npy"))) as again:
        assert again.data.keys == keys
        assert (again.data.X == X).all()
        again, last, _ = answered_to_the_end(again, RARE_LABELS)
        assert again.session.state.n_questions > before
        assert not last.by_how[How.UNASSIGNED]
        write_all(again, tmp_path / "found")
    labels, _ = folder_of(tmp_path / "found")
    assert clustering_error(labels, RARE_LABELS) == 0


def test_a_row_that_joins_may_have_an_id_that_was_there(tmp_path) -> None:
    """The ids of all rows are not known when a session begins; nobody must be stuck later."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = write_parquet(tmp_path, RARE)
    with open_session(asked_for(data, id_column="shell", margin="1")) as opened:
        answer_all(opened, RARE_LABELS)
        taken = opened.data.keys[0]
    table = pq.read_table(data)
    ids = [taken if row == 8_000 else "" if row == 8_001 else f"s{row}" for row in range(8_003)]
    pq.write_table(table.set_column(0, "shell", pa.array(ids)), data)
    with open_session(Request(str(data))) as again:
        again, _, _ = answered_to_the_end(again, RARE_LABELS)
        assert {f"{taken} (row 8000)", "(row 8001)", "s8002"} <= set(again.data.keys)
    with open_session(Request(str(data))) as last:
        assert not answer_all(last, RARE_LABELS)


def test_a_page_begins_with_the_rows_that_need_questions(tmp_path) -> None:
    """`serve` looks for them when it is started and nothing is left to ask about the others."""
    np.save(tmp_path / "points.npy", RARE)
    told = io.StringIO()
    console = Screen(file=told)
    with open_session(asked_for(tmp_path / "points.npy", margin="1")) as opened:
        assert take_in_what_needs_questions(console, None, opened) is opened
        answer_all(opened, RARE_LABELS)
        more = take_in_what_needs_questions(console, None, opened)
        assert len(more.data.keys) > SAMPLE
        assert more.session.ask()
    assert "join the sample" in told.getvalue()


def test_a_session_that_is_opened_again_is_where_it_was(points, tmp_path) -> None:
    """Same items, same question, same labels for all rows; reading alone is enough for these."""
    with open_session(asked_for(points, margin="1", seed=7)) as opened:
        answer_all(opened, MADE.labels, most=4)
        (question,) = opened.session.ask()
        write_all(opened, tmp_path / "one")
    path = Path(f"{points}.samecluster")
    with reopen(path, read_only=True) as again:
        assert again.session.state.seed == 7
        assert again.session.ask()[0].id == question.id
        write_all(again, tmp_path / "other")
    for one, other in zip(folder_of(tmp_path / "one"), folder_of(tmp_path / "other"), strict=True):
        assert (one == other).all()
    with open_session(Request(str(points))) as going_on:
        assert going_on.blocks is not None


def test_other_data_is_refused(points) -> None:
    """A sampled row that changed, and another number of rows or columns."""
    with open_session(asked_for(points)) as opened:
        row = int(rows_of(opened)[3])
    changed = MADE.X.copy()
    changed[row] += 1.0
    np.save(points, changed)
    with pytest.raises(DataMismatchError, match="0 rows added, 0 removed, 1 changed"):
        open_session(Request(str(points)))
    for other in (MADE.X[:-1], MADE.X[:, :1]):
        np.save(points, other)
        with pytest.raises(DataMismatchError, match="a sample of 6,000 rows with 2 features"):
            open_session(Request(str(points)))


def test_a_row_outside_the_sample_may_change_and_gets_its_label_then(points, tmp_path) -> None:
    """Labels of other rows are worked out from what the data is now."""
    with open_session(asked_for(points, margin="1")) as opened:
        answered_to_the_end(opened, MADE.labels)
        outside = np.setdiff1d(np.arange(6_000), rows_of(opened))
    moved = outside[MADE.labels[outside] == 0][0]
    changed = MADE.X.copy()
    changed[moved] = MADE.X[MADE.labels == 1].mean(axis=0)
    np.save(points, changed)
    with reopen(Path(f"{points}.samecluster"), read_only=True) as again:
        write_all(again, tmp_path / "found")
    labels, _ = folder_of(tmp_path / "found")
    assert labels[moved] == labels[MADE.labels == 1][0]


def test_ids_and_columns_to_show_are_read_from_parquet(tmp_path) -> None:
    """Rows are numbered through the files of a folder; cells are those of the row."""
    folder = tmp_path / "shells"
    folder.mkdir()
    write_parquet(folder, MADE.X[:2_500], "a.parquet")
    write_parquet(folder, MADE.X[2_500:], "b.parquet", first=2_500)
    with open_session(asked_for(folder, id_column="shell", margin="1")) as opened:
        rows = rows_of(opened)
        assert opened.data.keys == [f"s{row}" for row in rows]
        assert opened.table.column("note").texts == [f"note {row}" for row in rows]
        assert opened.options.features == ("c0", "c1")
        assert checked_columns(opened, ()) == ("shell", "note", "c0", "c1")
        cells = compared(opened, (5, 6), ("note", "c1"))
        assert cells[0].right.text == f"note {rows[6]}"
        assert float(cells[1].left.text) == MADE.X[rows[5], 1]
        opened, _, _ = answered_to_the_end(opened, MADE.labels)
        write_all(opened, tmp_path / "found")
    assert clustering_error(folder_of(tmp_path / "found")[0], MADE.labels) == 0


def test_chosen_features_are_the_ones_that_count(tmp_path) -> None:
    X = np.column_stack([MADE.X, np.random.default_rng(1).normal(size=6_000)])
    data = write_parquet(tmp_path, X)
    with open_session(asked_for(data, features=["c1,c0"])) as opened:
        assert (MADE.X[rows_of(opened)][:, ::-1] == opened.data.X).all()
    with pytest.raises(InvalidInputError, match="--features cannot change"):
        open_session(Request(str(data), features=["c0"]))


def test_the_files_appear_when_they_are_complete(points, tmp_path) -> None:
    """Ctrl-C in the middle leaves nothing; so does a folder that is there already, or a file."""
    with open_session(asked_for(points, margin="1")) as opened:
        answer_all(opened, MADE.labels)

        def interrupted(_: Any) -> None:
            raise KeyboardInterrupt

        before = sorted(tmp_path.iterdir())
        with pytest.raises(KeyboardInterrupt):
            write_all(opened, tmp_path / "found", interrupted)
        assert sorted(tmp_path.iterdir()) == before
        write_all(opened, tmp_path / "found")
        with pytest.raises(InvalidInputError, match="exists already"):
            write_all(opened, tmp_path / "found")


def test_when_the_budget_is_spent_the_rest_is_predicted(points) -> None:
    with open_session(asked_for(points, margin="1", max_questions="3")) as opened:
        answer_all(opened, MADE.labels)
        found = swept(opened, quietly)
    assert found.to_ask is None
    assert found.by_how[How.PREDICTED] > 100


def test_while_questions_are_left_what_does_not_follow_has_no_label(points, tmp_path) -> None:
    """With a declared margin and without one; what has a label is right in the first case."""
    for margin in ("1", "auto"):
        session = tmp_path / f"{margin}.samecluster"
        with open_session(asked_for(points, margin=margin, session=session)) as opened:
            answer_all(opened, MADE.labels, most=3)
            write_all(opened, tmp_path / margin)
        labels, how = folder_of(tmp_path / margin)
        assert np.count_nonzero(how == How.UNASSIGNED) > 100
        assert not np.count_nonzero(how == How.PREDICTED)
        if margin == "1":
            _assert_pure(labels, MADE.labels)


def _assert_pure(labels: Any, truth: Any) -> None:
    """No label is given to rows of two clusters; two labels may still turn out to be one."""
    for label in np.unique(labels[labels >= 0]):
        assert len(np.unique(truth[labels == label])) == 1


def test_nothing_is_proven_by_a_margin_that_the_answers_refute(points, tmp_path) -> None:
    """A wrong answer about a proven item: until somebody decides, other rows are predicted."""
    with open_session(asked_for(points, margin="1")) as opened:
        opened, _, _ = answered_to_the_end(opened, MADE.labels)
        anchor, item = opened.session.anchors()[0], _proven_member(opened, 0)
        opened.session.import_answers([(anchor, item, "different")], "a mistake")
        assert [one.kind for one in opened.session.trouble] == ["refutation"]
        write_all(opened, tmp_path / "found")
        outside = np.setdiff1d(np.arange(6_000), rows_of(opened))
    _, how = folder_of(tmp_path / "found")
    assert (how[outside] <= How.PREDICTED).all()


def test_an_exception_is_taken_for_no_member(points) -> None:
    with open_session(asked_for(points, margin="1")) as opened:
        opened, _, _ = answered_to_the_end(opened, MADE.labels)
        opened.session.make_exception(_proven_member(opened, 0))
        opened, found, _ = answered_to_the_end(opened, MADE.labels)
        assert found.by_how[How.UNASSIGNED] == 1


def _proven_member(opened: OpenSession, number: int) -> str:
    known = opened.session.snapshot()
    proven = (known.labels == number) & (known.how_codes == How.PROVEN)
    return opened.data.keys[int(np.flatnonzero(proven)[0])]


def test_status_says_that_it_is_a_sample(points) -> None:
    with open_session(asked_for(points)) as opened:
        assert session_facts(opened)["sample_of"] == 6_000
        told = "\n".join(status_lines(opened))
        assert "The items are a sample: 600 of the 6,000 rows of points.npy" in told
        assert "points.npy.samecluster -o FOLDER" in told


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"categories": ["a"]}, "--categories does not go with --in-blocks"),
        ({"text": ["a"]}, "--text does not go with --in-blocks"),
        ({"reduce": 2}, "--reduce does not go with --in-blocks"),
        ({"drop_missing": True}, "--drop-missing does not go with --in-blocks"),
        ({"missing_cells": "median"}, "--missing does not go with --in-blocks"),
        ({"vectors": Path("v.npy")}, "--vectors does not go with --in-blocks"),
        ({"labels": "a"}, "--labels does not go with --in-blocks"),
        ({"scale": True}, "numbers are as they are"),
        ({"id_column": "shell"}, "columns have names in Parquet only"),
        ({"features": ["c0"]}, "columns can only be chosen in Parquet files"),
        ({"clusters": "99999"}, "n_clusters must be"),
    ],
)
def test_what_does_not_go_with_blocks_is_refused_and_leaves_nothing(points, more, message) -> None:
    with pytest.raises(InvalidInputError, match=message):
        open_session(asked_for(points, **more))
    assert [file.name for file in points.parent.iterdir()] == ["points.npy"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"id_column": "name"}, "has no column 'name'; it has shell, note, c0, c1"),
        ({"id_column": "twice"}, "row 598, column 'twice': the id 'same' is also that of row 599"),
        ({"features": ["note"]}, "only numbers are allowed"),
    ],
)
def test_columns_that_cannot_be_used_are_named(tmp_path, monkeypatch, more, message) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = write_parquet(tmp_path, MADE.X)
    if more.get("id_column") == "twice":
        table = pq.read_table(data).append_column("twice", pa.array(["same"] * 6_000))
        pq.write_table(table, data)
        monkeypatch.setattr(
            "samecluster.workspace.stored_preparation.first_rows",
            lambda n, size, seed: np.arange(size)[::-1],
        )
    with pytest.raises(InvalidInputError, match=message):
        open_session(asked_for(data, **more))


def test_identifiers_are_left_out_and_said_and_the_choice_is_kept(tmp_path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = tmp_path / "points.parquet"
    numbers = np.random.default_rng(0).permutation(6_000)
    columns = {f"c{at}": column for at, column in enumerate(MADE.X.T)}
    pq.write_table(pa.table({"order": numbers, "amount": numbers * 1.5, **columns}), data)
    with open_session(asked_for(data)) as opened:
        assert opened.data.told()[0].startswith("Left out: order, as it looks like an identifier.")
        first = opened.options.features
        assert first == ("amount", *columns)
    with open_session(asked_for(data)) as again:
        assert again.options.features == first
    for more, expected in (
        ({"ignore": ["order,amount"]}, tuple(columns)),
        ({"features": ["order", "c0"]}, ("order", "c0")),
    ):
        other = tmp_path / f"{'-'.join(more)}.samecluster"
        with open_session(asked_for(data, session=other, **more)) as opened:
            assert opened.options.features == expected
            assert opened.data.told() == ()


def test_a_missing_value_in_blocks_is_named_with_what_to_do(tmp_path) -> None:
    X = np.array(MADE.X)
    X[17, 1] = np.nan
    np.save(tmp_path / "points.npy", X)
    with pytest.raises(InvalidInputError, match=r"row 17, column .* is nan; .*: write the data"):
        open_session(asked_for(tmp_path / "points.npy"))


def test_a_session_in_memory_stays_one(points) -> None:
    open_session(Request(str(points))).session.close()
    with pytest.raises(InvalidInputError, match="--in-blocks cannot change"):
        open_session(asked_for(points))


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    d=st.integers(1, 3),
    fill=st.sampled_from(["ball", "shell", "half", "blobs"]),
    margin=st.sampled_from([0.2, 1.0]),
    size=st.integers(20, 200),
    share=st.floats(0.0, 1.0),
    told=st.booleans(),
)
def test_at_any_moment_rows_in_reach_of_the_answers_are_what_they_are(
    seed, d, fill, margin, size, share, told
) -> None:
    """However few answers there are about however small a sample: no proven label is wrong, and
    the proof of all rows holds and shows what is called proven."""
    made = make_ellipsoids(600, d, 3, margin=margin, fill=fill, random_state=seed)
    rows = np.random.default_rng(seed).permutation(600)[:size]
    X, truth, method = made.X[rows], made.labels[rows], Certify(kernel="numpy")
    options: dict[str, Any] = {"margin": made.margin, "method": method, "random_state": 0}
    options["n_clusters"] = 3 if told else None
    answers = recover(X, LabelOracle(truth), **options).answers
    some = answers[: round(share * len(answers))]
    known = start(X, answers=some, **options).snapshot()
    sample = LabelledSample(
        X,
        replace(Survey.of(made.X), fingerprint=fingerprint(made.X)),
        some,
        known.labels,
        known.how_codes,
        made.margin,
        proof=known.proof,
    )
    names, how, labels = (
        np.full(600, UNDECIDED, np.int16),
        np.zeros(600, np.int8),
        np.zeros(600, "i4"),
    )
    draws = np.random.default_rng(0)
    rest = OtherRows(ArrayPoints(made.X), rows, names, how, 1, draws, block=100)
    found = SampleLabels(method, sample, rest)
    lines: list[Any] = []

    def write_proof(header: Any) -> Any:
        lines.append(header)
        return lambda record: lines.extend(in_parts(record))

    to_ask = found.prove(write_proof)
    rest.finish(found.labels, found.how, labels)
    proven = how >= How.PROVEN
    _assert_pure(np.where(proven, labels, -1), made.labels)
    assert ((labels >= 0) == (how > How.UNASSIGNED)).all()
    left = np.setdiff1d(np.flatnonzero(~proven), rows)
    assert len(to_ask.rows) + to_ask.n_more == len(left)
    assert set(to_ask.rows) <= set(left)
    shown = check(made.X, iter(lines))
    _assert_pure(shown.labels, made.labels)
    assert set(np.flatnonzero(how == How.PROVEN)) <= set(np.flatnonzero(shown.labels >= 0))
