"""The file of a session in its folder: made for its owner only, and missed when it is gone.

SQLite goes on writing into a file that was deleted, moved or replaced: answers then seem to be kept
and are in no file that has a name. So device and inode are compared before each append.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from samecluster.errors import SessionNotFoundError, StoreError

_MODE = 0o600
_MOST_COPIES = 1000


def new_file(path: Path) -> bool:
    """Make an empty file that only its owner can read; False if there is one of that name."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, _MODE))
    except FileExistsError:
        return False
    return True


class SessionFile:
    """A session file with its log and its lock beside it; ``path`` has no symbolic links.

    The log is beside the file itself, not beside a link to it: who follows no link finds no log.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        try:
            self.path = Path(path).resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise StoreError(f"{path}: {error}") from None
        self.is_ours = False
        self._known: tuple[int, int] | None = None
        self._known_log: tuple[int, int] | None = None

    @property
    def log(self) -> Path:
        return self.path.with_name(f"{self.path.name}-wal")

    def check(self, create: bool) -> None:
        """SessionNotFoundError if it is missing and not to be made; StoreError if it is no file."""
        try:
            mode = self.path.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            if not create:
                raise SessionNotFoundError(f"there is no session {self.path}") from None
            return
        except OSError as error:
            raise StoreError(f"{self.path}: {error.strerror}") from None
        if not stat.S_ISREG(mode):
            raise StoreError(f"{self.path} is a folder or a device, not a session file")

    def make(self) -> None:
        """Make the file unless there is one. Only the process that holds the lock may do so."""
        self.is_ours = new_file(self.path)

    def remember(self) -> None:
        """This is the file, now that it is open."""
        self._known = identity(self.path)

    def remember_log(self) -> None:
        """The log is there after the first append, and stays until the file is closed."""
        if self._known_log is None:
            self._known_log = identity(self.log)

    def trouble(self) -> str:
        """What has happened to the file since it was opened, in words; empty if nothing has."""
        found = identity(self.path)
        if found is None:
            return "was deleted or moved"
        if found != self._known:
            return "was replaced by another file"
        if self._known_log is not None and identity(self.log) != self._known_log:
            return "has lost its log (the file beside it that ends in -wal)"
        return ""

    def remove(self) -> None:
        """Remove the file and what is beside it, but for the lock."""
        self.path.unlink(missing_ok=True)
        self.remove_log()

    def remove_log(self) -> None:
        """Remove the log: it must not be taken for that of another file of this name."""
        for end in ("-wal", "-shm"):
            with suppress(OSError):
                self.path.with_name(f"{self.path.name}{end}").unlink()

    def copies(self) -> Iterator[Path]:
        """New empty files to save the session in: beside it, or where there is another place."""
        for place in (self.path.parent, Path(), Path.home(), Path(tempfile.gettempdir())):
            with suppress(OSError):
                yield self._copy_in(place.absolute())

    def _copy_in(self, folder: Path) -> Path:
        for number in range(1, _MOST_COPIES):
            end = ".saved" if number == 1 else f".saved{number}"
            path = folder / f"{self.path.stem}{end}{self.path.suffix}"
            if new_file(path):
                return path
        raise FileExistsError(folder)


def identity(path: Path) -> tuple[int, int] | None:
    """Which file is at this path: its device and inode."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
