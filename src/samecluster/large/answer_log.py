"""Files ``DATA.answers.jsonl``: how `samecluster cluster --in-blocks` kept answers before sessions.

A line of JSON per answer about row numbers, after one that says how many rows and columns the data
has. They are only read, to be imported into a session.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from samecluster._files import check_input, check_size
from samecluster.errors import DataMismatchError, StoreError
from samecluster.questions.pair import Answer, Question, Verdict


def read_answer_log(path: Path, n: int) -> list[Answer]:
    """The answers in a file, which must be about data with n rows.

    A last line that was being written when something stopped the run is left out.
    """
    check_size(path.name, check_input(path))
    text = path.read_bytes()
    complete = text[: text.rfind(b"\n") + 1].decode("utf-8", errors="replace")
    lines = [_parsed(path, at, line) for at, line in enumerate(complete.splitlines(), 1)]
    if not lines:
        return []
    about, *answers = lines
    rows = about.get("rows") if isinstance(about, dict) else None
    if rows != n:
        raise DataMismatchError(
            f"{path} has answers about other data ({rows} rows, not {n}); move it away to begin "
            "without them"
        )
    return [_answer(path, at, line) for at, line in enumerate(answers, 2)]


def _parsed(path: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError:
        raise StoreError(f"{path}, line {number} is no JSON; mend or delete it") from None


def _answer(path: Path, number: int, line: Any) -> Answer:
    try:
        question = Question(int(line["item"]), int(line["comparator"]))
        return Answer(question, Verdict(line["verdict"]))
    except (KeyError, TypeError, ValueError):
        raise StoreError(f"{path}, line {number} is no answer; mend or delete it") from None
