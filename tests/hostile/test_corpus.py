"""Whatever is wrong with an input is said in words: a sample of the corpus, all of it when long."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases.campaign import LONG
from tests.hostile.campaign import troubles_of
from tests.hostile.corpus import Material, cases

SAMPLE = 150
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    return Material.made(tmp_path_factory.mktemp("material"))


def test_there_are_a_thousand_of_all_kinds(material) -> None:
    found = cases(material)
    assert len(found) >= 1000
    assert len({case.group for case in found}) == 11
    assert sum(case.is_wrong for case in found) >= 300


def test_a_sample_of_the_corpus_keeps_all_promises(material, tmp_path, monkeypatch) -> None:
    """In this process, without those that are large; the sample is the same every time."""
    monkeypatch.chdir(tmp_path)
    small = [case for case in cases(material) if not case.is_large]
    for number, case in enumerate(random.Random(0).sample(small, SAMPLE)):
        folder = tmp_path / str(number)
        folder.mkdir()
        case.make(folder)
        monkeypatch.chdir(folder)
        monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
        assert troubles_of(case, folder, material)[1] == [], (case.group, case.name)


@pytest.mark.skipif(not LONG, reason="a quarter of an hour; make test-long")
def test_the_whole_corpus_keeps_all_promises() -> None:
    """Each case in a process of its own, with its CPU time and memory."""
    command = [sys.executable, "-m", "tests.hostile.campaign"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
