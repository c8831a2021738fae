"""Pictures of a recovery: right numbers in them, every cluster named, readable at any size."""

import importlib.util
import re
from collections.abc import Sequence
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_digits

from samecluster import How, Recovery, Round, recover, start
from samecluster.errors import InvalidInputError
from samecluster.instances import make_ellipsoids
from samecluster.plots import picture_svg, plot_clusters, plot_progress
from samecluster.plots.layout import drawn, outline, spread
from samecluster.plots.neighbour_map import neighbour_map
from samecluster.plots.projection import best_views


def recovery_of(X: np.ndarray, labels: np.ndarray, how: np.ndarray) -> Recovery:
    """A recovery as if all that is known became so in one round."""
    labels = np.where(how == How.UNASSIGNED, -1, labels).astype(np.int64)
    known = np.count_nonzero(how)
    return Recovery(
        labels=labels,
        how_codes=how.astype(np.int8),
        n_questions=17,
        rounds=(Round(17, int(known)),),
        round_of=np.where(how == How.UNASSIGNED, -1, 0).astype(np.int32),
        answers=(),
        points=X,
        method="certify",
        margin=1.0,
        n_clusters=None,
    )


def mixed(n: int, d: int, k: int, seed: int = 0) -> Recovery:
    """Clusters around random centres, with labels known in all ways."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % k
    X = rng.normal(size=(k, d))[labels] * 8 + rng.normal(size=(n, d))
    how = rng.choice(list(How), p=[0.05, 0.3, 0.2, 0.4, 0.05], size=n)
    how[:k] = How.ASKED
    return recovery_of(X, labels, how)


def texts(figure) -> list[str]:
    return [text.get_text() for panel in figure.axes for text in panel.texts]


def legend(figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


@pytest.mark.parametrize(
    ("n", "d", "k"),
    [(40, 1, 1), (300, 1, 30), (40, 2, 1), (900, 2, 30), (60, 3, 2), (500, 64, 30), (31, 64, 30)],
)
@pytest.mark.parametrize("dark", [False, True])
def test_every_cluster_is_named_in_every_panel_and_every_kind_counted(n, d, k, dark) -> None:
    found = mixed(n, d, k)
    figure = plot_clusters(found, dark=dark)
    figure.draw_without_rendering()
    n_panels = 1 if d <= 2 or d > 10 else 2
    assert len(figure.axes) == n_panels
    assert texts(figure) == [str(label) for label in range(k)] * n_panels
    assert legend(figure) == [
        f"{how.name.lower()} ({found.count(how):,})" for how in reversed(How) if found.count(how)
    ]


@pytest.mark.parametrize("n_labels", [0, 1])
def test_a_recovery_with_hardly_a_label_can_be_drawn(n_labels) -> None:
    how = np.zeros(20)
    how[:n_labels] = How.ASKED
    found = recovery_of(np.random.default_rng(0).normal(size=(20, 3)), np.zeros(20), how)
    assert texts(plot_clusters(found)) == ["0"] * 2 * n_labels


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((12, 4)),
        np.full((12, 2), 1e300),
        np.outer(np.arange(12.0), [1e-200, 1e200, 1.0]),
        np.repeat([[0.0, 1.0], [1.0, 0.0]], 6, axis=0),
    ],
    ids=["one place", "huge and equal", "on a line, units far apart", "two places"],
)
def test_degenerate_points_can_be_drawn(X) -> None:
    found = recovery_of(X, np.arange(12) // 6, np.full(12, How.PROVEN))
    plot_clusters(found).draw_without_rendering()


def test_of_many_points_some_are_drawn_and_it_is_said(tmp_path) -> None:
    found = mixed(100_000, 5, 8)
    figure = plot_clusters(found)
    told = re.fullmatch(r"(4,0\d\d) of 100,000 points are drawn", legend(figure)[-1])
    assert told
    for panel in figure.axes:
        shown = sum(len(np.asarray(layer.get_offsets())) for layer in panel.collections)
        assert shown == int(told[1].replace(",", ""))
    assert len(picture_svg(figure)) < 1_000_000


def test_the_picture_is_one_element_that_links_to_nothing_and_is_the_same_again() -> None:
    pictures = [picture_svg(plot_clusters(mixed(200, 4, 5), columns=list("abcd"))) for _ in "12"]
    assert pictures[0] == pictures[1]
    root = ElementTree.fromstring(pictures[0])
    assert root.tag.endswith("svg")
    for element in root.iter():
        for name, value in element.attrib.items():
            if name.endswith("href"):
                assert value.startswith(("#", "data:image/png;base64,"))


def test_names_are_text_whatever_they_hold() -> None:
    found = mixed(50, 2, 3)
    figure = plot_clusters(
        found, columns=["$x_1$", "<b>&"], names={0: "$\\frac$", 2: "a name that is far too long"}
    )
    assert texts(figure) == ["$\\frac$", "1", "a name that is far too …"]
    svg = picture_svg(figure)
    assert "&lt;b&gt;&amp;" in svg
    assert "$x_1$" in svg


def test_columns_must_name_all_columns() -> None:
    with pytest.raises(InvalidInputError, match="columns must name all 4 columns, got 1 names"):
        plot_clusters(mixed(50, 4, 2), columns=["a"])


@pytest.mark.parametrize("draw", [plot_clusters, plot_progress])
def test_without_matplotlib_it_is_said_what_to_install(monkeypatch, draw) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "matplotlib" else find(name)
    )
    with pytest.raises(InvalidInputError, match=r"pip install samecluster\[plots\]"):
        draw(mixed(20, 2, 2))


def steps(figure) -> tuple[list[float], list[float]]:
    (line,) = figure.axes[0].lines
    return list(line.get_xdata()), list(line.get_ydata())


def test_progress_shows_the_labels_known_after_each_round() -> None:
    made = make_ellipsoids(n=300, d=2, k=3, random_state=0)
    found = recover(
        made.X,
        lambda i, j: made.labels[i] == made.labels[j],
        n_clusters=3,
        margin=made.margin,
        method="recur",
        random_state=0,
    )
    questions, labelled = steps(plot_progress(found))
    rounds = found.rounds
    assert questions[1 : len(rounds) + 1] == np.cumsum([r.n_questions for r in rounds]).tolist()
    assert labelled[1 : len(rounds) + 1] == [r.n_labelled for r in rounds]
    areas = plot_progress(found).axes[0].collections
    highest = max(
        np.asarray(path.vertices)[:, 1].max() for area in areas for path in area.get_paths()
    )
    assert highest == len(found.labels) == labelled[-1]


def test_progress_of_a_run_under_way_ends_with_what_is_known_now() -> None:
    made = make_ellipsoids(n=200, d=2, k=3, random_state=0)
    run = start(made.X, margin=made.margin, random_state=0)
    for told in range(5):
        snapshot = run.snapshot()
        questions, labelled = steps(plot_progress(snapshot))
        assert questions[-2] == told
        assert labelled[-1] == np.count_nonzero(snapshot.how_codes)
        i, j = run.pending[0].pair
        run.tell(run.pending[0], same=bool(made.labels[i] == made.labels[j]))


@pytest.mark.parametrize("unit", [1.0, 1e6])
def test_the_best_projection_finds_the_columns_that_matter(unit) -> None:
    """Clusters differ in two of 64 columns, whatever the unit of one of these."""
    rng = np.random.default_rng(0)
    labels = np.arange(2000) % 3
    X = rng.normal(size=(2000, 64))
    X[:, [5, 9]] += 6 * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])[labels]
    X[:, 9] *= unit
    view = best_views(X, labels, [f"c{j}" for j in range(64)])[0]
    at = np.column_stack([view.x, view.y])
    centres = np.array([at[labels == label].mean(axis=0) for label in range(3)])
    nearest = np.linalg.norm(at[:, None] - centres, axis=2).argmin(axis=1)
    assert np.mean(nearest == labels) > 0.98
    assert "c5" in view.x_label
    assert "c9" in view.x_label


finite = st.floats(-1e6, 1e6)
clouds = st.integers(1, 30).flatmap(lambda n: arrays(float, (n, 2), elements=finite))


@given(clouds)
def test_an_outline_holds_all_points(points) -> None:
    line = outline(points)
    scale = np.ptp(points, axis=0) + 1e-9 * (1 + np.abs(points).max(axis=0))
    for angle in np.linspace(0, np.pi, 24):
        direction = np.array([np.cos(angle), np.sin(angle)]) / scale
        # 128 corners of the line cut off up to 0.03 % of the ellipse.
        assert (line @ direction).max() >= (points @ direction).max() - 5e-3
        assert (line @ direction).min() <= (points @ direction).min() + 5e-3


def test_the_outline_of_many_points_is_that_of_their_corners() -> None:
    angle = np.linspace(0, 2 * np.pi, 4000)
    ring = np.column_stack([3 * np.cos(angle), np.sin(angle)])
    line = outline(np.concatenate([ring, ring / 2]))
    assert np.allclose((line / [3, 1]) ** 2 @ [1, 1], 1, atol=0.03)
    straight = outline(np.outer(np.arange(5000.0), [1, 2]))
    assert np.allclose(straight[:, 1], 2 * straight[:, 0])
    assert np.allclose([straight[:, 0].min(), straight[:, 0].max()], [0, 4999], atol=1)


@given(
    st.integers(1, 25).flatmap(
        lambda k: st.tuples(
            arrays(float, (k, 2), elements=st.floats(0, 1)),
            arrays(float, (k, 2), elements=st.floats(0.01, 0.08)),
        )
    )
)
def test_labels_that_have_room_do_not_cover_each_other(boxes) -> None:
    places, sizes = boxes
    at = spread(places, sizes)
    assert (at >= sizes / 2 - 1e-9).all()
    assert (at <= 1 - sizes / 2 + 1e-9).all()
    gaps = np.abs(at[:, None] - at) - (sizes[:, None] + sizes) / 2
    covered = (gaps < -1e-6).all(axis=2) & ~np.eye(len(at), dtype=bool)
    assert not covered.any()


@given(
    st.lists(st.tuples(st.integers(-1, 6), st.sampled_from(list(How))), min_size=1, max_size=400),
    st.integers(1, 100),
)
def test_every_kind_of_label_is_drawn_and_no_point_twice(kinds: Sequence[tuple[int, How]], most):
    labels, how = np.array(kinds).T
    found = recovery_of(np.zeros((len(kinds), 2)), labels, how)
    items = drawn(found, most)
    assert len(np.unique(items)) == len(items)
    shown = {(found.labels[i], found.how_codes[i]) for i in items}
    assert shown == set(zip(found.labels, found.how_codes, strict=True))
    assert len(items) <= most + len(shown)
    if len(kinds) <= most:
        assert len(items) == len(kinds)


def test_many_columns_become_a_map_on_which_groups_show() -> None:
    """Of each digit's nearest neighbours on the map, most are the same digit; without labels."""
    X, truth = load_digits(return_X_y=True)
    (view,) = best_views(X[:600], np.full(600, -1), [f"pixel {j}" for j in range(64)])
    assert view.is_map
    places = np.column_stack([view.x, view.y])
    away = np.sum((places[:, None] - places) ** 2, axis=2) + np.diag(np.full(600, np.inf))
    same = truth[np.argsort(away, axis=1)[:, :5]] == truth[:600, None]
    assert same.mean() > 0.9
    (again,) = best_views(X[:600], truth[:600])
    assert (again.x == view.x).all()


def test_more_items_than_landmarks_lie_beside_their_neighbours(monkeypatch) -> None:
    monkeypatch.setattr("samecluster.plots.neighbour_map._LANDMARKS", 200)
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 1000)
    X = 8 * rng.normal(size=(4, 12))[truth] + rng.normal(size=(1000, 12))
    places = neighbour_map(X)
    middles = np.array([places[truth == group].mean(axis=0) for group in range(4)])
    away = np.sum((places[:, None] - middles) ** 2, axis=2)
    assert (np.argmin(away, axis=1) == truth).mean() > 0.99


@pytest.mark.parametrize("n", [10, 12, 40])
@pytest.mark.parametrize("kind", ["one place", "two places", "random"])
def test_a_map_of_few_or_equal_items_is_finite(n, kind) -> None:
    X = {
        "one place": np.ones((n, 11)),
        "two places": np.repeat([[0.0], [1e9]], n // 2, axis=0) * np.ones(11),
        "random": np.random.default_rng(n).normal(size=(n, 11)),
    }[kind]
    assert np.isfinite(neighbour_map(X)).all()


@pytest.mark.parametrize("d", [2, 5])
def test_outliers_do_not_shrink_the_rest(d) -> None:
    X = np.random.default_rng(0).normal(size=(1000, d))
    X[3] = 1e6
    view = best_views(X, np.full(1000, -1))[0]
    assert view.n_beyond == 1
    middle = np.quantile(view.x, 0.9) - np.quantile(view.x, 0.1)
    assert middle > 0.15 * np.ptp(view.x)
    one_value = np.zeros((1000, 2))
    one_value[:4] = 1.0
    assert best_views(one_value, np.full(1000, -1))[0].n_beyond == 0
