"""Text by its meaning: the real model of the extra ``text``, found without a network."""

import json
import socket

import numpy as np
import pytest

from samecluster.errors import InvalidInputError
from samecluster.tables import FeatureOptions, Preparation, as_table, read_table
from samecluster.tables.features import static_embedding
from tests.cases.command_line import run

TEXTS = [
    "The dog sleeps in the garden",
    "A puppy is lying on the grass",
    "The invoice has not been paid yet",
    "Please transfer the money we are owed",
    "",
]
MEANING = FeatureOptions(texts=("text",), text_method="meaning")


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*_: object) -> None:
        raise AssertionError("nothing may be downloaded")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    static_embedding._model.cache_clear()


def embedded(texts: list[str]) -> np.ndarray:
    table = as_table({"text": texts})
    return Preparation.fit(table, MEANING).apply(table)


def test_texts_of_one_topic_are_near_each_other_although_they_share_no_words(no_network) -> None:
    X = embedded(TEXTS)[:4]
    assert X.shape == (4, static_embedding.WIDTH)
    distance = np.linalg.norm(X[:, None] - X[None], axis=2)
    within = max(distance[0, 1], distance[2, 3])
    assert within < distance[:2, 2:].min()


def test_what_is_kept_gives_the_same_bits_and_has_no_words_in_it() -> None:
    table = as_table({"text": TEXTS})
    preparation = Preparation.fit(table, MEANING)
    kept = preparation.to_json()
    again = Preparation.from_json(kept)
    np.testing.assert_array_equal(again.apply(table), preparation.apply(table))
    assert again.columns == ("text",)
    assert "dog" not in kept
    (block,) = json.loads(kept)["blocks"]
    assert block["model"] == static_embedding.MODEL
    assert len(block["fingerprint"]) == 16


def test_a_text_has_the_same_features_whatever_texts_are_beside_it() -> None:
    preparation = Preparation.fit(as_table({"text": TEXTS}), MEANING)
    long = TEXTS[0] + " and" * 700
    one, other = as_table({"text": TEXTS[:2]}), as_table({"text": [long, TEXTS[1]]})
    np.testing.assert_array_equal(preparation.apply(one)[1], preparation.apply(other)[1])


def test_a_blank_text_has_numbers() -> None:
    assert np.isfinite(embedded(TEXTS)).all()


def test_another_model_is_refused() -> None:
    table = as_table({"text": TEXTS})
    kept = json.loads(Preparation.fit(table, MEANING).to_json())
    kept["blocks"][0]["fingerprint"] = "0" * 16
    with pytest.raises(InvalidInputError, match="install the version of wordllama"):
        Preparation.from_json(json.dumps(kept)).apply(table)


def test_the_mean_of_its_token_vectors_is_what_a_text_is() -> None:
    """Against a plain mean, in another order of operations."""
    model = static_embedding._model()
    ids = model.tokenizer.encode(TEXTS[0], add_special_tokens=False).ids
    mean = model.vectors[ids].mean(axis=0)
    unscaled = FeatureOptions(texts=("text",), text_method="meaning", scale=False)
    table = as_table({"text": TEXTS})
    X = Preparation.fit(table, unscaled).apply(table)
    np.testing.assert_allclose(X[0], mean / np.linalg.norm(mean), atol=1e-12)


def test_a_session_keeps_how_its_text_was_read(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [
        f"{number},text about {'dogs' if number % 2 else 'money'} {number}" for number in range(9)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["id,text", *lines, ""]))
    options = ("t.csv", "--id", "id", "--text", "text")
    assert run("label", *options, "--text-by", "words", text="q\n").returncode == 0
    done = run("label", *options, "--text-by", "meaning", text="q\n")
    assert done.returncode == 2
    assert "--text-by cannot change" in done.stderr
    assert run("label", *options, text="q\n").returncode == 0
    assert run("inspect", *options, "--text-by", "sound").returncode == 2
    assert "by its meaning" in run("inspect", *options).stdout


def test_a_file_of_texts_alone_is_one_column_whatever_marks_are_in_them(tmp_path) -> None:
    texts = [f"text number {number}" for number in range(20)] + ["one; with a mark", "two | bars"]
    (tmp_path / "t.csv").write_text("\n".join(["text", *texts, '"a, b"', ""]))
    table = read_table(tmp_path / "t.csv")
    assert table.names == ("text",)
    assert list(table.column("text").texts[-3:]) == ["one; with a mark", "two | bars", "a, b"]
