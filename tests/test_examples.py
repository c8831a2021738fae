"""Every script in examples/ runs as it is, and says what it promises to say."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
QUESTION = {
    "version": 1,
    "id": "17",
    "item": {"key": "a", "fields": {"title": "Brief an Anna", "year": 1911}},
    "comparator": {"key": "b", "fields": {"title": "Brief an A.", "year": None}},
}
SAYS = {
    "ask_tell.py": "proven: it is",
    "digits.py": "the audit says: at most ",
    "noisy_panel.py": "error of the labels: ",
    "oracle_llm_like.py": '"id": "17", "verdict": ',
}


def test_every_example_is_listed_here() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == SAYS.keys()


@pytest.mark.parametrize("name", SAYS)
def test_an_example_runs(name, tmp_path) -> None:
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
