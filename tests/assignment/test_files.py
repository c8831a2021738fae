"""Results in files: the same labels elsewhere, and one line for what is damaged or foreign."""

import json
import random
import zipfile
from typing import Any

import numpy as np
import pytest

import samecluster
from samecluster.errors import InvalidInputError
from samecluster.instances import make_ellipsoids
from samecluster.oracles import LabelOracle
from tests.cases.campaign import LONG
from tests.cases.result_files import edited, rewritten
from tests.hostile.corpus import mutant


@pytest.fixture(scope="module", params=["declared", "auto", "audited"])
def found(request):
    made = make_ellipsoids(n=400, d=2, k=3, random_state=0)
    ways: dict[str, dict[str, Any]] = {
        "declared": {"margin": made.margin},
        "auto": {},
        "audited": {"method": "predict", "audit": (0.1, 0.9)},
    }
    options = ways[request.param]
    return samecluster.recover(made.X, LabelOracle(made.labels), random_state=0, **options)


def test_what_is_loaded_says_the_same(found, tmp_path) -> None:
    path = tmp_path / "found.result"
    found.save(path)
    again = samecluster.load(path)
    for name in ("labels", "how_codes", "round_of", "points"):
        assert np.array_equal(getattr(again, name), getattr(found, name))
    assert again.answers == found.answers
    assert again.assumptions == found.assumptions
    assert repr(again) == repr(found)
    new = found.points + 0.01
    one, other = again.predict(new), found.predict(new)
    assert np.array_equal(one.labels, other.labels)
    assert np.array_equal(one.how_codes, other.how_codes)
    again.save(path)  # one result may replace another
    assert samecluster.load(path).assumptions == found.assumptions


def test_the_file_can_be_read_by_others_and_is_not_overwritten(found, tmp_path) -> None:
    path = tmp_path / "found.result"
    found.save(path)
    with zipfile.ZipFile(path) as file:
        head = json.loads(file.read("result.json"))
        assert np.array_equal(np.load(file.open("labels.npy")), found.labels)
    assert head["format"] == "samecluster-result-1"
    assert head["written_by"] == samecluster.__version__
    assert [claim["text"] for claim in head["claims"]] == list(found.assumptions)
    other = tmp_path / "notes.txt"
    other.write_text("mine")
    with pytest.raises(InvalidInputError, match="exists and is no result"):
        found.save(other)
    assert other.read_text() == "mine"


@pytest.mark.parametrize("n_mutants", [2000 if LONG else 60])
def test_damaged_files_are_refused_in_one_line(found, tmp_path, n_mutants) -> None:
    path = tmp_path / "found.result"
    found.save(path)
    sound, rng = path.read_bytes(), random.Random(0)
    n_refused = 0
    for _ in range(n_mutants):
        path.write_bytes(mutant(sound, rng))
        again, said = loaded(path)
        n_refused += again is None
        assert len(said.splitlines()) == (again is None)
        if again is not None:  # damage in what a zip does not use
            assert np.array_equal(again.labels, found.labels)
            assert again.assumptions == found.assumptions
    assert n_refused > n_mutants / 2


def test_a_result_shows_itself(found) -> None:
    said = found.summary()
    assert json.loads(json.dumps(said)) == said
    assert said["text"].splitlines()[1:] == list(found.assumptions)
    assert sum(said["labels"].values()) == len(found.labels)
    figure = found.plot()
    assert figure.axes


def loaded(path):
    try:
        return samecluster.load(path), ""
    except InvalidInputError as error:
        return None, str(error)


@pytest.mark.parametrize(
    "change",
    [
        lambda head: head.update(format="samecluster-result-2"),
        lambda head: head.update(fingerprint="0" * 64),
        lambda head: head.update(margin=-1.0),
        lambda head: head.update(answers=[[0, 10**9, "same", None]]),
        lambda head: head.update(answers=[[0, 1, "perhaps", None]]),
        lambda head: head.update(claims=[]),
        lambda head: head.pop("rounds"),
        lambda head: head.update(answers=head["answers"][:1]),
        lambda head: head.update(arrays=3),
    ],
)
def test_files_that_do_not_fit_together_are_refused(found, tmp_path, change) -> None:
    path, evil = tmp_path / "found.result", tmp_path / "evil.result"
    found.save(path)
    edited(path, evil, change)
    with pytest.raises(InvalidInputError) as refused:
        samecluster.load(evil)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"a,b\n1,2\n", b"\x80\x04K\x01."])
def test_foreign_files_are_refused(tmp_path, content) -> None:
    path = tmp_path / "foreign"
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match="no result of samecluster, or damaged"):
        samecluster.load(path)
    with pytest.raises(InvalidInputError):
        samecluster.load(tmp_path / "missing")


def test_large_shapes_take_no_memory(found, tmp_path) -> None:
    path, evil = tmp_path / "found.result", tmp_path / "evil.result"
    found.save(path)
    rewritten(path, evil, "points.npy", lambda had: had.replace(b"(400, 2)", b"(9**9,9)"))
    with pytest.raises(InvalidInputError):
        samecluster.load(evil)
