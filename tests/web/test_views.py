"""Items, questions and groups as the page gets them, without a server."""

import numpy as np
import pytest

from samecluster.errors import InvalidInputError
from samecluster.questions.pair import Verdict
from samecluster.recovery.result.how import How
from samecluster.web.operations.group_board import GroupBoard
from samecluster.web.plot import Plot
from samecluster.web.snapshot import SessionSummary
from samecluster.web.views import Views, why
from samecluster.workspace.open import open_session
from samecluster.workspace.request import Request
from tests.web.served import write_data


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    data = write_data(tmp_path_factory.mktemp("data"), n=60)
    with open_session(Request(str(data.path), id_column="shell")) as opened:
        for _ in range(12):
            (question,) = opened.session.ask()
            same = data.truth[question.item] == data.truth[question.comparator]
            opened.session.tell(question.id, Verdict.of(same))
        yield opened


@pytest.fixture(scope="module")
def views(opened):
    return Views(opened, ("shell", "length", "note"), None)


@pytest.fixture(scope="module")
def summary(opened):
    return SessionSummary.of(opened.session, 0)


def test_the_id_is_the_title_and_no_cell(views) -> None:
    item = views.item(7)
    assert (item["key"], item["title"]) == ("s7", "s7")
    assert [cell["column"] for cell in item["cells"]] == ["length", "note"]
    assert views.row("s7") == 7
    with pytest.raises(InvalidInputError, match="no item 'x'"):
        views.row("x")


def test_members_beside_a_question_are_sure_ones_and_the_nearest_first(views, summary) -> None:
    recovery = summary.recovery
    for number in summary.anchors:
        rows = [int(item["key"][1:]) for item in views.members_like(number, 5, summary, [5])]
        assert len(rows) <= 6
        assert 5 not in rows
        assert all(recovery.labels[rows] == number)
        assert all(recovery.how_codes[rows] > How.PREDICTED)
        gaps = np.linalg.norm(recovery.points[rows] - recovery.points[5], axis=1)
        assert list(gaps) == sorted(gaps)
    assert views.members_like(-1, 5, summary) == []


@pytest.fixture(scope="module")
def board(views, summary):
    return GroupBoard(views, summary)


def test_pages_of_members_are_the_doubtful_first_and_hold_all(board, summary) -> None:
    (number, *_) = summary.anchors
    whole = board.members(number, 0, 200, None)
    pages = [board.members(number, at, 4, None)["members"] for at in range(0, 60, 4)]
    assert [member for page in pages for member in page] == whole["members"]
    assert len(whole["members"]) == whole["total"] == whole["size"] - 1
    assert whole["reference"] not in [member["item"] for member in whole["members"]]
    surest = [(How[m["how"].upper()], m["probability"] or 0.0) for m in whole["members"]]
    assert surest == sorted(surest)
    some = board.members(number, 0, 200, "asked")
    assert some["total"] == [how for how, _ in surest].count(How.ASKED)
    assert some["size"] == whole["size"]
    assert board.members(99, 0, 4, None) is None


def test_cards_are_the_largest_first_each_with_members_of_its_own(board, views, summary) -> None:
    page = board.page(0, 100)
    assert page["total"] == len(page["groups"]) == len(summary.anchors)
    sizes = [group["size"] for group in page["groups"]]
    assert sizes == sorted(sizes, reverse=True)
    labels, how = summary.recovery.labels, summary.recovery.how_codes
    for group in page["groups"]:
        typical = [views.row(item["key"]) for item in group["typical"]]
        doubtful = [views.row(member["item"]["key"]) for member in group["doubtful"]]
        assert 1 <= len(typical) <= 4
        assert all(labels[typical + doubtful] == group["number"])
        assert how[typical[0]] == How.ASKED
        assert len(doubtful) == min(4, group["n_doubtful"])
        assert all(member["probability"] < 0.9 for member in group["doubtful"])
    assert [one["number"] for one in board.page(1, 1)["groups"]] == [page["groups"][1]["number"]]


def test_members_of_a_group_are_shown_by_the_columns_that_tell_groups_apart(board, summary) -> None:
    """Those in which members of one group differ say nothing about where one belongs."""
    groups = board.page(0, 48)
    for group in groups["groups"]:
        shown = board.members(group["number"], 0, 12, None)
        assert set(shown["differs"]) == set(groups["differs"])
        assert {"length", "width"} & set(shown["differs"])


def test_sizes_of_clusters_are_those_of_the_labels(views, summary) -> None:
    for cluster in views.clusters(summary):
        assert cluster["size"] == sum(summary.recovery.labels == cluster["number"])
        assert sum(cluster["by_how"].values()) == cluster["size"]
        assert summary.label(views.row(cluster["anchor"])) == cluster["number"]


def test_the_reason_of_an_asked_label_names_every_answer_about_it(views, summary, opened) -> None:
    row = next(iter(opened.session.state.answers())).items[0]
    text = why(summary.recovery, views.row(row), views)
    for said in opened.session.state.answers():
        if row in said.items:
            (other,) = set(said.items) - {row}
            assert f"{said.verdict.value} as {other}" in text


def test_before_anything_is_known_there_is_nothing_to_show(views, opened) -> None:
    blank = SessionSummary.blank(opened.session)
    assert views.clusters(blank) == []
    board = GroupBoard(views, blank)
    assert board.members(0, 0, 4, None) is None
    assert board.page(0, 4)["groups"] == []
    plot = Plot(opened.data.X, ("length", "width"), views)
    labels = plot.labels(blank)
    assert set(labels["labels"]) == {-1}
    assert set(labels["how"]) == {0}


def test_the_plane_of_the_plot_changes_with_the_set_of_clusters_only(
    views, opened, summary
) -> None:
    plot = Plot(opened.data.X, ("length", "width"), views)
    assert plot.version_for(summary) == 0
    first = plot.points(summary)
    assert plot.points(summary)["version"] == first["version"] == plot.labels(summary)["version"]
    blank = SessionSummary.blank(opened.session)
    assert plot.version_for(blank) == first["version"] + 1
    assert plot.points(blank)["version"] == first["version"] + 1
