"""Which files are results that `samecluster.tables.writing` has written, by their columns."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Sequence
from pathlib import Path

from samecluster._extras import pyarrow
from samecluster.errors import InvalidInputError

NAMES = ("cluster", "how", "probability")
"""The columns that results have after those of the data, each with the prefix of the user."""

_START = 1 << 24  # bytes in which the first line ends, also of a table of 100,000 columns
_TAIL = 500  # characters at the end of a line that hold the three names, however long a prefix is
_HEADER = re.compile(
    r'(?P<prefix>.{0,150})cluster"?(?P<by>[^\w])"?(?P=prefix)how"?(?P=by)"?(?P=prefix)probability"?'
)
_WORDS = "asked|proven|inferred|predicted|unassigned"
_ROW = re.compile(rf'(?P<by>[^\w])(?:{_WORDS})(?P=by)[\d.,eE+"-]*')
_ENCODINGS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def is_result_file(path: Path) -> bool:
    """Whether the last columns of a CSV, JSON lines or Parquet file are those of results."""
    with path.open("rb") as file:
        start = file.read(_START)
    if start.startswith(b"PAR1"):
        return _is_parquet_result(path)
    marked = next((name for mark, name in _ENCODINGS.items() if start.startswith(mark)), "utf-8")
    line = start.decode(marked, errors="replace").lstrip("\ufeff").partition("\n")[0].rstrip("\r")
    if line.startswith("{"):
        return _is_json_result(line)
    tail = line[-_TAIL:]
    header = re.search(_HEADER.pattern + "$", tail)
    return header is not None or re.search(_ROW.pattern + "$", tail) is not None


def _is_json_result(line: str) -> bool:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and _are_names(list(found)[-len(NAMES) :])


def _is_parquet_result(path: Path) -> bool:
    try:
        pa, pq = pyarrow()
    except InvalidInputError:
        return False
    try:
        return _are_names(pq.read_schema(path).names[-len(NAMES) :])
    except (pa.ArrowException, OSError, ValueError):
        return False


def _are_names(last: Sequence[str]) -> bool:
    prefix = last[0].removesuffix(NAMES[0]) if last else ""
    return list(last) == [prefix + name for name in NAMES]
