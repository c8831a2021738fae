"""Proof logs in files: JSON lines packed with gzip, or Parquet where a name ends so."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from samecluster._files import MAX_BYTES, check_input, check_size, written_file
from samecluster.errors import InvalidInputError
from samecluster.proof.log import FORMATS, ProofLog, in_parts
from samecluster.proof.parquet import RowWriter, read_rows

_PER_CHARACTER = 16  # bytes in memory of a character of JSON: lists of numbers, and the text
_LONGEST_HEADER = 1 << 20  # characters: what a proof of 10,000 columns has


def save_proof(
    log: ProofLog, path: str | Path, *, force: bool = False, inputs: Iterable[Path] = ()
) -> None:
    """Write a log, as Parquet if the name ends in ``.parquet``.

    The file appears only when it is complete. One that exists is replaced if it is a proof, or with
    ``force``; sessions, links and ``inputs`` never are.
    """
    with writing_proof(log.header(), path, force=force, inputs=inputs) as write:
        for record in log.records:
            write(record)


@contextmanager
def writing_proof(
    header: dict[str, Any], path: str | Path, *, force: bool = False, inputs: Iterable[Path] = ()
) -> Generator[Callable[[tuple[Any, ...]], None], None, None]:
    """Write a log record by record, as `save_proof` does; the file appears at the end."""
    with (
        written_file(path, is_proof_file, force=force, inputs=inputs) as partial,
        _writing(header, Path(path), partial) as write_line,
    ):

        def write(record: tuple[Any, ...]) -> None:
            for line in in_parts(record):
                write_line(line)

        yield write


def is_proof_file(path: Path) -> bool:
    """Whether a file begins as a proof does, whatever follows."""
    try:
        if _is_parquet(path):
            with path.open("rb") as table:
                header = next(read_rows(table), None)
        else:
            with _opened_text(path) as lines:
                header = json.loads(lines.readline(_LONGEST_HEADER))
    except (EOFError, OSError, ValueError, RecursionError, zlib.error):
        return False
    return isinstance(header, dict) and header.get("format") in FORMATS


def load_proof(path: str | Path) -> ProofLog:
    """Read a log back. Its claims are not checked here; see `samecluster verify`."""
    try:
        return ProofLog.from_lines(read_lines(path))
    except InvalidInputError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError, StopIteration) as error:
        raise InvalidInputError(f"{path} is not a proof log ({error!r})") from error


def read_lines(path: str | Path, max_bytes: int = MAX_BYTES) -> Iterator[Any]:
    """The lines of a log file for the checker: Parquet by its name, or text, packed or plain.

    One line, or group of rows, is in memory at a time, and takes ``max_bytes`` at most.
    """
    source = Path(path)
    check_input(source)
    if _is_parquet(source):
        with source.open("rb") as table:
            try:
                yield from read_rows(table, max_bytes)
            except InvalidInputError as error:
                raise InvalidInputError(f"{source}: {error}") from error
        return
    number = 1
    try:
        with _opened_text(source) as lines:
            while line := lines.readline(max_bytes // _PER_CHARACTER + 1):
                check_size(f"line {number}", len(line) * _PER_CHARACTER, max_bytes)
                yield json.loads(line)
                number += 1
    except (EOFError, OSError, RecursionError, ValueError, zlib.error) as error:
        raise InvalidInputError(f"{source}, line {number}: {error}") from error


def _opened_text(path: Path) -> Any:
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rt") if packed else path.open("rt")


@contextmanager
def _writing(
    header: dict[str, Any], target: Path, partial: Path
) -> Generator[Callable[[Any], None], None, None]:
    if _is_parquet(target):
        with partial.open("wb") as table, RowWriter(header, table) as writer:
            yield writer.write
        return
    with gzip.open(partial, "wt", compresslevel=3) as file:

        def write_line(line: Any) -> None:
            json.dump(line, file, default=_plain, separators=(",", ":"))
            file.write("\n")

        write_line(header)
        yield write_line


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"cannot write {type(value).__name__}")


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() == ".parquet"
