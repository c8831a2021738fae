"""Proof logs in files: JSON lines packed with gzip, or Parquet where a name ends so."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from samecluster.errors import InvalidInputError
from samecluster.proof.log import ProofLog
from samecluster.proof.parquet import read_rows, write_rows

__all__ = ["load_proof", "read_lines", "save_proof"]


def save_proof(log: ProofLog, path: str | Path) -> None:
    """Write a log, as Parquet if the name ends in ``.parquet``.

    The file appears only when it is complete.
    """
    target = Path(path)
    partial = target.with_name(target.name + ".partial")
    try:
        if _is_parquet(target):
            with partial.open("wb") as table:
                write_rows(log.lines(), table)
        else:
            _write_text(log, partial)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def load_proof(path: str | Path) -> ProofLog:
    """Read a log back. Its claims are not checked here; see `samecluster verify`."""
    try:
        return ProofLog.from_lines(read_lines(path))
    except InvalidInputError:
        raise
    except (KeyError, TypeError, ValueError, StopIteration) as error:
        raise InvalidInputError(f"{path} is not a proof log ({error!r})") from error


def read_lines(path: str | Path) -> Iterator[Any]:
    """The lines of a log file for the checker: Parquet by its name, or text, packed or plain."""
    source = Path(path)
    if _is_parquet(source):
        with source.open("rb") as table:
            try:
                yield from read_rows(table)
            except InvalidInputError as error:
                raise InvalidInputError(f"{source}: {error}") from error
        return
    with source.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    number = 1
    try:
        with gzip.open(source, "rt") if packed else source.open("rt") as lines:
            for line in lines:
                yield json.loads(line)
                number += 1
    except (EOFError, OSError, ValueError, zlib.error) as error:
        raise InvalidInputError(f"{source}, line {number}: {error}") from error


def _write_text(log: ProofLog, path: Path) -> None:
    with gzip.open(path, "wt", compresslevel=3) as file:
        for line in log.lines():
            json.dump(line, file, default=_plain, separators=(",", ":"))
            file.write("\n")


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"cannot write {type(value).__name__}")


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() == ".parquet"
