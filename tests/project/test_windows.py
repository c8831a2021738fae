"""The branches for Windows, with what they call there replaced: nobody runs these tests there."""

import io
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from samecluster.cli.terminal.keyboard import read_key
from samecluster.errors import OracleError, StoreError
from samecluster.experiments.running import available_cores
from samecluster.oracles import CommandOracle
from samecluster.questions.pair import Question
from samecluster.sessions.storage.lock import WriterLock
from samecluster.web.server import Address, bind


class Console(io.StringIO):
    """A terminal of which nothing is read: keys come from msvcrt."""

    def isatty(self) -> bool:
        return True


def press(monkeypatch: pytest.MonkeyPatch, *keys: str) -> Iterator[str]:
    """Make these the next keys on Windows; what is left of them."""
    left = iter(keys)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(getwch=lambda: next(left)))
    return left


def test_a_key_is_read_by_a_single_press(monkeypatch) -> None:
    press(monkeypatch, "Y", "\r", "\x04")
    assert [read_key(Console()) for _ in range(3)] == ["y", "", None]


def test_an_arrow_is_one_key_that_means_nothing(monkeypatch) -> None:
    """The second part of Delete is an S, which would stop a session at its end."""
    left = press(monkeypatch, "\xe0", "S", "\x00", ";", "n")
    assert [read_key(Console()) for _ in range(3)] == ["", "", "n"]
    assert list(left) == []


def test_ctrl_c_interrupts_though_it_arrives_as_a_key(monkeypatch) -> None:
    press(monkeypatch, "\x03")
    with pytest.raises(KeyboardInterrupt):
        read_key(Console())


def test_a_pipe_is_read_by_lines_there_too(monkeypatch) -> None:
    press(monkeypatch)
    assert read_key(io.StringIO("yes\n")) == "y"


@pytest.mark.parametrize(("platform", "reused"), [("win32", False), ("linux", True)])
def test_a_port_is_not_shared_with_another_server(monkeypatch, platform, reused) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    with bind(Address(port=0), None) as listening:
        found = listening.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR)
    assert bool(found) is reused


def test_a_program_that_takes_too_long_is_ended_without_a_process_group(monkeypatch) -> None:
    monkeypatch.delattr(os, "killpg")
    killed: list[int] = []

    def kill(process: subprocess.Popen[bytes]) -> None:
        killed.append(process.pid)
        process.terminate()

    monkeypatch.setattr(subprocess.Popen, "kill", kill)
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    with CommandOracle(command, timeout=0.2, retries=0) as oracle, pytest.raises(OracleError):
        oracle.answer(Question(0, 1))
    assert killed


def test_a_lock_file_that_cannot_be_removed_stays_and_locks_nobody_out(
    monkeypatch, tmp_path: Path
) -> None:
    def refuse(path: Path, missing_ok: bool = False) -> None:
        raise PermissionError(f"{path} is in use")

    session = tmp_path / "data.samecluster"
    held = WriterLock(session)
    with pytest.raises(StoreError):
        WriterLock(session)
    monkeypatch.setattr(Path, "unlink", refuse)
    held.release()
    assert (tmp_path / "data.samecluster-lock").exists()
    again = WriterLock(session)
    with pytest.raises(StoreError):
        WriterLock(session)
    again.release()


def test_cores_are_counted_where_no_process_is_bound_to_some(monkeypatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert available_cores() == os.cpu_count()
