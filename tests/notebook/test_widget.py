"""The Python side of the widget: requests of the page, results at any moment, one session file."""

import json
import sys
import time
from typing import Any

import pandas as pd
import polars as pl
import pytest

import samecluster
from samecluster.errors import InvalidInputError
from samecluster.instances import make_ellipsoids
from samecluster.notebook.one_document import page

pytest.importorskip("anywidget")


def shells(n: int = 60) -> tuple[pd.DataFrame, dict[str, int]]:
    made = make_ellipsoids(n=n, d=2, k=3, random_state=0)
    names = [f"s{row}" for row in range(n)]
    frame = pd.DataFrame({"shell": names, "length": made.X[:, 0], "width": made.X[:, 1]})
    return frame, dict(zip(names, made.labels.tolist(), strict=True))


class Page:
    """Requests as the page in the widget makes them."""

    def __init__(self, widget: Any) -> None:
        self.widget, self.n = widget, 0

    def request(self, method: str, path: str, body: Any = None) -> Any:
        self.n += 1
        text = None if body is None else json.dumps(body)
        request = {"id": f"r{self.n}", "method": method, "path": f"/api/v1/{path}", "body": text}
        reply = self.widget.reply(request)
        assert reply["id"] == f"r{self.n}"
        assert reply["status"] == 200, reply["text"]
        return json.loads(reply["text"])

    def label(self, truth: dict[str, int], most: int = 500) -> int:
        """Answer pairs by the truth; how many there were."""
        for n in range(most):
            found = self.request("POST", "looks/next", {"count": 1})["looks"]
            if not found:
                return n
            asked = found[0]["question"]
            same = truth[asked["item"]["key"]] == truth[asked["comparator"]["key"]]
            said = {"question": asked["id"], "verdict": "same" if same else "different"}
            self.request("POST", "answers", {**said, "key": f"answer-{self.n}"})
        return most


@pytest.fixture
def asked(tmp_path):
    frame, truth = shells()
    made = []

    def ask(rows: Any = frame) -> Any:
        path = tmp_path / "shells.samecluster"
        made.append(samecluster.ask(rows, path, id_column="shell", looks="pairs"))
        return made[-1]

    yield ask, truth
    for widget in made:
        widget.close()


def test_three_lines_from_a_frame_to_labels(asked) -> None:
    ask, truth = asked
    widget = ask()
    n = Page(widget).label(truth)
    found = widget.to_frame()
    assert list(found.columns) == ["cluster", "how", "probability"]
    assert len(found) == 60
    assert widget.recovery.n_questions == n
    pairs = set(zip(found["cluster"], truth.values(), strict=True))
    assert len(pairs) == 3


def test_the_file_goes_on_where_it_was_also_for_another_kind_of_frame(asked) -> None:
    ask, truth = asked
    first = ask()
    Page(first).label(truth, most=5)
    assert first.recovery.n_questions == 5
    first.close()
    frame, _ = shells()
    second = ask(pl.DataFrame(frame.to_dict("list")))
    assert second.recovery.n_questions == 5
    assert isinstance(second.to_frame(), pl.DataFrame)


def test_the_index_of_the_frame_is_kept_and_missing_cells_are_filled(tmp_path) -> None:
    frame, _ = shells()
    frame.index = [f"row {i}" for i in range(60)]
    frame.loc["row 3", "length"] = None
    widget = samecluster.ask(frame, tmp_path / "s.samecluster", id_column="shell")
    assert list(widget.to_frame().index) == list(frame.index)
    widget.close()


def test_errors_are_those_of_the_package(tmp_path, monkeypatch) -> None:
    with pytest.raises(InvalidInputError, match="frame must be a data frame"):
        samecluster.ask([[1.0, 2.0]], tmp_path / "s.samecluster")
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(InvalidInputError, match=r"pip install samecluster\[notebook\]"):
        samecluster.ask(shells()[0], tmp_path / "s.samecluster")


def test_the_page_is_one_document_that_loads_nothing() -> None:
    text = page()
    assert 'src="/' not in text
    assert 'href="/' not in text
    assert 'from "./' not in text


def test_the_first_look_at_many_rows_needs_little_work(tmp_path) -> None:
    """10,000 rows; CPU seconds, as wall-clock depends on what else runs. The goal is 1 s."""
    frame, _ = shells(10_000)
    warm = samecluster.ask(shells()[0], tmp_path / "warm.samecluster", id_column="shell")
    Page(warm).request("POST", "looks/next", {"count": 1})
    warm.close()
    began = time.process_time()
    widget = samecluster.ask(frame, tmp_path / "s.samecluster", id_column="shell")
    assert Page(widget).request("POST", "looks/next", {"count": 1})["looks"]
    print(f"first look after {time.process_time() - began:.2f} s of CPU")
    widget.close()
