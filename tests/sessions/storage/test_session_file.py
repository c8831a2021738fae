"""Session files while they are in use: deleted, moved, replaced, reached by links, altered."""

import os
import shutil
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from samecluster.errors import SchemaError, StoreError
from samecluster.sessions.storage.lock import WriterLock
from samecluster.sessions.storage.sqlite import SqliteStore
from samecluster.workspace.open import open_session
from samecluster.workspace.request import Request
from tests.cases.command_line import run
from tests.cases.session_cases import answer_events
from tests.web.served import write_data

NAME = "s.samecluster"


def n_events(path: Path) -> int:
    with closing(SqliteStore(path, read_only=True)) as store:
        return len(list(store.read()))


def delete(path: Path) -> None:
    path.unlink()


def delete_all(path: Path) -> None:
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()


def move(path: Path) -> None:
    path.rename(path.with_name("moved.samecluster"))


def replace_by_copy(path: Path) -> None:
    shutil.copy(path, path.with_name("older"))
    path.with_name("older").replace(path)


def replace_by_other(path: Path) -> None:
    other = path.with_name("other.samecluster")
    with closing(SqliteStore(other, create=True)) as store:
        store.append(answer_events(60))
    other.replace(path)


def delete_log(path: Path) -> None:
    path.with_name(f"{path.name}-wal").unlink()


def delete_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


ACCIDENTS = [delete, delete_all, move, replace_by_copy, replace_by_other, delete_log, delete_folder]


def saved_files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.saved*.samecluster"))


@pytest.fixture
def used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A session file in a folder of its own; copies that do not fit there go one level up."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    return tmp_path / "folder" / NAME


@pytest.mark.parametrize("accident", ACCIDENTS)
def test_a_file_that_is_not_in_its_place_takes_nothing_and_is_saved(
    used: Path, tmp_path: Path, accident: Callable[[Path], None]
) -> None:
    store = SqliteStore(used, create=True)
    store.append(answer_events(3))
    accident(used)
    for _ in range(2):
        with pytest.raises(StoreError, match=r"this is not kept; all 3 events .* are saved in"):
            store.append(answer_events(1))
    (copy,) = saved_files(tmp_path)
    assert len(list(store.read())) == 3, "the open database still has them"
    with pytest.raises(StoreError, match=r"while it was in use; all 3 events"):
        store.close()
    assert saved_files(tmp_path) == [copy], "it is saved once"
    assert n_events(copy) == 3
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert not list(tmp_path.rglob("*-wal")), "no log is left that another file could take for its"
    if accident is replace_by_other:
        assert n_events(used) == 60, "what was put in its place is as it was"
    store.close()


@pytest.mark.parametrize("accident", ACCIDENTS)
def test_closing_saves_what_was_appended_before_anybody_noticed(
    used: Path, tmp_path: Path, accident: Callable[[Path], None]
) -> None:
    store = SqliteStore(used, create=True)
    store.append(answer_events(5))
    accident(used)
    with pytest.raises(StoreError, match=r"all 5 events .* are saved in"):
        store.close()
    (copy,) = saved_files(tmp_path)
    assert n_events(copy) == 5
    os.makedirs(used.parent, exist_ok=True)
    copy.replace(used)
    with closing(SqliteStore(used)) as store:
        assert store.append(answer_events(1)) == [6], "the advice of the error works"


def put_back(used: Path) -> SqliteStore:
    """A store with three answers whose file was away when a fourth came."""
    store = SqliteStore(used, create=True)
    store.append(answer_events(3))
    move(used)
    with pytest.raises(StoreError, match="deleted or moved"):
        store.append(answer_events(1))
    used.with_name("moved.samecluster").rename(used)
    return store


def test_a_file_that_is_put_back_goes_on(used: Path) -> None:
    store = put_back(used)
    assert store.append(answer_events(2)) == [4, 5]
    store.close()
    assert n_events(used) == 5
    assert set(os.listdir(used.parent)) == {NAME, "s.saved.samecluster"}


def test_what_another_program_wrote_after_a_copy_was_made_is_saved_too(used: Path) -> None:
    """World 221: away, put back, written to by another program in spite of the lock, and gone."""
    store = put_back(used)
    used.with_name(f"{NAME}-lock").unlink()
    with closing(SqliteStore(used)) as other:
        other.append(answer_events(1))
    delete(used)
    with pytest.raises(StoreError, match=r"saved in .*s\.saved2\.samecluster"):
        store.close()
    assert n_events(used.with_name("s.saved2.samecluster")) == 4


def test_each_copy_has_a_name_of_its_own(used: Path, tmp_path: Path) -> None:
    for number in range(3):
        store = SqliteStore(used, create=True)
        store.append(answer_events(number + 1))
        delete(used)
        with pytest.raises(StoreError, match="saved"):
            store.close()
    names = ["s.saved.samecluster", "s.saved2.samecluster", "s.saved3.samecluster"]
    assert [path.name for path in saved_files(tmp_path)] == names
    assert [n_events(path) for path in saved_files(tmp_path)] == [1, 2, 3]


def test_a_lock_that_was_removed_is_taken_again_or_lost_to_another(tmp_path: Path) -> None:
    path = tmp_path / NAME
    store = SqliteStore(path, create=True)
    lock = path.with_name(f"{NAME}-lock")
    lock.unlink()
    assert store.append(answer_events(1)) == [1]
    with pytest.raises(StoreError, match="open for writing"):
        SqliteStore(path)
    lock.unlink()
    with closing(SqliteStore(path)) as other:
        with pytest.raises(StoreError, match="open for writing"):
            store.append(answer_events(1))
        assert other.append(answer_events(1)) == [2]
    with pytest.raises(StoreError, match="written to by another program"):
        store.append(answer_events(1))
    store.close()
    assert n_events(path) == 2


def test_only_the_owner_can_read_a_session_and_what_is_beside_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with closing(SqliteStore(tmp_path / NAME, create=True)) as store:
            store.append(answer_events(1))
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert len(modes) == 4
    assert set(modes.values()) == {0o600}


# -- links -----------------------------------------------------------------------------------------


def linked(tmp_path: Path) -> tuple[Path, Path]:
    for folder in ("real", "linked"):
        (tmp_path / folder).mkdir()
    real, link = tmp_path / "real" / NAME, tmp_path / "linked" / NAME
    link.symlink_to(Path("..") / "real" / NAME)
    return real, link


def test_a_reader_behind_a_link_finds_the_log(tmp_path: Path) -> None:
    real, link = linked(tmp_path)
    store = SqliteStore(real, create=True)
    store.append(answer_events(4))
    store.close()
    store = SqliteStore(real)
    store.append(answer_events(6))
    assert n_events(link) == n_events(real) == 10
    assert "10 events" in run("doctor", link).stdout
    store.close()


def test_a_writer_behind_a_link_meets_the_lock(tmp_path: Path) -> None:
    real, link = linked(tmp_path)
    with closing(SqliteStore(link, create=True)) as store:
        assert real.is_file(), "the file is made where the link points"
        for path in (real, link, tmp_path / "linked" / ".." / "real" / NAME):
            with pytest.raises(StoreError, match="open for writing in another process"):
                SqliteStore(path)
        store.append(answer_events(2))
    assert os.listdir(link.parent) == os.listdir(real.parent) == [NAME]


def test_a_link_that_points_elsewhere_meanwhile_harms_nobody(tmp_path: Path) -> None:
    real, link = linked(tmp_path)
    with closing(SqliteStore(link, create=True)) as store:
        link.unlink()
        link.symlink_to("nowhere")
        assert store.append(answer_events(2)) == [1, 2]
    assert n_events(real) == 2


def test_a_circle_of_links_is_an_error(tmp_path: Path) -> None:
    (tmp_path / NAME).symlink_to(NAME)
    with pytest.raises(StoreError):
        SqliteStore(tmp_path / NAME, create=True)


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.samecluster")
    for path in (tmp_path, tmp_path / "fifo.samecluster", Path(os.devnull)):
        for read_only in (False, True):
            with pytest.raises(StoreError, match="not a session file"):
                SqliteStore(path, create=not read_only, read_only=read_only)
    assert not list(tmp_path.glob("*-lock"))


# -- two first starts ------------------------------------------------------------------------------


@pytest.mark.parametrize("winner_stays", [True, False])
def test_of_two_first_starts_the_loser_removes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, winner_stays: bool
) -> None:
    """The second one has seen that there is no session, and the first one begins it just then."""
    data = write_data(tmp_path)
    request = Request(str(data.path), id_column="shell")
    begun = []
    make_lock = WriterLock.__init__

    def interrupted(self: WriterLock, session: Path) -> None:
        monkeypatch.setattr(WriterLock, "__init__", make_lock)
        opened = open_session(request)
        for _ in range(3):
            (question,) = opened.session.ask("ann")
            opened.session.tell(question.id, "same", "ann")
        begun.append(opened)
        if not winner_stays:
            opened.session.close()
        make_lock(self, session)

    monkeypatch.setattr(WriterLock, "__init__", interrupted)
    with pytest.raises(StoreError, match="another process" if winner_stays else "already"):
        open_session(request)
    assert n_events(data.session) == 4
    assert data.session.with_name(f"{data.session.name}-lock").exists() == winner_stays
    begun[0].session.close()
    assert n_events(data.session) == 4


def test_a_session_that_cannot_be_begun_leaves_no_file(tmp_path: Path) -> None:
    data = write_data(tmp_path)
    for name, text in (("unknown", "s0,zz,same\n"), ("no verdict", "s0,s1,perhaps\n")):
        pairs = tmp_path / f"{name}.csv"
        pairs.write_text(f"a,b,verdict\n{text}")
        done = run("label", data.path, "--id", "shell", "--pairs", pairs)
        assert done.returncode == 2, done
        assert not list(tmp_path.glob("*.samecluster*"))


# -- the commands ----------------------------------------------------------------------------------


def test_label_says_what_happened_and_where_the_answers_are(tmp_path, monkeypatch) -> None:
    data = write_data(tmp_path)
    keys = iter("ynyy")

    def read_key() -> str | None:
        key = next(keys, "q")
        if key == "y" and data.session.exists() and n_events(data.session) == 3:
            data.session.unlink()
        return key

    monkeypatch.setattr("samecluster.cli.terminal.keyboard.read_key", read_key)
    done = run("label", data.path, "--id", "shell")
    assert done.returncode == 1
    assert "was deleted or moved while it was in use; all 3 events" in done.stderr
    assert "Answers are in" not in done.stdout
    assert "kept" not in done.stdout
    assert n_events(tmp_path / "shells.csv.saved.samecluster") == 3


# -- what is in the file ---------------------------------------------------------------------------

ENDLESS = (
    "CREATE VIEW events AS WITH RECURSIVE r(sequence) AS (SELECT 1 UNION ALL SELECT sequence + 1 "
    "FROM r) SELECT sequence, 'closed' AS kind, '2026-01-01T00:00:00+00:00' AS at, NULL AS who, "
    "'{}' AS body, 'x' AS digest FROM r"
)
FOREIGN = {
    "swallows": "CREATE TRIGGER t BEFORE INSERT ON events BEGIN SELECT RAISE(IGNORE); END",
    "removes": "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM events; END",
    "view": "CREATE VIEW v AS SELECT * FROM events",
    "table": "CREATE TABLE t (x)",
    "index": "CREATE INDEX t ON events (who)",
}


def altered(path: Path, *statements: str) -> None:
    with closing(SqliteStore(path, create=True)) as store:
        store.append(answer_events(5))
    with closing(sqlite3.connect(path)) as file:
        for statement in statements:
            file.execute(statement)
        file.commit()


@pytest.mark.parametrize("what", FOREIGN)
def test_a_file_with_foreign_parts_is_not_used_and_its_events_can_be_saved(
    tmp_path: Path, what: str
) -> None:
    path, clean = tmp_path / NAME, tmp_path / "clean.samecluster"
    altered(path, FOREIGN[what])
    for read_only in (False, True):
        with pytest.raises(SchemaError, match="not as samecluster made it"):
            SqliteStore(path, read_only=read_only)
    done = run("doctor", path)
    assert done.returncode == 1
    named = " ".join(FOREIGN[what].split()[1:3]).lower()
    assert f"not used: {named}" in done.stdout
    assert run("doctor", path, "--save", clean).returncode == 1
    with closing(SqliteStore(clean)) as store:
        assert store.append(answer_events(1)) == [6]
    assert n_events(clean) == 6


@pytest.mark.parametrize(
    "changes",
    [
        ("DROP TABLE events", ENDLESS),
        ("DROP TABLE events",),
        ("DROP TABLE events", "CREATE TABLE events (sequence, kind, at, who, body, digest)"),
        ("ALTER TABLE events ADD COLUMN more TEXT",),
        ("PRAGMA user_version = -5",),
        ("PRAGMA user_version = 0",),
    ],
)
def test_other_tables_under_our_mark_are_refused_without_being_read(
    tmp_path: Path, changes: tuple[str, ...]
) -> None:
    path = tmp_path / NAME
    altered(path, *changes)
    for command in (["doctor"], ["history"], ["doctor", "--save", tmp_path / "new.samecluster"]):
        done = run(command[0], path, *command[1:])
        assert done.returncode == 1
        assert "not as samecluster made it" in done.stdout + done.stderr
    assert not (tmp_path / "new.samecluster").exists()
    with pytest.raises(SchemaError):
        SqliteStore(path)


def test_another_programs_file_keeps_its_journal_mode(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as file:
        file.execute("CREATE TABLE things (x)")
    before = path.read_bytes()
    with pytest.raises(SchemaError):
        SqliteStore(path, create=True)
    assert path.read_bytes() == before
