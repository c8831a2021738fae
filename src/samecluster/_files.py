"""Which named files may be read, and which may be written over: guards for all rooms with files.

What is inside a file is for the room that knows its format; it says whether a file is a result of
its own.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from samecluster.errors import InvalidInputError

MAX_BYTES = 2 << 30
"""What data may take in memory unless the user allows more."""

IsOurs: TypeAlias = Callable[[Path], bool]
"""Whether a file that exists is a result of ours, which a new one may replace."""

_STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
_BESIDE_SESSION = ("", "-wal", "-shm", "-lock")
_SESSION_FILES = tuple(f".samecluster{end}" for end in _BESIDE_SESSION)
_DATABASE = b"SQLite format 3"
_LONGEST_STEM = 100  # bytes of the name that a temporary one repeats; a name has 255 at most


def check_input(path: str | Path) -> int:
    """The size of a file; InvalidInputError if there is none, or it is a pipe or a device."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        raise InvalidInputError(f"there is no file {path}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInputError(f"{path} cannot be read: {reason}") from None
    if not stat.S_ISREG(found.st_mode):
        what = "a folder" if stat.S_ISDIR(found.st_mode) else "no regular file"
        raise InvalidInputError(f"{path} cannot be read: it is {what}")
    return found.st_size


def is_database(path: Path) -> bool:
    """Whether a file is one of SQLite, as sessions are."""
    check_input(path)
    try:
        with path.open("rb") as file:
            return file.read(len(_DATABASE)) == _DATABASE
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror}") from None


def check_size(source: object, size: int, most: int = MAX_BYTES) -> None:
    """InvalidInputError before more is put into memory than the user allows."""
    if size > most:
        raise InvalidInputError(
            f"{source} takes {size / (1 << 30):,.1f} GiB in memory, more than the "
            f"{most / (1 << 30):g} that are allowed: raise that with --max-memory GIB"
        )


def is_stdout(path: str | Path) -> bool:
    """Whether a name stands for standard output."""
    return str(path) in _STDOUT


def check_output(
    path: str | Path, is_ours: IsOurs, *, force: bool = False, inputs: Iterable[Path] = ()
) -> None:
    """InvalidInputError if a result may not be written to this file.

    A file that exists is replaced if it is a result of ours, or with ``force``. Whatever is said,
    ``inputs`` (files, or folders with all that is in them), sessions, links and what is no regular
    file are not.
    """
    if is_stdout(path) or str(path) == os.devnull:
        return
    target = Path(path)
    try:
        found = os.lstat(target)
    except FileNotFoundError:
        _check_new(target)
        return
    except (OSError, ValueError) as error:
        raise _unwritable(target, error) from None
    if stat.S_ISLNK(found.st_mode):
        raise InvalidInputError(f"{target} is a link; name the file that it leads to")
    if not stat.S_ISREG(found.st_mode):
        what = "a folder" if stat.S_ISDIR(found.st_mode) else "no regular file"
        raise InvalidInputError(f"{target} is {what}; name a file, or - for standard output")
    if target.name.endswith(_SESSION_FILES) or is_database(target):
        raise InvalidInputError(f"{target} is a session, which no result replaces; name another")
    inside = _is_among(target, inputs)
    if inside is None:
        raise InvalidInputError(f"{target} is what the rows or answers come from; name another")
    if (force and not inside) or is_ours(target):
        return
    how = "" if inside else ", or replace it with --force (in Python: force=True)"
    raise InvalidInputError(f"{target} exists and is no result of samecluster; name another{how}")


@contextmanager
def written_file(
    path: str | Path, is_ours: IsOurs, *, force: bool = False, inputs: Iterable[Path] = ()
) -> Iterator[Path]:
    """A new file to be filled, which takes its place when the block is left without an error.

    It then is complete and on disk, and has the mode of the file that it replaces. Standard output
    gets it as a whole. `check_output` says what is refused.
    """
    inputs = tuple(inputs)
    check_output(path, is_ours, force=force, inputs=inputs)
    target = Path(path)
    is_stream = is_stdout(path) or str(path) == os.devnull
    try:
        mode = None if is_stream or not target.exists() else stat.S_IMODE(target.stat().st_mode)
        folder = Path(tempfile.gettempdir()) if is_stream else target.parent
        partial = _made_file(folder, target, mode)
    except OSError as error:
        raise _unwritable(target, error) from None
    try:
        yield partial
        if is_stdout(path):
            _print_file(partial)
        elif not is_stream:
            check_output(path, is_ours, force=force, inputs=inputs)  # somebody may have been faster
            _put_in_place(partial, target, mode)
    except OSError as error:
        raise _unwritable(target, error) from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)


@contextmanager
def appearing_folder(path: str | Path) -> Iterator[Path]:
    """A folder to be filled, which gets its name when the block is left without an error."""
    target = Path(path)
    partial = target.with_name(_temporary_name(target))
    partial.mkdir(parents=True)
    try:
        yield partial
        for file in partial.iterdir():
            _sync(file)
        partial.rename(target)
        _sync(target.parent)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _check_new(target: Path) -> None:
    if target.name.endswith(_SESSION_FILES):
        raise InvalidInputError(f"{target} would look like a session; name another")
    parent = target.absolute().parent
    if not parent.is_dir():
        raise InvalidInputError(f"{target} cannot be written: there is no folder {target.parent}")


def _is_among(target: Path, inputs: Iterable[Path]) -> bool | None:
    """None if it is one of the inputs, or beside it as a part; whether it is in one's folder."""
    inside = False
    for file in inputs:
        if any(_is_same(target, file.with_name(file.name + end)) for end in _BESIDE_SESSION):
            return None
        inside |= file.is_dir() and file.resolve() in target.resolve().parents
    return inside


def _is_same(one: Path, other: Path) -> bool:
    with contextlib.suppress(OSError):
        return one.samefile(other)
    return False


def _temporary_name(target: Path) -> str:
    stem = os.fsdecode(os.fsencode(target.name)[:_LONGEST_STEM])
    return f".{stem}.{secrets.token_hex(8)}.partial"


def _made_file(folder: Path, target: Path, mode: int | None) -> Path:
    """An empty file of its own; only its owner reads it until it has the mode of the old one."""
    partial = folder / _temporary_name(target)
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
    os.close(os.open(partial, flags, 0o666 if mode is None else 0o600))
    return partial


def _put_in_place(partial: Path, target: Path, mode: int | None) -> None:
    if mode is not None:
        partial.chmod(mode)
    _sync(partial)
    partial.replace(target)
    _sync(target.absolute().parent)


def _sync(path: Path) -> None:
    """Wait until it is on disk; a folder cannot be waited for everywhere."""
    is_folder = path.is_dir()
    with contextlib.suppress(OSError) if is_folder else contextlib.nullcontext():
        handle = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _print_file(partial: Path) -> None:
    sys.stdout.flush()
    with partial.open("rb") as file:
        shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()


def _unwritable(target: Path, error: Exception) -> InvalidInputError:
    reason = getattr(error, "strerror", None) or error
    return InvalidInputError(f"{target} cannot be written: {reason}")
