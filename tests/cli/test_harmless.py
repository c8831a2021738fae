"""Text that is not ours does nothing to a terminal, whichever command shows it."""

import ast
import csv
import gzip
import json
import shlex
import sys
from pathlib import Path

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

import samecluster.cli
from samecluster.cli.main import app
from samecluster.cli.terminal.harmless import harmless
from samecluster.instances import make_ellipsoids
from tests.cases.command_line import run

FAKE = "samecluster: all is well"
EVIL = f"\x1b]0;title\x07\x1b[2J\x1b[31m\x9b31m\x08\u202e\u2028\u200f\ufeff\n{FAKE}\r"
"""A title, a cleared screen, colours (also by the 8-bit controls), a turned direction, a line."""
NAME = EVIL.replace("\n", "").replace("\r", "")
FORBIDDEN = {char for char in EVIL if not char.isprintable()} - {"\n"}


@pytest.fixture(scope="module")
def begun(tmp_path_factory) -> Path:
    """Data whose names, ids, cells and groups are evil, and a session about it."""
    folder: Path = tmp_path_factory.mktemp("evil")
    made = make_ellipsoids(60, 2, 3, random_state=0)
    with (folder / f"e{NAME}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id" + EVIL, "a", "b", "text" + EVIL, "kind" + EVIL])
        for row, (point, label) in enumerate(zip(made.X.tolist(), made.labels, strict=True)):
            writer.writerow([f"k{row}{EVIL}", *point, f"cell {EVIL}{row}", f"g{label}{EVIL}"])
    (folder / "pairs.csv").write_text("k1,no such\x1b[31m\u202e,same\n", encoding="utf-8")
    (folder / "oracle.py").write_text(
        f"import sys\nsys.stderr.buffer.write({EVIL.encode()!r})\nsys.stderr.flush()\n"
    )
    (folder / "proof.gz").write_bytes(gzip.compress(json.dumps({"format": EVIL}).encode()))
    begin = ("--id", "id" + EVIL.strip(), "--features", "a,b", "--margin", "1", "--who", "ann")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        done = run("label", DATA, *begin, text="y\nn\nn\nq\n")
    checked(done.stdout + done.stderr)
    assert done.returncode == 0, done.stderr
    assert "cell" in done.stdout
    return folder


DATA = f"e{NAME}.csv"
SESSION = f"{DATA}.samecluster"
ORACLE = ("--oracle-cmd", shlex.join([sys.executable, "oracle.py"]), "--retries", "0")
USED = ("--id", "id" + EVIL.strip(), "--features", "a,b")
CASES: dict[str, list[tuple[str, ...]]] = {
    "inspect": [(DATA,), (DATA, "--json"), (DATA, "--id", EVIL), (NAME,), (DATA, "--" + EVIL)],
    "label": [(DATA,), (DATA, "--show", EVIL), (DATA, "--margin", EVIL), (DATA, "--session", NAME)],
    "serve": [(DATA, "--image-column", EVIL), (DATA, "--token", EVIL), (EVIL,)],
    "invite": [(SESSION, NAME), (SESSION, EVIL), (SESSION, NAME, "--revoke"), (NAME, "x")],
    "cluster": [
        (DATA, "--truth", "kind" + EVIL.strip()),
        (DATA, *ORACLE, "--no-session", *USED),
        (DATA, *ORACLE, "--session", f"s{NAME}", *USED),
        (DATA, "--no-session", "--truth", "kind" + EVIL.strip(), *USED, "-o", f"{NAME}.csv"),
        (DATA, "--no-session", "--truth", "kind" + EVIL.strip(), *USED, "--json"),
    ],
    "status": [(SESSION,), (SESSION, "--json"), (NAME,)],
    "history": [(SESSION,), (SESSION, "--json")],
    "name": [(SESSION, "0", EVIL), (SESSION, "0", NAME), (SESSION, "0", "fine"), (SESSION, EVIL)],
    "undo": [(SESSION, "--event", "3"), (SESSION, "--who", EVIL), (SESSION, "--who", NAME)],
    "doubt": [(SESSION, f"k1{EVIL}".strip()), (SESSION, EVIL)],
    "merge": [(SESSION, "0", "1"), (SESSION, "0", EVIL)],
    "split": [(SESSION, "0", f"k1{EVIL}".strip()), (SESSION, "0", EVIL)],
    "export": [(SESSION, "-o", NAME), (SESSION, "-o", f"{NAME}.csv"), (SESSION, "-o", "x/" + NAME)],
    "report": [(SESSION, "-o", f"{NAME}/x"), (SESSION, "-o", DATA)],
    "doctor": [(SESSION,), (SESSION, "--json"), (DATA,), (SESSION, "--save", f"{NAME}s")],
    "import": [(SESSION, "pairs.csv"), (SESSION, SESSION), (SESSION, NAME), (SESSION, DATA)],
    "assign": [(SESSION, DATA, "-o", "assigned.csv"), (SESSION, NAME), (SESSION, "pairs.csv")],
    "update": [(SESSION, DATA, "--dry-run"), (SESSION, NAME), (SESSION, "pairs.csv", "--dry-run")],
    "margin": [(DATA, "--labels", "kind" + EVIL.strip()), (DATA, "--labels", EVIL)],
    "verify": [(DATA, "proof.gz"), ("points.npy", "proof.gz"), (DATA, NAME)],
    "demo": [("--points", "90", "--clusters", "2", "--dimension", "2", "--save", NAME), (EVIL,)],
    "reproduce": [(EVIL,), ("figure1", "--out", DATA)],
}  # fmt: skip


def checked(text: str) -> None:
    assert not set(text) & FORBIDDEN, ascii(text)
    assert not [line for line in text.splitlines() if line.startswith(FAKE)], ascii(text)
    assert "Traceback" not in text, text


def test_every_command_is_tried() -> None:
    group = typer.main.get_command(app)
    assert set(CASES) == set(group.commands)  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", CASES)
def test_nothing_reaches_the_terminal(begun, command, tmp_path, monkeypatch) -> None:
    for file in begun.iterdir():
        if file.is_file():
            (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for arguments in CASES[command]:
        done = run(command, *arguments, text="y\nn\nq\n")
        checked(done.stdout + done.stderr)
        assert done.stdout or done.stderr


def test_json_says_the_same_to_a_program(begun, monkeypatch) -> None:
    monkeypatch.chdir(begun)
    columns = json.loads(run("inspect", DATA, "--json").stdout)["columns"]
    assert ("text" + EVIL).strip() in [column["name"] for column in columns]
    last = json.loads(run("history", SESSION, "--json").stdout.splitlines()[-1])
    assert last["body"]["items"][0].endswith(EVIL.strip())


@given(st.text())
def test_harmless_text_is_one_line_and_readable(text) -> None:
    shown = harmless(text)
    assert not set(shown) & FORBIDDEN
    assert len(shown.splitlines()) <= 1
    assert harmless(shown) == shown
    assert text.isprintable() is False or shown == text


def test_only_these_modules_print() -> None:
    """Whoever needs a console or a line takes those that are harmless."""
    root = Path(samecluster.cli.__path__[0])
    for path in root.rglob("*.py"):
        if path.name in ("harmless.py", "screen.py", "markdown.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in ("print", "typer.echo", "Console", "typer.secho"), path
                assert called != "Text" or path.name in ("reproduce.py", "waiting.py"), path
