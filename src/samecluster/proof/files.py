"""Proof logs in files: JSON lines, packed with gzip."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from samecluster.errors import InvalidInputError
from samecluster.proof.log import ProofLog

__all__ = ["load_proof", "read_lines", "save_proof"]


def save_proof(log: ProofLog, path: str | Path) -> None:
    """Write a log; the file appears only when it is complete."""
    target = Path(path)
    partial = target.with_name(target.name + ".partial")
    with gzip.open(partial, "wt", compresslevel=3) as file:
        for line in log.lines():
            json.dump(line, file, default=_plain, separators=(",", ":"))
            file.write("\n")
    partial.replace(target)


def load_proof(path: str | Path) -> ProofLog:
    """Read a log back. Its claims are not checked here; see `samecluster verify`."""
    try:
        return ProofLog.from_lines(read_lines(path))
    except (KeyError, TypeError, ValueError, StopIteration) as error:
        raise InvalidInputError(f"{path} is not a proof log ({error!r})") from error


def read_lines(path: str | Path) -> Iterator[Any]:
    """The lines of a log file, packed or plain, for the checker."""
    source = Path(path)
    with source.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    with gzip.open(source, "rt") if packed else source.open("rt") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                yield json.loads(line)
            except ValueError as error:
                raise InvalidInputError(f"{source}, line {number}: {error}") from error


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"cannot write {type(value).__name__}")
