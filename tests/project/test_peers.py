"""The comparison with other tools counts and charges alike; needs none of the tools."""

import io
import random
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.peers.counting import CountingOracle, Exact, LimitReached, Placed, Trace
from benchmarks.peers.course import Course, read_course
from benchmarks.peers.instances import Case
from benchmarks.peers.learners import rbf_svm
from benchmarks.peers.report import _overview

LABELS = np.array([0, 0, 1, 1, 2, 2, 3, 3])


def test_a_pair_is_counted_once_in_either_order() -> None:
    oracle = CountingOracle(LABELS, limit=10)
    answers = [oracle.same(0, 1), oracle.same(1, 0), oracle.same(1, 2), oracle.same(0, 1)]
    assert answers == [True, True, False, True]
    assert oracle.n_questions == 2


def test_the_question_beyond_the_limit_is_neither_answered_nor_counted() -> None:
    oracle = CountingOracle(LABELS, limit=2)
    oracle.same(0, 1)
    oracle.same(0, 2)
    oracle.same(2, 0)
    assert not oracle.limit_reached
    with pytest.raises(LimitReached):
        oracle.same(0, 3)
    assert oracle.limit_reached
    assert oracle.n_questions == 2


def test_a_class_costs_the_comparisons_up_to_the_same_one() -> None:
    """By hand: 0, then 1, 2 and 2 comparisons; a wrong first guess costs one more."""
    oracle = CountingOracle(LABELS, limit=100)
    placed = Placed(oracle, n_classes=4)
    costs = []
    for item, order in [(0, []), (2, [0]), (4, [1, 0]), (3, [0, 1, 2]), (5, [2, 0, 1])]:
        before = oracle.n_questions
        placed.place(item, order)
        costs.append(oracle.n_questions - before)
    assert placed.classes == [0, 1, 2, 1, 2]
    assert costs == [0, 1, 2, 2, 1]


def test_the_last_of_all_classes_is_free() -> None:
    oracle = CountingOracle(LABELS, limit=100)
    placed = Placed(oracle, n_classes=2)
    placed.place(0, [])
    placed.place(2, [0])
    before = oracle.n_questions
    assert placed.place(3, [0, 1]) == 1
    assert oracle.n_questions - before == 1


def test_an_order_must_name_each_known_class_once() -> None:
    placed = Placed(CountingOracle(LABELS, limit=100), n_classes=4)
    placed.place(0, [])
    with pytest.raises(ValueError, match="must name 1 classes"):
        placed.place(2, [])


@given(
    labels=st.lists(st.integers(0, 4), min_size=1, max_size=30),
    shuffled=st.randoms(use_true_random=False),
)
def test_placing_finds_the_true_classes_whatever_the_order(
    labels: list[int], shuffled: random.Random
) -> None:
    """Classes agree with the truth up to names, and a point costs at most one question a class."""
    k = len(set(labels))
    oracle = CountingOracle(np.array(labels), limit=10_000)
    placed = Placed(oracle, n_classes=k)
    for item in range(len(labels)):
        known, before = placed.n_known_classes, oracle.n_questions
        order = list(range(known))
        shuffled.shuffle(order)
        placed.place(item, order)
        assert oracle.n_questions - before <= min(known, k - 1)
    assert len(set(zip(labels, placed.classes, strict=True))) == k


def traced(patience: int) -> tuple[CountingOracle, Trace, io.StringIO]:
    oracle, out = CountingOracle(LABELS, limit=100), io.StringIO()
    return oracle, Trace(LABELS, oracle, out, patience), out


def course_of(out: io.StringIO) -> Course:
    return read_course(io.StringIO(out.getvalue()))


def test_zero_error_counts_from_where_it_lasts() -> None:
    """Exact, wrong again, exact: the second time counts; errors between notes are the last's."""
    oracle, trace, out = traced(patience=50)
    wrong = np.zeros(8, dtype=np.int64)
    for partner, labels in [(1, LABELS), (2, wrong), (3, LABELS), (4, LABELS)]:
        oracle.same(0, partner)
        trace.note(labels)
    trace.end("stopped")
    course = course_of(out)
    assert course.exact_from is not None
    assert course.exact_from[0] == 3
    assert course.error_at(1) == 0
    assert course.error_at(2) == 0.75
    assert course.error_at(100) == 0
    assert course.error_at(0) is None


def test_a_run_that_stays_exact_is_ended() -> None:
    oracle, trace, _ = traced(patience=2)
    trace.note(LABELS)
    oracle.same(0, 1)
    trace.note(LABELS)
    oracle.same(0, 2)
    with pytest.raises(Exact):
        trace.note(LABELS)


def test_a_restart_forgets_the_course_but_keeps_what_a_budget_gave() -> None:
    _, trace, out = traced(patience=50)
    trace.note(LABELS)
    trace.at(100, np.zeros(8, dtype=np.int64))
    fresh = CountingOracle(LABELS, limit=100)
    trace.restart(fresh)
    fresh.same(0, 2)
    trace.note(LABELS)
    course = course_of(out)
    assert [asked for asked, _, _ in course.points] == [1]
    assert course.error_at(100) == 0.75


def test_every_restart_is_announced() -> None:
    """So that a run with a larger budget can be given its own time."""
    announced: list[int] = []
    oracle = CountingOracle(LABELS, limit=100)
    trace = Trace(LABELS, oracle, io.StringIO(), 50, on_restart=lambda: announced.append(1))
    trace.note(LABELS)
    trace.restart(oracle)
    trace.restart(oracle)
    assert len(announced) == 2


def test_a_killed_run_says_nothing_of_what_it_did_not_reach() -> None:
    oracle, trace, out = traced(patience=50)
    oracle.same(0, 2)
    trace.note(np.zeros(8, dtype=np.int64))
    course = read_course([*io.StringIO(out.getvalue()), '{"event": "err'])
    assert course.ended is None
    assert course.error_at(1) == 0.75
    assert course.error_at(2) is None
    assert course.exact_from is None


def test_margin_sampling_is_charged_all_its_questions() -> None:
    """The whole loop, with the real classifier: exact on far-apart groups, labels never asked."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 20)
    case = Case(rng.normal(size=(60, 2)) + 20.0 * labels[:, None], labels, margin=1.0)
    oracle, out = CountingOracle(labels, limit=1000), io.StringIO()
    rbf_svm(case, oracle, Trace(labels, oracle, out, patience=10_000), seed=0)
    course = course_of(out)
    assert course.exact_from is not None
    assert course.exact_from[0] < 20
    assert [asked for asked, _, _ in course.points] == sorted(a for a, _, _ in course.points)
    # 60 points in 3 classes: no more than two questions each, no less than one but for the first.
    assert 59 <= oracle.n_questions <= 118


ROOT = Path(__file__).parents[2]


def test_at_a_glance_shows_the_fewest_questions_and_the_error_that_is_left() -> None:
    exact = Course(points=[(7, 0.5, 0.1), (20, 0.0, 0.2)], ended="stopped", asked=20)
    slower = Course(points=[(90, 0.0, 0.2)], ended="exact", asked=90)
    wrong = Course(points=[(1, 0.5, 0.1), (200, 0.25, 0.2)], ended=None, asked=310)
    courses = {("certify", "paper"): exact, ("cobras", "paper"): slower, ("recur", "paper"): wrong}
    cells = {
        line.split("|")[1].strip(): line.split("|")[2].strip()
        for line in _overview(courses, ["paper"]).splitlines()[2:]
    }
    assert cells["samecluster certify, k and margin given"] == "**20**"
    assert cells["COBRAS"] == "90"
    assert cells["RECUR, k and margin given"] == "25 %"


def test_the_readme_says_what_the_benchmark_wrote() -> None:
    """Every figure of the README's sentences about other tools, the date and the command."""
    results = (ROOT / "benchmarks" / "peers" / "results.md").read_text()
    overview = results[results.index("| tool |") : results.index("\n\n## ")].splitlines()
    names, _, *rows = [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in overview]
    table = {row[0]: dict(zip(names, row, strict=True)) for row in rows}
    mixture, ours = table["Gaussian mixture, k given"], table["samecluster, nothing declared"]
    learner = table["scikit-activeml, quadratic, C=1, k given"]
    digits = results.partition("## Digits")[2]
    stop = re.search(r"nothing declared \| never; stops at (\d+)", digits)
    assert stop
    told = " ".join((ROOT / "README.md").read_text().partition("## Beside other tools")[2].split())
    for sentence in (
        f"has 0 errors on {list(mixture.values()).count('0')} of {len(names) - 2} instances",
        f"with a rare cluster {mixture['rare']} are wrong",
        f"stops after {stop[1]} questions with {ours['digits']} wrong, "
        f"scikit-activeml has none wrong after {learner['digits']}",
        f"samecluster takes {ours['paper']} questions with nothing declared, "
        f"scikit-activeml {learner['paper']} with k given, "
        f"COBRAS has {table['COBRAS']['paper']} wrong after 1,000",
        f"`make bench-peers`, {results.splitlines()[2].split(',')[0]}",
    ):
        assert sentence in told
