"""Every script and notebook in examples/ runs as it is, and says what it promises to say."""

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from samecluster import Marks, Sheet
from samecluster.oracles import ChatOracle

EXAMPLES = Path(__file__).parents[2] / "examples"
QUESTION = {
    "version": 1,
    "id": "17",
    "item": {"key": "a", "fields": {"title": "Brief an Anna", "year": 1911}},
    "comparator": {"key": "b", "fields": {"title": "Brief an A.", "year": None}},
}
SAYS = {
    "ask_tell.py": "proven: it is",
    "chat_server.py": "tiny listens at http://127.0.0.1:",
    "dask_points.py": "the same as in memory: True",
    "digits.py": "the audit says: at most ",
    "measurements.py": "samecluster, nothing declared: 0.0% wrong",
    "noisy_panel.py": "error of the labels: ",
    "oracle_llm_like.py": '"id": "17", "verdict": ',
    "text_vectors.py": "Error against the truth: 0.00% of the labels are wrong.",
}


def test_every_example_is_listed_here() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == SAYS.keys()


@pytest.mark.parametrize("name", sorted(SAYS.keys() - {"chat_server.py", "oracle_llm_like.py"}))
def test_an_example_runs(name, tmp_path, monkeypatch, capfd) -> None:
    """In this process, where a warning is an error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [name])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    done = capfd.readouterr()
    assert SAYS[name] in done.out
    assert not done.err
    if name == "measurements.py":
        assert (tmp_path / "shells.csv").read_text() == (EXAMPLES / "shells.csv").read_text()
        errors = [float(share) for share in re.findall(r"k-means.*: ([\d.]+)% wrong", done.out)]
        assert min(errors) > 50, "the case where k-means fails"


def test_an_example_that_reads_questions_runs_as_a_program(tmp_path) -> None:
    name = "oracle_llm_like.py"
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name)],
        cwd=tmp_path,
        input=json.dumps(QUESTION) + "\n",
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert SAYS[name] in done.stdout
    assert not done.stderr


def test_the_server_that_plays_a_model_is_started_by_one_command(tmp_path) -> None:
    table = tmp_path / "tickets.csv"
    table.write_text("message,intent\nno parcel,where\nparcel is late,where\nmoney back,refund\n")
    command = [sys.executable, str(EXAMPLES / "chat_server.py"), str(table)]
    options = ["--text", "message", "--truth", "intent", "--port", "0", "--prose", "0.5"]
    texts = [line.split(",")[0] for line in table.read_text().splitlines()[1:]]
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        try:
            assert line.startswith(SAYS["chat_server.py"])
            with ChatOracle(line.split()[3], "tiny", texts, key="") as oracle:
                assert oracle.sort(Sheet(0, (1, 2))) == Marks((2,))
        finally:
            server.kill()


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.name)
def test_the_cells_of_a_notebook_print_what_is_kept_in_it(path, capsys) -> None:
    names: dict[str, object] = {}
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] == "code":
            code = "".join(line for line in cell["source"] if not line.startswith("%"))
            exec(compile(code, path.name, "exec"), names)
            kept = ["".join(output.get("text", [])) for output in cell["outputs"]]
            assert capsys.readouterr().out == "".join(kept)
