"""The oracle behind ``--oracle-cmd``: a command that answers, such as a language model or a lab.

`command_protocol` has the lines that are exchanged, `command_process` the processes; this module
decides which process gets which question, and what happens if an answer does not come.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import shlex
import shutil
import threading
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any, Literal, TypeAlias, cast

from samecluster._parameters import check_at_least
from samecluster.errors import InvalidInputError, OracleError
from samecluster.oracles.base import LookOracle, Oracle
from samecluster.oracles.command_looks import look_line, read_look
from samecluster.oracles.command_process import CommandProcess, close_all
from samecluster.oracles.command_protocol import ShownItem, question_line, read_reply
from samecluster.oracles.several_at_once import Errand, first_done
from samecluster.questions.look import CheckSheet, Look, Reply
from samecluster.questions.look_sizes import LookSizes
from samecluster.questions.pair import Question, Verdict

_Heard: TypeAlias = tuple[Reply, str | None]  # what a program said, and its note


class CommandOracle(LookOracle):
    """Asks a program: one JSON question per line of its input, one answer per line of its output.

    The program is started when first needed and kept. If it ends, answers too late or writes
    something that is no answer to the question, it is started again and the question put again,
    ``retries`` times at most. Use it in a ``with`` statement, or call `close` at the end.

    Parameters
    ----------
    command : the program and its arguments, as a list or as one text that is split as a shell
        would; no shell runs it
    shown : what the program sees of a row, by its number; without it, the row number as key and
        no fields
    parallel : number of copies of the program that run side by side, one question each at a time
    timeout : seconds to wait for an answer; None to wait for ever
    retries : how often a question is put again after a failure
    protocol : 1 for a program that answers pairs, 2 for one that answers looks as well

    Attributes
    ----------
    notes : the notes that came with answers, by question or look

    Examples
    --------
    >>> import sys
    >>> program = '''
    ... import json, sys
    ... for line in sys.stdin:
    ...     question = json.loads(line)
    ...     same = question["item"]["fields"] == question["comparator"]["fields"]
    ...     print(json.dumps({"id": question["id"], "verdict": "same" if same else "different"}))
    ... '''
    >>> colours = ["red", "blue", "red"]
    >>> def shown(row):
    ...     return ShownItem(f"flower {row}", {"colour": colours[row]})
    >>> with CommandOracle([sys.executable, "-c", program], shown) as oracle:
    ...     oracle.answer(Question(0, 2))
    <Verdict.SAME: 'same'>
    """

    def __init__(
        self,
        command: str | Sequence[str],
        shown: Callable[[int], ShownItem] | None = None,
        *,
        parallel: int = 1,
        timeout: float | None = 60.0,
        retries: int = 2,
        protocol: Literal[1, 2] = 1,
    ) -> None:
        check_at_least("parallel", parallel, 1)
        if timeout is not None and not 0 < timeout <= threading.TIMEOUT_MAX:
            raise InvalidInputError(
                f"timeout must be a number of seconds above 0, or None, got {timeout}"
            )
        if retries < 0:
            raise InvalidInputError(f"retries must be 0 or more, got {retries}")
        if protocol not in (1, 2):
            raise InvalidInputError(f"protocol must be 1 or 2, got {protocol!r}")
        self.notes: dict[Look, str] = {}
        self._protocol = protocol
        self._arguments = _arguments(command)
        self._shown = _by_number if shown is None else shown
        self._parallel = parallel
        self._timeout = timeout
        self._tries = retries + 1
        self._numbers = itertools.count(1)
        self._processes: list[CommandProcess] = []
        self._idle: list[CommandProcess] = []
        # Also at the end of the interpreter, and if close is never called.
        weakref.finalize(self, close_all, self._processes)

    def __repr__(self) -> str:
        return f"CommandOracle({shlex.join(self._arguments)!r}, parallel={self._parallel})"

    def __enter__(self) -> CommandOracle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all processes. A later question starts them again."""
        close_all(self._processes)
        for process in self._idle:
            self._processes.remove(process)
        self._idle.clear()

    def look_sizes(self, wanted: LookSizes) -> LookSizes:
        able = self._protocol > 1
        return wanted.limited(choice=able, sheet=able, board=able)

    def check(self, sheet: CheckSheet) -> Any:
        return self.reply(sheet) if self._protocol > 1 else Oracle.check(self, sheet)

    def reply(self, look: Look) -> Reply:
        """What a program says; pairs only with protocol 1."""
        ((_, reply),) = self._put(iter([look]))
        return reply

    def answer_many(
        self, questions: Iterable[Question]
    ) -> Generator[tuple[Question, Verdict], None, None]:
        with contextlib.closing(self._put(iter(questions))) as replies:
            for question, verdict in replies:
                yield cast("Question", question), cast("Verdict", verdict)

    def _put(self, waiting: Iterator[Look]) -> Generator[tuple[Look, Reply], None, None]:
        """Put up to ``parallel`` questions at a time; replies in the order in which they come.

        A question is taken from ``waiting`` when a process is free for it. After a question that
        could not be answered no other is put; the answers under way are still given, and then the
        OracleError is raised. If the caller stops early, the processes at work are ended.
        """
        arrived = threading.Event()
        away: dict[Errand, CommandProcess] = {}
        failure: BaseException | None = None
        try:
            while True:
                while failure is None and len(away) < self._parallel:
                    if (look := next(waiting, None)) is None:
                        break
                    process, ask = self._prepared(look)
                    away[Errand(look, ask, arrived)] = process
                if not away:
                    break
                errand = first_done(away, arrived)
                process = away.pop(errand)
                if errand.failure is not None:
                    self._processes.remove(process)
                    failure = failure or errand.failure
                else:
                    reply, note = errand.said
                    if note is not None:
                        self.notes[errand.look] = note
                    self._idle.append(process)
                    yield errand.look, reply
        finally:
            self._abandon(away, arrived)
        if failure is not None:
            raise failure

    def _prepared(self, look: Look) -> tuple[CommandProcess, Callable[[Look], _Heard]]:
        """A process that is free, and what asks it; what is shown is read in this thread."""
        identity = str(next(self._numbers))
        read: Callable[[bytes], _Heard]
        if self._protocol > 1:
            line = look_line(identity, look, self._shown)
            read = functools.partial(read_look, identity=identity, look=look)
        else:
            assert isinstance(look, Question)
            line = question_line(identity, *(self._shown(item) for item in look.shown))
            read = functools.partial(read_reply, identity=identity)
        if not self._idle:
            self._idle.append(CommandProcess(self._arguments))
            self._processes.append(self._idle[-1])
        process = self._idle.pop()
        about = " and ".join(self._shown(item).key for item in look.shown[:2])
        return process, lambda _: self._ask(process, line, read, about)

    def _ask(
        self, process: CommandProcess, line: bytes, read: Callable[[bytes], _Heard], about: str
    ) -> _Heard:
        """The reply of a process, with as many tries as are allowed."""
        for left in reversed(range(self._tries)):
            try:
                return process.ask(line, read, self._timeout)
            except OracleError as error:
                if not left:
                    raise OracleError(
                        f"the program {shlex.join(self._arguments)!r} gave no answer on "
                        f"{about} ({_tries(self._tries)}): {error}"
                    ) from error
        raise AssertionError("there is at least one try")

    def _abandon(self, away: dict[Errand, CommandProcess], arrived: threading.Event) -> None:
        """End the processes whose answers are no longer wanted."""
        for process in away.values():
            process.stop()
        while away:
            process = away.pop(first_done(away, arrived))
            process.see_off()  # one that had answered before it was killed waits for nobody
            self._processes.remove(process)


def _arguments(command: str | Sequence[str]) -> list[str]:
    """The program and its arguments, if there is such a program."""
    try:
        arguments = shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError as error:
        raise InvalidInputError(f"command cannot be read: {error}: {command}") from error
    if not arguments:
        raise InvalidInputError("command must name a program, got nothing")
    if shutil.which(arguments[0]) is None:
        raise InvalidInputError(
            f"command must begin with a program that can be run: {arguments[0]!r} is neither on "
            "the search path nor an executable file"
        )
    return arguments


def _by_number(row: int) -> ShownItem:
    return ShownItem(str(row))


def _tries(count: int) -> str:
    return "1 try" if count == 1 else f"{count} tries"
