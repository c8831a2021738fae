"""A session file cut at any byte opens with every committed event or names the damage; a full disk
loses nothing that was acknowledged."""

import os
import random
import shutil
import struct
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from samecluster.errors import StoreError
from samecluster.sessions.storage.events import Event
from samecluster.sessions.storage.sqlite import SqliteStore

AT = "2026-01-31T12:00:00+00:00"
LONG = os.environ.get("SAMECLUSTER_TESTS") == "long"
STEP = 1 if LONG else 29
"""Every byte in the long campaign, every 29th otherwise (29 divides no page and no frame)."""
LOG_STEP = 1 if LONG else 7 * STEP
"""What a cut of the log loses depends only on the frame that it is in, so beside the borders of the
frames, which are all tried, fewer cuts are enough (203 gives about 20 in each frame)."""


def answer(number: int) -> Event:
    body = {"items": [f"left {number}", f"right {number}"], "verdict": "same", "role": "plan"}
    return Event("answered", AT, "ann", body)


@pytest.fixture(scope="module")
def crashed(tmp_path_factory) -> Path:
    """A folder with a session whose writer died: a file, and a log not folded in yet."""
    folder: Path = tmp_path_factory.mktemp("crashed")
    path = folder / "s.samecluster"
    store = SqliteStore(path, create=True)
    store.append([answer(number) for number in range(60)])
    store.close()
    store = SqliteStore(path)
    for number in range(60, 72):
        store.append([answer(number)])
    copy = folder / "copy"
    copy.mkdir()
    for name in (path.name, path.name + "-wal"):
        shutil.copy(folder / name, copy / name)
    store.close()
    return copy


def commits_before(wal: bytes, cut: int) -> int:
    """The transactions of a write-ahead log that end before a byte, by its documented format."""
    if cut < 32:
        return 0
    (page,) = struct.unpack(">I", wal[8:12])
    frame = 24 + page
    return sum(
        struct.unpack(">I", wal[at + 4 : at + 8])[0] != 0
        for at in range(32, cut - frame + 1, frame)
    )


def frame_borders(wal: bytes) -> set[int]:
    """The bytes around the ends of the log's header, of each frame's header and of each frame."""
    (page,) = struct.unpack(">I", wal[8:12])
    frames = range(32, len(wal), 24 + page)
    ends = {end for at in frames for end in (at, at + 24)} | {len(wal)}
    return {end + offset for end in ends for offset in (-1, 0, 1) if end + offset <= len(wal)}


def outcome(path: Path) -> int | str:
    """How many events can be read, or the words of the refusal. Anything else fails the test."""
    try:
        store = SqliteStore(path)
    except StoreError as error:
        return str(error)
    try:
        read = list(store.read())
        assert [event.sequence for event in read] == list(range(1, len(read) + 1))
        assert all(event.body == answer(number).body for number, event in enumerate(read))
        return len(read)
    except StoreError as error:
        return str(error)
    finally:
        store.close()


def cut_copy(crashed: Path, to: Path, name: str, size: int) -> Path:
    for file in to.iterdir():
        file.unlink()
    for file in crashed.iterdir():
        shutil.copy(file, to / file.name)
    os.truncate(to / name, size)
    return to / "s.samecluster"


def closed(crashed: Path, to: Path) -> bytes:
    """The session after it was opened and closed properly."""
    size = (crashed / "s.samecluster-wal").stat().st_size
    path = cut_copy(crashed, to, "s.samecluster-wal", size)
    SqliteStore(path).close()
    return path.read_bytes()


def test_a_log_cut_anywhere_opens_with_all_that_was_committed_before(crashed, tmp_path) -> None:
    name = "s.samecluster-wal"
    wal = (crashed / name).read_bytes()
    cuts = sorted({*range(0, len(wal), LOG_STEP), *frame_borders(wal), len(wal)})
    for cut in cuts:
        found = outcome(cut_copy(crashed, tmp_path, name, cut))
        assert found == 60 + commits_before(wal, cut), (cut, found)
    assert commits_before(wal, len(wal)) == 12
    print(f"{len(cuts)} cuts of the write-ahead log: 0 committed events lost, 0 tracebacks")


def test_a_file_cut_anywhere_in_its_last_pages_says_what_is_damaged(crashed, tmp_path) -> None:
    """The log holds some pages anew, so that a cut may be healed; never is an event left out."""
    name = "s.samecluster"
    size = (crashed / name).stat().st_size
    healed = named = 0
    for cut in range(size - 4096, size, STEP):
        path = cut_copy(crashed, tmp_path, name, cut)
        found = outcome(path)
        if isinstance(found, int):
            assert found == 72, cut
            healed += 1
        else:
            assert "damaged" in found, (cut, found)
            assert str(path) in found
            named += 1
    print(f"{healed + named} cuts of the file: {healed} opened whole, {named} named the damage")


def test_a_closed_file_cut_anywhere_in_its_last_4_kib_is_refused(crashed, tmp_path) -> None:
    content = closed(crashed, tmp_path)
    target = tmp_path / "cut.samecluster"
    for cut in range(len(content) - 4096, len(content), STEP):
        target.write_bytes(content[:cut])
        found = outcome(target)
        assert isinstance(found, str), (cut, found)
        assert "damaged" in found, (cut, found)


@pytest.mark.parametrize("seed", range(4))
def test_flipped_bytes_are_never_read_as_events(crashed, tmp_path, seed) -> None:
    """Whatever byte is changed: the right events, or an error that names the file."""
    chance = random.Random(seed)
    content = closed(crashed, tmp_path)
    target = tmp_path / "flipped.samecluster"
    for _ in range(400 if LONG else 60):
        changed = bytearray(content)
        changed[chance.randrange(len(content))] ^= chance.randrange(1, 256)
        target.write_bytes(changed)
        for left in tmp_path.glob("flipped.samecluster-*"):
            left.unlink()
        found = outcome(target)
        assert found == 72 or isinstance(found, str), found


FILLING = """
import resource, sys
from samecluster.errors import StoreError
from samecluster.sessions.storage.sqlite import SqliteStore
from tests.sessions.reliability.test_damage import answer

resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
store = SqliteStore(sys.argv[1], create=True)
number = 0
try:
    while True:
        store.append([answer(number)])
        number += 1
except StoreError as error:
    print(number, error, flush=True)
before = [event.sequence for event in store.read()]
assert before == list(range(1, number + 1)), before
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
store.append([answer(number)])
store.close()
"""


@pytest.mark.parametrize("limit", [70_000, 131_072, 300_001])
def test_a_full_disk_is_said_loses_nothing_and_work_goes_on(tmp_path, limit) -> None:
    """The limit on file sizes stands for the disk: writing fails in the same places."""
    path = tmp_path / "s.samecluster"
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FILLING), str(path), str(limit)],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    number, said = done.stdout.split(maxsplit=1)
    assert int(number) > 0
    assert "disk" in said
    assert str(path) in said
    store = SqliteStore(path)
    assert len(list(store.read())) == int(number) + 1
    store.close()
