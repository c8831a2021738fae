"""The command ``samecluster`` from tests: in this process, or in one of its own.

A new interpreter takes about a second of CPU before it does anything, so only tests of signals,
terminals and exit codes of a process begin one.
"""

import os
import subprocess
import sys
from io import BytesIO, TextIOWrapper
from subprocess import CompletedProcess
from unittest.mock import patch

from samecluster.cli.main import main

PLAIN = {"NO_COLOR": "1", "COLUMNS": "100", "TERM": "dumb"}
"""What makes the output the same wherever a test runs."""


def run(*arguments: object, text: str = "") -> CompletedProcess[str]:
    """What `main` does with these arguments and this input, errors and exit code included."""
    words = ["samecluster", *map(str, arguments)]
    given = TextIOWrapper(BytesIO(text.encode()), encoding="utf-8")
    out, errors = (TextIOWrapper(BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    with (
        patch.multiple(sys, argv=words, stdin=given, stdout=out, stderr=errors),
        patch.dict(os.environ, PLAIN),
    ):
        try:
            main()
            code: int | str | None = 0
        except SystemExit as end:
            code = end.code
        printed, complaints = (_written(stream) for stream in (out, errors))
    assert isinstance(code, int | None)
    return CompletedProcess(words, code or 0, printed, complaints)


def _written(stream: TextIOWrapper) -> str:
    stream.flush()
    assert isinstance(stream.buffer, BytesIO)
    return stream.buffer.getvalue().decode()


def command(*arguments: object) -> list[str]:
    """The command line of a process of its own."""
    return [sys.executable, "-m", "samecluster", *map(str, arguments)]


def run_apart(*arguments: object, text: str = "") -> CompletedProcess[str]:
    """As `run`, in a process of its own."""
    return subprocess.run(
        command(*arguments),
        input=text,
        capture_output=True,
        text=True,
        env={**os.environ, **PLAIN},
        check=False,
    )
