"""A disk whose power can be cut: what was not synced may be lost, torn or reordered.

SQLite runs on a file system layer that notes every write, sync and name. From these notes `image`
makes what a disk could hold after a cut at any of them. Data is safe once its file was synced, in
sectors of 512 bytes of which any may be missing before; a name is safe once its folder was synced,
which SQLite does when it first syncs a new journal or log.
"""

import os
import random
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import apsw

_SECTOR = 512
_JOURNALS = ("-journal", "-wal")
_PAGES_PER_CHECKPOINT = 6
"""So that a short life has checkpoints; the usual 1000 pages would take thousands of events."""


@dataclass(frozen=True)
class Operation:
    """One of create, delete, write, truncate, sync; or ack, which says what was acknowledged."""

    kind: str
    file: int = 0
    name: str = ""
    offset: int = 0
    data: bytes = b""


@dataclass
class Disk:
    """What was done to the files of a folder, in order."""

    operations: list[Operation] = field(default_factory=list)
    _files: dict[str, int] = field(default_factory=dict)
    _n_files: int = 0

    def note(self, kind: str, path: str, offset: int = 0, data: bytes = b"") -> None:
        name = os.path.basename(path)
        if name.endswith("-shm"):
            return
        if name not in self._files:
            self._files[name] = self._n_files = self._n_files + 1
            self.operations.append(Operation("create", self._n_files, name))
        self.operations.append(Operation(kind, self._files[name], name, offset, data))
        if kind == "delete":
            del self._files[name]

    def acknowledge(self, n_events: int) -> None:
        self.operations.append(Operation("ack", offset=n_events))

    def acknowledged(self, end: int) -> int:
        """How many events were acknowledged before an operation."""
        told = (one.offset for one in self.operations[:end] if one.kind == "ack")
        return max(told, default=0)

    def image(self, end: int, rng: random.Random) -> dict[str, bytes]:
        """The files after a cut of the power before operation number ``end``."""
        safe: dict[int, bytearray] = {}
        pending: dict[int, list[tuple[int, bytes | None]]] = {}
        names: dict[str, int] = {}
        pending_names: list[tuple[str, int | None]] = []
        for one in self.operations[:end]:
            if one.kind == "create":
                safe[one.file], pending[one.file] = bytearray(), []
                pending_names.append((one.name, one.file))
            elif one.kind == "delete":
                pending_names.append((one.name, None))
            elif one.kind == "write":
                pending[one.file] += _sectors(one.offset, one.data)
            elif one.kind == "truncate":
                pending[one.file].append((one.offset, None))
            elif one.kind == "sync":
                for change in pending[one.file]:
                    _apply(safe[one.file], *change)
                pending[one.file] = []
                if one.name.endswith(_JOURNALS) and (one.name, one.file) in pending_names:
                    _rename(names, pending_names)
                    pending_names = []
        # Names change in their order, as with every journaling file system; data does not.
        _rename(names, pending_names[: rng.randint(0, len(pending_names))])
        kept_share = rng.choice((0.0, 0.1, 0.5, 0.9, 1.0))
        for file, changes in pending.items():
            for offset, data in changes:
                if rng.random() < kept_share:
                    _apply(safe[file], offset, data)
                elif data is not None and offset >= len(safe[file]) and rng.random() < 0.5:
                    # The file grew, and what is there now is zeros or what the disk had before.
                    was = bytes(len(data)) if rng.random() < 0.5 else rng.randbytes(len(data))
                    _apply(safe[file], offset, was)
        return {name: bytes(safe[file]) for name, file in names.items()}


def _sectors(offset: int, data: bytes) -> Iterator[tuple[int, bytes | None]]:
    while data:
        size = _SECTOR - offset % _SECTOR
        yield offset, data[:size]
        offset, data = offset + size, data[size:]


def _apply(file: bytearray, offset: int, data: bytes | None) -> None:
    """Write the data; without data, truncate."""
    if data is None:
        del file[offset:]
        return
    file.extend(bytes(max(0, offset - len(file))))
    file[offset : offset + len(data)] = data


def _rename(names: dict[str, int], changes: list[tuple[str, int | None]]) -> None:
    for name, file in changes:
        if file is None:
            names.pop(name, None)
        else:
            names[name] = file


class _Layer(apsw.VFS):
    def __init__(self, disk: Disk) -> None:
        self.name, self._disk = f"recorded {id(disk)}", disk
        super().__init__(self.name, "")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        return _File(self._disk, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        self._disk.note("delete", filename)
        super().xDelete(filename, syncdir)


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._disk, self._path = disk, path or ""
        super().__init__("", name, flags)

    def xWrite(self, data: Any, offset: int) -> None:
        self._disk.note("write", self._path, offset, bytes(data))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:
        self._disk.note("truncate", self._path, newsize)
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:
        self._disk.note("sync", self._path)
        super().xSync(flags)


class _Connection:
    """As much of a connection of the standard library as a store uses, on the layer."""

    def __init__(self, uri: str, layer: _Layer, synchronous: str) -> None:
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI
        self._of = apsw.Connection(uri, flags=flags, vfs=layer.name)
        self._synchronous = synchronous
        self._of.execute(f"PRAGMA wal_autocheckpoint = {_PAGES_PER_CHECKPOINT}")

    def execute(self, statement: str, *values: Any) -> Any:
        if "synchronous" in statement and self._synchronous:
            statement = f"PRAGMA synchronous = {self._synchronous}"
        return self._of.execute(statement, *values)

    def executemany(self, statement: str, rows: Any) -> Any:
        return self._of.executemany(statement, rows)

    def setlimit(self, limit: int, most: int) -> int:
        return self._of.limit(limit, most)

    @property
    def in_transaction(self) -> bool:
        return self._of.in_transaction

    def close(self) -> None:
        self._of.close()


@contextmanager
def recorded(synchronous: str = "") -> Iterator[Disk]:
    """Stores that are opened meanwhile run on the disk; another ``synchronous`` than theirs."""
    disk, connect = Disk(), sqlite3.connect
    layer = _Layer(disk)

    def connected(database: Any, **options: Any) -> Any:
        if not options.get("uri"):  # a lock, whose content nobody needs, or tables in memory
            return connect(database, **options)
        return _Connection(database, layer, synchronous)

    try:
        with patch.object(sqlite3, "connect", connected):
            yield disk
    finally:
        layer.unregister()


def written(files: dict[str, bytes], folder: Path) -> None:
    """Put an image into an empty folder."""
    for name, content in files.items():
        (folder / name).write_bytes(content)


@contextmanager
def folder_in_memory() -> Iterator[Path]:
    """A folder that needs no disk, where there is one: simulated disks wait for no real one."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)
