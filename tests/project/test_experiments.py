"""The experiments on tiny instances, through the real code: rows, tables, outcomes, pictures."""

import csv
import dataclasses
import json
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecluster import Recur, start
from samecluster.errors import InvalidInputError, SameClusterError
from samecluster.experiments import plots
from samecluster.experiments.aligned import LAYOUTS, make_aligned
from samecluster.experiments.catalogue import all_experiments
from samecluster.experiments.experiment import Experiment, ResultTable, Task, rows_where
from samecluster.experiments.figure1 import Figure1
from samecluster.experiments.figure3 import COMPARED, Figure3
from samecluster.experiments.one_cluster import (
    bound,
    cluster_task,
    draw_until,
    learn,
    sampling_task,
)
from samecluster.experiments.plots.figure3 import steps
from samecluster.experiments.published import published_curves, published_results
from samecluster.experiments.recoveries import ALGORITHMS, aligned_task, ellipsoids_task
from samecluster.experiments.report import Section, report, write_tables
from samecluster.experiments.running import ResultStore, perform, run_tasks
from samecluster.experiments.statements import CONSTANTS, Statements
from samecluster.experiments.theory import Theory, questions_bound, rounds_bound
from samecluster.instances import make_ellipsoids
from samecluster.points.array import unit_scaled

FIGURE3 = Figure3(n=800, dimensions=(2, 3), runs=2)
TINY: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Figure1(n=900, runs=2, shown=100),
        FIGURE3,
        Statements(
            sampling_n=500,
            sampling_dimensions=(1, 2),
            sampling_clusters=(2, 3),
            trials=3,
            cluster_n=1000,
            shapes=((1, 1), (2, 2), (1, 3)),
            margins=(1.0, 0.2),
            runs=2,
            figure3=FIGURE3,
        ),
        Theory(sizes=(200, 1000), clusters=(2, 3), dimensions=(2,), n=500, runs=2),
    )
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Every tiny experiment's results, as they come back from disk."""
    store = ResultStore(tmp_path_factory.mktemp("results") / "results.jsonl")
    return run_tasks([task for one in TINY.values() for task in one.tasks()], store, workers=1)


@pytest.fixture(scope="module")
def tables(results) -> dict[str, list[ResultTable]]:
    return {name: experiment.tables(results) for name, experiment in TINY.items()}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("margin", [0.3, 1.0])
def test_aligned_clusters_have_the_margin_they_promise_and_hardly_more(layout, margin) -> None:
    made = make_aligned(20_000, layout, 20.0, margin, 0)
    smallest = math.inf
    for cluster, ellipsoid in enumerate(made.ellipsoids):
        norms = ellipsoid.norms(made.X)
        own, other = norms[made.labels == cluster], norms[made.labels != cluster]
        assert (own <= 1 + 1e-12).all()
        smallest = min(smallest, float(other.min() / own.max()) ** 2 - 1)
    assert margin < smallest < 1.3 * margin
    assert np.ptp(np.bincount(made.labels)) <= 1


def test_a_key_names_the_settings_and_is_the_same_in_every_process() -> None:
    tasks = [
        ellipsoids_task("recur", 100, 2, 3, 0),
        ellipsoids_task("recur", 101, 2, 3, 0),
        ellipsoids_task("recur", 100, 2, 3, 1),
        ellipsoids_task("certify", 100, 2, 3, 0),
        aligned_task("certify", 100, LAYOUTS[0], 20.0, 0, 0),
        aligned_task("certify", 100, LAYOUTS[0], 20.0, 10, 0),
    ]
    assert len({task.key for task in tasks}) == len(tasks)
    code = (
        "from samecluster.experiments.recoveries import ellipsoids_task\n"
        "print(ellipsoids_task('recur', 100, 2, 3, 0).key)"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert told.strip() == tasks[0].key
    assert dataclasses.replace(tasks[0], weight=9.0).key == tasks[0].key


@pytest.mark.parametrize("quick", [True, False])
def test_every_experiment_asks_for_distinct_tasks_and_all_of_them_are_known(quick) -> None:
    for experiment in all_experiments(quick, None).values():
        tasks = experiment.tasks()
        assert tasks
        assert all(task.weight > 0 for task in tasks)
        for task in tasks:
            assert json.loads(json.dumps(task.settings)) == task.settings
    runs = {one.name: len(one.tasks()) for one in all_experiments(quick, 1).values()}
    more = {one.name: len(one.tasks()) for one in all_experiments(quick, 2).values()}
    assert all(more[name] == 2 * runs[name] for name in runs)


def test_the_same_task_gives_the_same_result_again() -> None:
    task = ellipsoids_task("recur-published", 500, 3, 3, 4)
    assert json.dumps(perform(task)) == json.dumps(perform(task))


def test_an_error_names_the_task() -> None:
    with pytest.raises(SameClusterError, match=r"'n': 2.*n must be at least k"):
        perform(ellipsoids_task("recur", 2, 2, 5, 0))


@pytest.mark.parametrize("algorithm", [a for a in ALGORITHMS if a != "random"])
def test_curves_lead_to_the_result(algorithm) -> None:
    found = perform(ellipsoids_task(algorithm, 1000, 2, 3, 1))
    curve = np.array(found["curve"])
    assert (np.diff(curve[:, 0]) >= 0).all()
    assert (curve[:, 1] <= curve[:, 0]).all()
    assert curve[-1, :3].tolist() == [found["questions"], found["counted"], found["error"]]
    if algorithm in ("certify", "recur", "recur-plain", "recur-batches"):
        assert found["error"] == 0
        assert (np.diff(curve[:, 2]) <= 0).all()
        assert curve[-1, 3] == 0


def test_counting_as_published_leaves_out_the_first_cluster_only() -> None:
    """With two clusters every question is against the first one until both are known."""
    found = perform(ellipsoids_task("recur", 500, 2, 2, 0))
    assert found["questions"] > 0
    assert found["counted"] < found["questions"]


def test_labels_in_the_picture_are_named_after_the_clusters_they_match() -> None:
    task = aligned_task("certify", 600, LAYOUTS[0], 20.0, 600, 0)
    truth = make_aligned(600, LAYOUTS[0], 20.0, 1.0, 0).labels
    assert perform(task)["labels"] == truth.tolist()


@given(
    seed=st.integers(0, 10**6),
    k=st.integers(2, 6),
    wanted=st.integers(1, 12),
    skew=st.floats(1.0, 4.0),
)
def test_drawing_stops_with_the_first_cluster_that_has_enough(seed, k, wanted, skew) -> None:
    rng = np.random.default_rng(seed)
    labels = np.floor(k * rng.random(200) ** skew).astype(np.int64)
    cluster, sample = draw_until(labels, k, wanted, np.random.default_rng(seed))
    again = np.random.default_rng(seed).integers(len(labels), size=k * (wanted - 1) + 1)
    counts: dict[int, list[int]] = {}
    for item in again:
        mine = counts.setdefault(int(labels[item]), [])
        mine.append(int(item))
        if len(mine) == wanted:
            assert int(labels[item]) == cluster
            assert sorted(set(mine)) == sample.tolist()
            return
    pytest.fail("no cluster had enough")


def test_larger_samples_hold_more_of_their_cluster() -> None:
    inside = [
        perform(sampling_task(2000, 2, 3, "equal", b, 20, 0))["inside"] for b in (1.0, 4.5, 20.0)
    ]
    assert inside[0] < inside[1] < inside[2] <= 1 / 3


@pytest.mark.parametrize(("d", "margin"), [(1, 1.0), (2, 1.0), (2, 0.2), (3, 0.5)])
def test_one_cluster_costs_what_recur_asks_after_its_sample(d, margin) -> None:
    """The last batch of RECUR's first round, without expansion, is one question a cell."""
    made = make_ellipsoids(20_000, d, 3, margin, random_state=d)
    run = start(
        made.X,
        n_clusters=3,
        margin=margin,
        method=Recur(expansion=None, epsilon=0.95),
        random_state=0,
    )
    batches = []
    while run.pending:
        batches.append(list(run.pending))
        for question in batches[-1]:
            i, j = question.pair
            run.tell(question, same=bool(made.labels[i] == made.labels[j]))
    assert len(run.result.rounds) == 1
    cluster = made.labels[batches[-1][0].comparator]
    assert {made.labels[question.comparator] for question in batches[-1]} == {cluster}
    drawn = np.unique([q.pair for batch in batches[:-1] for q in batch])
    sample = drawn[made.labels[drawn] == cluster]
    inside, cell_of, most = learn(unit_scaled(made.X), sample, margin)
    assert len(np.setdiff1d(cell_of, cell_of[np.isin(inside, sample)])) == len(batches[-1])
    assert len(batches[-1]) <= most


def test_the_bound_is_the_number_of_cells_and_grows_as_the_margin_falls() -> None:
    # b = ⌈log_{1+α}(1/β)⌉ at r=1, γ=1/2: α = β = 0.5/(√5·√2), so b+1 = 14.
    assert bound(1, 0.5) == 28
    assert bound(1, 5.0) == 28
    for rank in (1, 2, 3):
        bounds = [bound(rank, margin) for margin in (0.5, 0.2, 0.1, 0.05)]
        assert bounds == sorted(bounds)
        assert 2**rank < bounds[0] < bound(rank + 1, 0.5)


def test_a_flat_cluster_costs_by_its_rank(results) -> None:
    del results
    flat = perform(cluster_task(2000, 6, 1, 0.5, 0))
    assert flat["exact"]
    assert flat["questions"] <= flat["bound"] <= bound(1, 0.5, 1.01)


def test_bounds_of_the_paper() -> None:
    assert rounds_bound(5, 1 / math.e) == pytest.approx(40)
    # 8·2·ln n rounds, each 4·4.5·ln 2 sampling questions at d=1 and at most 28 cells.
    assert questions_bound(1000, 1, 2) == pytest.approx(
        16 * math.log(1000) * (4 * 4.5 * math.log(2) + 28)
    )


def test_published_results_are_the_ones_known(tables) -> None:
    general = rows_where(published_results(), dataset="general", algorithm="recur-published")
    for d, known in {2: 1168, 4: 2608, 6: 5957, 8: 14202}.items():
        runs = rows_where(general, d=d)
        assert len(runs) == 10
        assert round(sum(row["questions"] for row in runs) / 10) == known
        for run in range(10):
            curve = rows_where(published_curves(), d=d, run=run)
            assert [row["questions"] for row in curve] == sorted(r["questions"] for r in curve)
            assert curve[-1]["error"] == rows_where(runs, run=run)[0]["error"]


def test_tables_add_up(tables) -> None:
    summary, runs, curves = (table.rows for table in tables["figure3"])
    assert {row["algorithm"] for row in summary} == set(COMPARED)
    for row in summary:
        chosen = rows_where(runs, d=row["d"], algorithm=row["algorithm"])
        assert row["questions"] == sum(r["questions"] for r in chosen) / 2
        assert row["exact"] == sum(r["error"] == 0 for r in chosen)
    for run in rows_where(runs, algorithm="recur-published"):
        last = rows_where(curves, d=run["d"], run=run["run"])[-1]
        assert (last["questions"], last["error"]) == (run["questions"], run["error"])
    for row in tables["statements"][0].rows:
        shares = [row[f"b={b:g}"] for b in CONSTANTS]
        assert all(share in {count / 6 for count in range(7)} for share in shares)
    points = tables["figure1"][2].rows
    assert len(points) == 100
    assert all(row["true"] == row["certify"] == row["recur-batches"] for row in points)


@pytest.mark.parametrize("name", TINY)
def test_csv_files_hold_the_rows_and_the_report_their_numbers(name, tables, tmp_path) -> None:
    experiment = TINY[name]
    write_tables(tables[name], tmp_path)
    outcomes = experiment.outcomes(tables[name])
    text = report([Section(experiment, tables[name], outcomes, f"{name}.png")], quick=True)
    lines = set(text.splitlines())
    shown = 0
    for table in tables[name]:
        with (tmp_path / f"{table.name}.csv").open(newline="") as file:
            read = list(csv.DictReader(file))
        assert len(read) == len(table.rows) > 0
        for row in read if table.columns else []:
            cells = []
            for column, look in table.columns.items():
                value = row[column]
                number = int if look.format.endswith("d") else float
                told = format(number(value), look.format) if look.format and value else value
                cells.append(told)
            assert "| " + " | ".join(cells) + " |" in lines
            shown += 1
    assert shown > 0
    assert f"![{experiment.title}]({name}.png)" in text
    for outcome in outcomes:
        assert outcome.measured in text
    for word in ("γ=10 was fed, the margin is 1", "Quick run"):
        assert word in text


def test_outcomes_fall_short_when_the_numbers_do(tables) -> None:
    def doctored(name: str, table: int, **changes: object) -> list[bool]:
        changed = list(tables[name])
        rows = [row | changes for row in changed[table].rows]
        changed[table] = dataclasses.replace(changed[table], rows=rows)
        outcomes = TINY[name].outcomes(changed)
        told = report([Section(TINY[name], changed, outcomes)], quick=False)
        assert told.count("**falls short**") == sum(not outcome.holds for outcome in outcomes)
        return [outcome.holds for outcome in outcomes]

    assert doctored("figure1", 0, exact=0, error=0.0)[:3] == [False, True, False]
    assert doctored("figure1", 0, exact=2, questions=1000.0)[0] is False
    assert doctored("figure3", 0, exact=0)[0] is False
    assert doctored("figure3", 0, ratio=2.0)[1] is False
    assert doctored("figure3", 1, steadiness=0.5)[2] is False
    assert doctored("figure3", 0, error=0.05)[3:5] == [False, False]
    assert doctored("figure3", 0, error=0.3)[3:5] == [True, True]
    assert doctored("statements", 0, **{"b=4.5": 0.49})[0] is False
    assert doctored("statements", 0, **{"b=4.5": 0.5})[0] is True
    assert doctored("statements", 1, within=False)[1] is False
    assert doctored("statements", 1, exact=1)[2] is False
    assert doctored("statements", 2, share=0.031, counted_share=0.029)[3:] == [True, False]
    assert doctored("theory", 1, rounds=1e9)[0] is False
    assert doctored("theory", 0, most_questions=10**12)[1] is False


def test_the_guaranteed_statements_hold_on_tiny_instances_too(tables) -> None:
    statements = TINY["statements"].outcomes(tables["statements"])
    assert [outcome.holds for outcome in statements[:3]] == [True] * 3
    theory = TINY["theory"].outcomes(tables["theory"])
    assert [outcome.holds for outcome in theory[:2]] == [True] * 2
    assert TINY["figure1"].outcomes(tables["figure1"])[2].holds


def test_steps_follow_a_run_and_start_with_no_labels() -> None:
    at = np.array([1.0, 5.0, 7.0, 20.0])
    errors = steps([[(5, 0.5), (9, 0.0)], [(2, 0.25)]], at)
    assert errors.tolist() == [[1.0, 0.5, 0.5, 0.0], [1.0, 0.25, 0.25, 0.25]]


@pytest.mark.parametrize("name", TINY)
def test_pictures_are_drawn_alike_every_time(name, tables, tmp_path) -> None:
    png, svg = plots.draw(name, tables[name], tmp_path)
    assert png.read_bytes().startswith(b"\x89PNG")
    first = svg.read_bytes()
    assert b"<svg" in first
    assert plots.draw(name, tables[name], tmp_path)[1].read_bytes() == first


@pytest.mark.parametrize("name", TINY)
def test_legends_hide_nothing_and_nothing_is_cut_off(name, tables) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from samecluster.experiments.plots import figure1, figure3, statements, style, theory

    pictures = {
        "figure1": figure1.picture,
        "figure3": figure3.picture,
        "statements": statements.picture,
        "theory": theory.picture,
    }
    with style.applied():
        figure = pictures[name]({table.name: table.rows for table in tables[name]})
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        renderer = canvas.get_renderer()
        shown = [axes for axes in figure.axes if axes.get_visible()]
        own = [axes.get_legend() for axes in shown if axes.get_legend() is not None]
        legends = [it.get_window_extent(renderer) for it in [*figure.legends, *own] if it]
        panels = [axes.get_window_extent(renderer) for axes in shown]
        labels = [
            text.get_window_extent(renderer)
            for axes in shown
            for text in (axes.xaxis.label, axes.yaxis.label, axes.title)
            if text.get_text()
        ]
    assert legends
    for number, box in enumerate(legends):
        assert not any(box.overlaps(other) for other in panels + labels + legends[number + 1 :])
        assert box.x0 >= figure.bbox.x0
        assert box.x1 <= figure.bbox.x1
        assert box.y0 >= figure.bbox.y0
    for axes in shown:
        assert axes.get_xlabel() or axes.get_shared_x_axes().get_siblings(axes) != [axes]
        assert axes.get_ylabel() or axes.get_shared_y_axes().get_siblings(axes) != [axes]


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch, tmp_path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert not plots.can_draw()
    with pytest.raises(InvalidInputError, match=r"pip install samecluster\[plots\]"):
        plots.draw("figure1", [], tmp_path)


def test_tasks_are_compared_by_what_they_measure() -> None:
    assert Task("a", {"n": 1}, 1.0) == Task("a", {"n": 1}, 2.0)
