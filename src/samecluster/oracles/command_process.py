"""A command that is asked line by line: started when needed, watched, and surely ended.

Knows nothing of questions. Each process leads a group of its own, so that Ctrl-C reaches this
program only, and all that the process started can be ended with it.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from samecluster.errors import OracleError

T = TypeVar("T")

_LONGEST_LINE = 1 << 20  # bytes of an answer: far above any note, far below what fills the memory
_KEPT_STDERR = 8192  # last bytes of standard error that are kept: enough for a Python traceback
_SHOWN_STDERR = 10  # last lines of it in a message: more would hide the message
_GRACE = 2.0  # seconds that a process has to exit by itself after its input ended


class CommandProcess:
    """One command, of which at most one process runs at a time.

    ``ask`` belongs to one thread at a time. ``stop`` may come from any, and is final.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = list(arguments)
        self._lock = threading.Lock()
        self._process: _Process | None = None
        self._stopped = False
        self._busy = False

    def ask(self, line: bytes, read: Callable[[bytes], T], timeout: float | None) -> T:
        """What it writes in reply to a line, as ``read`` understands it.

        OracleError if ``read`` raises one, if nothing comes or not in time; then the process has
        been ended, and the next line starts another.
        """
        process = self._running()
        reply, in_time = process.exchange(line, timeout)
        self._busy = False
        if not in_time:
            raise self._failure(
                f"no line came within {timeout:g} seconds (it must flush its output after each "
                "answer)"
            )
        if not reply:
            raise self._failure("its output ended without an answer", ended=True)
        if len(reply) > _LONGEST_LINE:
            raise self._failure(f"it wrote a line of more than {_LONGEST_LINE:,} bytes")
        try:
            return read(reply)
        except OracleError as error:
            raise self._failure(str(error)) from error

    def stop(self) -> None:
        """End the process and never start another."""
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.kill()

    def dismiss(self) -> None:
        """Never start another process; if this one is idle, end its input so that it exits."""
        with self._lock:
            self._stopped = True
            if self._process is not None and not self._busy:
                self._process.end_input()

    def see_off(self) -> None:
        """After `dismiss`: wait until it has exited; after `_GRACE`, end it."""
        with self._lock:
            if self._process is None:
                return
            if self._busy:
                self._process.kill()  # the thread that waits in `ask` does the rest
            else:
                self._process.end(_GRACE)
                self._process = None

    def _running(self) -> _Process:
        with self._lock:
            if self._stopped:
                raise OracleError("the program was stopped")
            if self._process is None:
                try:
                    self._process = _Process(self._arguments)
                except OSError as error:
                    raise OracleError(f"it cannot be started: {error}") from error
            self._busy = True
            return self._process

    def _failure(self, reason: str, *, ended: bool = False) -> OracleError:
        """End the process; an error with the reason and what it wrote on standard error."""
        process, self._process = self._process, None
        assert process is not None
        code = process.end(_GRACE if ended else 0.0)
        how = f" (exit code {code})" if ended and code is not None else ""
        lines = process.last_words()
        if not lines:
            return OracleError(f"{reason}{how}; it wrote nothing on standard error")
        return OracleError(
            "\n  ".join([f"{reason}{how}; its last lines on standard error:", *lines])
        )


def close_all(processes: Iterable[CommandProcess]) -> None:
    """End processes: all are dismissed first, so that they exit side by side."""
    leaving = list(processes)
    try:
        for process in leaving:
            process.dismiss()
        for process in leaving:
            process.see_off()
    finally:
        for process in leaving:
            process.stop()


class _Process:
    """One process, its pipes, and the end of what it wrote on standard error."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,  # a buffer could not be closed while a thread waits in it
            start_new_session=True,
            # A Python program that does not flush would otherwise look as if it never answered.
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
        self._stderr = self._unread = b""
        self._replies: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def exchange(self, line: bytes, timeout: float | None) -> tuple[bytes, bool]:
        """What it wrote in reply, nothing if its output ended, and whether it came in time."""
        self._replies = queue.SimpleQueue()
        # Not in this thread: what escaped from the group may hold the pipes open for ever.
        threading.Thread(target=self._talk, args=[line, self._replies], daemon=True).start()
        try:
            return self._replies.get(timeout=timeout), True
        except queue.Empty:
            self.kill()
            return b"", False

    def _talk(self, line: bytes, replies: queue.SimpleQueue[bytes]) -> None:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        reply, unwritten = b"", memoryview(line)
        with contextlib.suppress(OSError, ValueError):  # the pipes may be closed meanwhile
            while unwritten:
                unwritten = unwritten[stdin.write(unwritten) :]
            while b"\n" not in self._unread and len(self._unread) <= _LONGEST_LINE:
                if not (chunk := stdout.read(1 << 16)):
                    break
                self._unread += chunk
            reply, end, self._unread = self._unread.partition(b"\n")
            reply += end
        replies.put(reply)

    def kill(self) -> None:
        """End it and all that it started, and whoever waits for its reply."""
        if hasattr(os, "killpg"):
            # The group outlives its leader while others are in it, and is gone with the last.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        else:
            self._process.kill()
        self._replies.put(b"")

    def end_input(self) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()

    def end(self, grace: float) -> int | None:
        """End it and what it started; its exit code if it left within ``grace`` seconds."""
        self.end_input()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(grace)
        code = self._process.poll()
        self.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        return code

    def last_words(self) -> list[str]:
        # What escaped from the group may hold standard error open, so this does not wait for long.
        self._listener.join(_GRACE)
        return self._stderr.decode("utf-8", errors="replace").splitlines()[-_SHOWN_STDERR:]

    def _listen(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as pipe:
            while chunk := os.read(pipe.fileno(), 1 << 16):
                self._stderr = (self._stderr + chunk)[-_KEPT_STDERR:]
