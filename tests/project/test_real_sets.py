"""The tables of `make bench-real` in README and docs are those of its results."""

import pytest

from benchmarks.real.tables import PAGES, is_close, read, said_and_true, with_table


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_table_of_a_page_is_that_of_the_results(page) -> None:
    text = page.read_text(encoding="utf-8")
    assert with_table(text, PAGES[page]) == text
    assert "Others are ahead at" in text


def test_runs_seldom_say_less_than_half_of_their_error() -> None:
    """Who stops when few labels are expected to be wrong must not be misled."""
    both = [(said, true) for _, said, true in said_and_true(read())]
    misled = [true for said, true in both if not is_close(said, true) and said < true]
    assert len(both) > 20
    assert len(misled) <= 0.1 * len(both)
