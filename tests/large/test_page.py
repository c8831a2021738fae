"""The page on data in blocks: it says that it is about a sample, and its questions are."""

import pytest

from samecluster.instances import make_ellipsoids
from samecluster.workspace.open import open_session
from samecluster.workspace.request import Request
from tests.cases.large_session_cases import SAMPLE, answered_to_the_end, small_sample, write_parquet
from tests.web.served import Data, in_thread

MADE = make_ellipsoids(6_000, 2, 3, random_state=4)

__all__ = ["small_sample"]


@pytest.mark.usefixtures("small_sample")
def test_the_page_is_about_a_sample_and_says_so(tmp_path) -> None:
    """In its title and in words, with the command for all rows; downloads hold the sample."""
    path = write_parquet(tmp_path, MADE.X)
    data = Data(path, {f"s{row}": int(label) for row, label in enumerate(MADE.labels)})
    open_session(Request(str(path), in_blocks=True, id_column="shell")).session.close()
    with in_thread(data, show=("note", "c0")) as served:
        owner = served.owner()
        told = owner.get("session")
        assert told["title"] == "points.parquet, 600 of 6,000 rows"
        assert told["sample"].startswith("The items are a sample: 600 of the 6,000 rows")
        assert told["sample"].endswith("export points.parquet.samecluster -o FOLDER")
        (question,) = owner.next()
        item = question["item"]
        assert item["cells"][0]["text"] == f"note {item['title'][1:]}"
        while questions := owner.next():
            owner.answer(questions[0], data.verdict(questions[0]))
        assert owner.progress()["n_items"] == SAMPLE
        rows = owner.client.get("/api/v1/export", params={"format": "csv"}).text.splitlines()
        assert len(rows) == SAMPLE + 1
    with open_session(Request(str(path))) as again:
        _, found, _ = answered_to_the_end(again, MADE.labels)
        assert sum(found.by_how.values()) == 6_000
