"""Nobody waits without a word: a spinner says what is done, also that code is compiled."""

import io
import threading
import time

import pytest

from samecluster.cli.terminal.screen import Screen, is_compiling, reading
from samecluster.workspace.request import Request


def terminal() -> Screen:
    return Screen(file=io.StringIO(), force_terminal=True, width=120)


def written(screen: Screen) -> str:
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


def test_what_takes_long_is_named_and_what_does_not_leaves_no_trace() -> None:
    screen = terminal()
    with screen.waiting("counting sheep"):
        pass
    assert written(screen) == ""
    with screen.waiting("counting sheep"):
        while "counting sheep" not in written(screen):
            time.sleep(0.01)


def test_what_an_old_session_takes_long_for_is_said(tmp_path) -> None:
    """Its answers are gone through again, which takes longer than its data."""
    request = Request(str(tmp_path / "shells.csv"))
    assert reading(request) == "reading the data"
    (tmp_path / "shells.csv.samecluster").touch()
    assert reading(request) == "reading the data and going through the answers so far"


def test_an_error_ends_the_spinner() -> None:
    screen = terminal()
    with pytest.raises(KeyError), screen.waiting("counting sheep"):
        raise KeyError
    threads = threading.active_count()
    with screen.waiting("counting sheep"):
        pass
    assert threading.active_count() == threads


def test_without_a_terminal_nothing_is_written() -> None:
    screen = Screen(file=io.StringIO())
    with screen.waiting("counting sheep"):
        time.sleep(0.6)
    assert written(screen) == ""


def test_compiling_is_noticed() -> None:
    numba = pytest.importorskip("numba")
    assert not is_compiling()

    def summed(values: list[float]) -> float:
        total = 0.0
        for value in values:
            total += value**2
        return total

    work = threading.Thread(target=numba.njit(summed).compile, args=((numba.float64[:],),))
    work.start()
    seen = False
    while work.is_alive():
        seen |= is_compiling()
    assert seen
    assert not is_compiling()
