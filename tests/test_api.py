"""The three doors lead to the same place, and bad input is turned away at each of them."""

from typing import Any

import numpy as np
import pytest

import samecluster
from samecluster import (
    AskEverything,
    Recur,
    SameCluster,
    Session,
    Verdict,
    clustering_error,
    recover,
    register_method,
    start,
)
from samecluster.api import METHODS as REGISTERED
from samecluster.errors import ContradictionError, InvalidInputError, OracleError
from samecluster.instances import make_ellipsoids
from samecluster.oracles import LabelOracle
from samecluster.sessions.storage.store import MemoryStore

METHODS = [
    "certify",
    "recur",
    "scq-k-means",
    "everything",
    Recur(sampling="batches", expansion=None),
]


def tell_all(run, labels) -> None:
    while run.pending:
        for question in run.pending:
            i, j = question.pair
            run.tell(question, same=bool(labels[i] == labels[j]))


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_three_doors_give_identical_labels_and_counts(method) -> None:
    made = make_ellipsoids(400, 3, 3, random_state=0)
    oracle = LabelOracle(made.labels)
    common = {"n_clusters": 3, "margin": 1.0, "method": method, "random_state": 5}
    one = recover(made.X, oracle, **common)
    two = SameCluster(oracle=oracle, **common).fit(made.X)
    run = start(made.X, **common)
    tell_all(run, made.labels)
    for labels, how, count in (
        (two.labels_, two.how_, two.n_questions_),
        (run.result.labels, run.result.how, run.result.n_questions),
    ):
        assert (labels == one.labels).all()
        assert (how == one.how).all()
        assert count == one.n_questions
    assert run.n_questions == one.n_questions
    assert run.result.answers == one.answers


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_no_pair_is_asked_twice_and_none_that_is_implied(method) -> None:
    made = make_ellipsoids(300, 2, 4, random_state=1)
    asked = []

    def oracle(i: int, j: int) -> bool:
        asked.append(frozenset((i, j)))
        return bool(made.labels[i] == made.labels[j])

    found = recover(made.X, oracle, n_clusters=4, margin=1.0, method=method, random_state=0)
    assert len(asked) == len(set(asked)) == found.n_questions


def test_a_run_can_be_looked_at_on_the_way() -> None:
    made = make_ellipsoids(2000, 2, 3, random_state=0)
    run = start(made.X, n_clusters=3, margin=1.0, method=Recur(sampling="batches"), random_state=0)
    known = []
    while run.pending:
        for question in run.pending:
            i, j = question.pair
            run.tell(question, same=bool(made.labels[i] == made.labels[j]))
        snapshot = run.snapshot()
        labelled = snapshot.labels >= 0
        assert clustering_error(snapshot.labels[labelled], made.labels[labelled]) == 0
        known.append(int(labelled.sum()))
    assert known == sorted(known)
    assert known[-1] == 2000
    assert "2,000 points in 3 clusters" in repr(run.result)


def test_progress_is_reported() -> None:
    made = make_ellipsoids(500, 2, 2, random_state=0)
    seen = []
    recover(
        made.X,
        LabelOracle(made.labels),
        n_clusters=2,
        margin=1.0,
        random_state=0,
        on_progress=lambda known: seen.append((known.n_questions, known.n_labelled)),
    )
    assert seen == sorted(seen)
    assert seen[-1][1] == 500


X2 = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.5]])


@pytest.mark.parametrize(
    ("X", "changes", "message"),
    [
        ([[0, 1], [np.nan, 2]], {}, "nan at row 1, column 0"),
        ([[0, 1], [5, -np.inf]], {}, "-inf at row 1, column 1"),
        ([[0, "cat"], [1, 2]], {}, "'cat' at row 0, column 1"),
        ([1, 2, 3], {}, "two dimensions"),
        (np.zeros((2, 2, 2)), {}, "two dimensions"),
        (np.zeros((0, 3)), {}, "empty"),
        (np.zeros((3, 0)), {}, "empty"),
        (np.zeros((1, 3)), {}, "only one point"),
        (np.zeros((3, 2), dtype=complex), {}, "complex"),
        (np.array([[None, 1], [2, 3]]), {}, "None at row 0, column 0"),
        (X2, {"n_clusters": 4}, r"from 2 to the number of points \(3\), got 4"),
        (X2, {"n_clusters": 1}, "from 2 to"),
        (X2, {"n_clusters": 2.5}, "whole number, got 2.5"),
        (X2, {"n_clusters": True}, "whole number, got True"),
        (X2, {"margin": 0}, "above 0 and finite, got 0"),
        (X2, {"margin": -1.0}, "above 0 and finite"),
        (X2, {"margin": np.inf}, "above 0 and finite"),
        (X2, {"margin": np.nan}, "above 0 and finite"),
        (X2, {"margin": "auto?"}, "margin must be a number"),
        (
            X2,
            {"method": "magic"},
            "'certify', 'recur', 'scq-k-means', 'everything', 'predict'.*, got 'magic'",
        ),
        (X2, {"method": 3}, "name or an object such as Recur"),
        (X2, {"method": Recur}, "name or an object such as Recur"),
        (X2, {"random_state": "seed"}, "random_state must be"),
    ],
)
def test_bad_input_is_named(X, changes, message) -> None:
    arguments = {"n_clusters": 2, "margin": 1.0, **changes}
    with pytest.raises(InvalidInputError, match=message):
        start(X, **arguments)

    def never(i: int, j: int) -> bool:
        raise AssertionError("asked although the input is bad")

    with pytest.raises(InvalidInputError, match=message):
        recover(X, never, **arguments)


def test_column_names_are_used_where_there_are_some() -> None:
    class Frame:
        columns = ("height", "weight")

        def __array__(self, dtype=None, copy=None):
            return np.array([[1.0, 2.0], [3.0, np.nan]])

    with pytest.raises(InvalidInputError, match="nan at row 1, column 'weight'"):
        start(Frame(), n_clusters=2, margin=1.0)


@pytest.mark.parametrize(
    ("oracle", "message"),
    [
        (lambda i, j: "perhaps", "must say True, False, .* or a Verdict, .* it said 'perhaps'"),
        (lambda i, j: 1, "it said 1"),
        (lambda i, j: 1 / 0, "the oracle failed on .*: ZeroDivisionError"),
    ],
)
def test_an_oracle_that_gives_no_verdict_is_named(oracle, message) -> None:
    with pytest.raises(OracleError, match=message):
        recover(X2, oracle, n_clusters=2, margin=1.0)


def test_an_oracle_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="oracle must be an Oracle or a function"):
        recover(X2, 7, n_clusters=2, margin=1.0)
    with pytest.raises(InvalidInputError, match="2 labels for 3 points"):
        recover(X2, LabelOracle([0, 1]), n_clusters=2, margin=1.0)
    with pytest.raises(InvalidInputError, match="one label an item"):
        LabelOracle([[0, 1]])


def test_answers_that_contradict_each_other_are_shown() -> None:
    """Told by hand, since no plan asks a question whose answer is implied."""
    run = start(np.zeros((4, 1)), n_clusters=2, margin=1.0, method="everything")
    first = run.pending
    for question in first:
        run.tell(question, same=True)
    with pytest.raises(ContradictionError) as caught:
        run.tell(samecluster.Question(1, 2), same=False)
    assert len(caught.value.witness) == 3


@pytest.mark.parametrize(
    ("X", "labels"),
    [
        ([[0, 0], [0, 0], [5, 5], [5, 5], [5, 5]], [0, 0, 1, 1, 1]),
        ([[0.0, 7], [0.1, 7], [9.0, 7], [9.1, 7]], [0, 0, 1, 1]),
        ([[i, 2 * i, -i] for i in (0, 1, 2, 50, 51, 52)], [0, 0, 0, 1, 1, 1]),
        ([[i * 1e150] for i in (0, 1, 2, 50, 51, 52)], [0, 0, 0, 1, 1, 1]),
        ([[i * 1e-150, i] for i in (0, 1, 2, 50, 51, 52)], [0, 0, 0, 1, 1, 1]),
        ([[True, 0], [True, 1], [False, 0], [False, 1]], [0, 0, 1, 1]),
        ([[1], [2]], [0, 1]),
        ([[3, 3]] * 4, [0, 0, 0, 0]),
    ],
)
@pytest.mark.parametrize("method", [m for m in METHODS if m != "scq-k-means"], ids=str)
def test_duplicates_constants_and_lines_are_no_error(X, labels, method) -> None:
    for seed in range(5):
        found = recover(
            X, LabelOracle(labels), n_clusters=2, margin=0.3, method=method, random_state=seed
        )
        assert clustering_error(found.labels, labels) == 0


def test_random_state_takes_what_scikit_learn_users_pass() -> None:
    made = make_ellipsoids(100, 2, 2, random_state=0)
    oracle = LabelOracle(made.labels)
    for state in (None, 3, np.random.default_rng(3), np.random.RandomState(3)):
        found = recover(made.X, oracle, n_clusters=2, margin=1.0, random_state=state)
        assert clustering_error(found.labels, made.labels) == 0


def test_verdict_objects_are_accepted_from_functions() -> None:
    found = recover(
        [[0], [1], [9]],
        lambda i, j: Verdict.SAME if {i, j} == {0, 1} else Verdict.DIFFERENT,
        n_clusters=2,
        margin=1.0,
        random_state=0,
    )
    assert clustering_error(found.labels, [0, 0, 1]) == 0


@pytest.mark.parametrize("method", [*METHODS, "predict"], ids=str)
def test_known_groups_are_neither_asked_nor_counted(method) -> None:
    """Every way to say that a group is not known; both doors; fewer questions than without."""
    made = make_ellipsoids(200, 2, 3, random_state=0)
    known: list[Any] = [None] * 200
    names = ("x", "y ", 7)
    known[0:50] = [names[label] for label in made.labels[0:50]]
    known[50:53] = [np.nan, " ", -1]
    asked = []

    def oracle(i: int, j: int) -> bool:
        asked.append((i, j))
        return bool(made.labels[i] == made.labels[j])

    common = {"n_clusters": 3, "margin": 1.0, "method": method, "random_state": 0}
    found = recover(made.X, oracle, known=known, **common)
    assert clustering_error(found.labels, made.labels) == 0
    assert all(max(pair) >= 50 for pair in asked)
    assert len(asked) == found.n_questions < recover(made.X, oracle, **common).n_questions
    run = start(made.X, known=known, **common)
    tell_all(run, made.labels)
    assert (run.result.labels == found.labels).all()
    assert run.n_questions == found.n_questions


@pytest.mark.parametrize(
    "known",
    [
        np.array([0.0, np.nan, 1.0, -1.0]),
        np.array([0, -1, 1, -1]),
        np.array(["a", "", "b", " "]),
        ["a", None, 2, float("nan")],
    ],
    ids=str,
)
def test_known_groups_come_as_arrays_and_lists(known) -> None:
    _says_that_rows_0_and_2_differ(known)


@pytest.mark.parametrize("dtype", ["float", "Int64", "object", "category"])
def test_known_groups_come_as_series(dtype) -> None:
    pandas = pytest.importorskip("pandas")
    _says_that_rows_0_and_2_differ(pandas.Series([0, None, 1, None], dtype=dtype))


def _says_that_rows_0_and_2_differ(known) -> None:
    run = start([[0.0], [1.0], [8.0], [9.0]], known=known, method="everything")
    assert [str(answer) for answer in run.ledger] == ["2 and 0 different"]
    assert run.n_questions == 0


@pytest.mark.parametrize(
    ("known", "message"),
    [
        (["a", "b"], r"known must have a group for each of the 3 rows.*got shape \(2,\)"),
        ("abc", r"got shape \(\)"),
        ([["a"], ["b"], ["c"]], r"got shape \(3, 1\)"),
        (["a", ["b"], None], r"known must have a number or a text.*got \['b'\] in row 1"),
    ],
)
def test_known_groups_that_make_no_sense_are_named(known, message) -> None:
    with pytest.raises(InvalidInputError, match=message):
        start(X2, known=known)
    with pytest.raises(InvalidInputError, match="known has 1,001 groups; at most 1,000"):
        start(np.arange(1001.0)[:, None], known=range(1001))


def test_known_groups_that_answers_contradict_are_shown_with_them() -> None:
    told = [samecluster.Answer(samecluster.Question(0, 1), Verdict.DIFFERENT)]
    with pytest.raises(ContradictionError) as caught:
        start(X2, known=["a", "a", None], answers=told)
    assert [str(answer) for answer in caught.value.witness] == ["1 and 0 same", "0 and 1 different"]


@pytest.fixture
def registry():
    """The methods by name, put back afterwards."""
    before = dict(REGISTERED)
    yield REGISTERED
    REGISTERED.clear()
    REGISTERED.update(before)


def test_a_registered_method_has_its_name_at_every_door(registry) -> None:
    register_method("batches", lambda within=None: Recur(sampling="batches", within=within))
    made = make_ellipsoids(200, 2, 2, random_state=0)
    common: dict[str, Any] = {"n_clusters": 2, "margin": 1.0, "random_state": 0}
    named, given = (
        recover(made.X, LabelOracle(made.labels), method=method, **common)
        for method in ("batches", Recur(sampling="batches"))
    )
    assert named.answers == given.answers
    assert start(made.X, method="batches", **common).pending
    model = SameCluster(oracle=LabelOracle(made.labels), method="batches", **common).fit(made.X)
    assert model.n_questions_ == named.n_questions
    parameters = {"n_clusters": 2, "margin": 1.0, "method": {"name": "batches", "within": 2}}
    keys = [str(row) for row in range(200)]
    with Session.create(MemoryStore(), keys, made.X, parameters=parameters) as session:
        assert session.ask("ann")


def test_a_name_that_is_taken_or_no_name_is_refused_in_one_line(registry) -> None:
    before = dict(registry)
    refused: list[tuple[Any, Any, str]] = [
        ("certify", AskEverything, "there is a method 'certify' already; register another name"),
        ("", AskEverything, "the name of a method must be a text, got ''"),
        (7, AskEverything, "the name of a method must be a text, got 7"),
        ("mine", AskEverything(), "factory must be a class or a function that makes a method"),
    ]
    for name, factory, message in refused:
        with pytest.raises(InvalidInputError, match=message) as caught:
            register_method(name, factory)
        assert "\n" not in str(caught.value)
    assert registry == before


def test_a_factory_that_makes_no_method_is_refused_when_it_is_used(registry) -> None:
    factory: Any = dict
    register_method("nothing", factory)
    with pytest.raises(InvalidInputError, match="name or an object such as Recur"):
        start(X2, method="nothing")
