"""Answers about row numbers in a file that only grows, so that a run that stops can go on.

A line of JSON each; the first says which data the rows are of. For tables that fit into memory
there are sessions, which know items by their ids and can take answers back.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from samecluster.errors import DataMismatchError, StoreError
from samecluster.questions.pair import Answer, Question, Verdict

__all__ = ["AnswerLog"]


class AnswerLog:
    """Answers about the rows of data with so many rows and columns.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "answers.jsonl")
    >>> AnswerLog(path, 1_000, 3).append(Answer(Question(7, 3), Verdict.SAME))
    >>> [str(answer) for answer in AnswerLog(path, 1_000, 3).answers]
    ['7 and 3 same']
    """

    def __init__(self, path: str | Path, n: int, d: int) -> None:
        self._path, self._about = Path(path), {"rows": n, "columns": d}
        self.answers: list[Answer] = []
        if self._path.exists():
            self._read()

    def append(self, answer: Answer) -> None:
        """Keep an answer; when this returns it is safe."""
        question = answer.question
        line: dict[str, Any] = {"item": question.item, "comparator": question.comparator}
        try:
            with self._path.open("a", encoding="utf-8") as file:
                if not file.tell():
                    file.write(json.dumps(self._about) + "\n")
                file.write(json.dumps(line | {"verdict": answer.verdict.value}) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StoreError(f"an answer could not be written to {self._path}: {error}") from error
        self.answers.append(answer)

    def _read(self) -> None:
        text = self._path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        if len(whole) < len(text):  # the last line was being written when something stopped it
            os.truncate(self._path, len(whole))
        lines = whole.decode("utf-8", errors="replace").splitlines()
        if not lines:
            return
        about, *answers = (self._parsed(at, line) for at, line in enumerate(lines, 1))
        if about != self._about:
            raise DataMismatchError(
                f"{self._path} has answers about other data ({_told(about)}, not "
                f"{_told(self._about)}); move it away to begin anew"
            )
        self.answers = [self._answer(at, line) for at, line in enumerate(answers, 2)]

    def _parsed(self, number: int, line: str) -> Any:
        try:
            return json.loads(line)
        except json.JSONDecodeError:
            raise StoreError(f"{self._path}, line {number} is no JSON; mend or delete it") from None

    def _answer(self, number: int, line: Any) -> Answer:
        try:
            question = Question(int(line["item"]), int(line["comparator"]))
            return Answer(question, Verdict(line["verdict"]))
        except (KeyError, TypeError, ValueError):
            raise StoreError(
                f"{self._path}, line {number} is no answer; mend or delete it"
            ) from None


def _told(about: Any) -> str:
    rows, columns = (about.get(key, "?") for key in ("rows", "columns"))
    return f"{rows} rows of {columns} columns"
