"""Vectors by a model in the ONNX format: small models made here, loaded as large ones are."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from samecluster.errors import InvalidInputError
from samecluster.tables import FeatureOptions, Preparation, as_table, read_table
from samecluster.tables.embedding_models import embedding_model
from samecluster.workspace.open import open_session, reopen
from samecluster.workspace.request import Request
from tests.cases.command_line import run

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

WORDS = {"[UNK]": 0, "late": 1, "lost": 2, "refund": 3, "card": 4, "pin": 5, "letter": 6}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    embedding_model.cache_clear()
    return tmp_path / "cache"


def saved(path: Path, inputs, output, nodes, weights=()) -> None:
    helper = onnx.helper
    infos = [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in inputs]
    made = helper.make_tensor_value_info(output[0], onnx.TensorProto.FLOAT, output[1])
    graph = helper.make_graph(nodes, "small", infos, [made], list(weights))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, path)


def vectors_of_words(seed: int = 0):
    return np.random.default_rng(seed).normal(size=(len(WORDS), 4)).astype(np.float32)


def text_model(folder: Path, seed: int = 0) -> Path:
    """A vector of its own for each word; the model gives one per token."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    table = vectors_of_words(seed)
    whole = onnx.TensorProto.INT64
    inputs = [(name, whole, ["n", "m"]) for name in ("input_ids", "attention_mask")]
    node = onnx.helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])
    weights = [onnx.numpy_helper.from_array(table, "table")]
    saved(folder / "onnx" / "model.onnx", inputs, ("last_hidden_state", None), [node], weights)
    tokenizer = Tokenizer(models.WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def picture_model(folder: Path) -> Path:
    """The mean of each colour over the picture."""
    inputs = [("pixel_values", onnx.TensorProto.FLOAT, ["n", 3, 8, 8])]
    node = onnx.helper.make_node("GlobalAveragePool", ["pixel_values"], ["places"])
    saved(folder / "model.onnx", inputs, ("places", ["n", 3, 1, 1]), [node])
    settings = {"image_mean": [0.0, 0.0, 0.0], "image_std": [1.0, 1.0, 1.0]}
    (folder / "preprocessor_config.json").write_text(json.dumps(settings))
    return folder


def test_texts_are_means_of_their_tokens_whatever_stands_beside_them(tmp_path) -> None:
    model = embedding_model(str(text_model(tmp_path / "model")), "texts")
    alone = model.of_texts(["late letter"])
    beside = model.of_texts(["late letter", "lost card pin refund late late"])
    np.testing.assert_allclose(beside[0], alone[0], atol=1e-12)
    np.testing.assert_allclose((beside**2).sum(axis=1), 1.0)
    mean = vectors_of_words()[[WORDS["late"], WORDS["letter"]]].mean(axis=0)
    np.testing.assert_allclose(alone[0], mean / np.linalg.norm(mean), atol=1e-6)


def test_pictures_are_cut_to_the_size_of_the_model_and_scaled_as_it_says(tmp_path) -> None:
    model = embedding_model(str(picture_model(tmp_path / "model")), "pictures")
    Image.new("RGB", (20, 10), (255, 0, 0)).save(tmp_path / "red.png")
    Image.new("L", (9, 30), 128).save(tmp_path / "gray.png")
    found = model.of_pictures([tmp_path / "red.png", tmp_path / "gray.png"])
    np.testing.assert_allclose(found, np.array([[1, 0, 0], [0.57735] * 3]), atol=1e-5)


def test_a_preparation_keeps_the_model_and_refuses_another(tmp_path, own_cache) -> None:
    folder = text_model(tmp_path / "model")
    table = as_table({"said": ["late letter", "lost card", "refund", "pin card"]})
    fitted = Preparation.fit(table, FeatureOptions(texts=("said",), embed=str(folder)))
    X = fitted.apply(table)
    assert X.shape == (4, 4)
    (kept,) = (own_cache / "samecluster").iterdir()
    assert kept.name.startswith("vectors-")
    again = Preparation.from_json(fitted.to_json())
    assert again.apply(table).tobytes() == X.tobytes()
    kept.unlink()
    assert np.allclose(again.apply(table), X, atol=1e-5)
    embedding_model.cache_clear()
    text_model(folder, seed=1)
    with pytest.raises(InvalidInputError, match="the session needs the one of before"):
        again.apply(table)


def test_a_session_opens_again_and_new_texts_get_labels_by_the_same_model(tmp_path) -> None:
    folder, data = text_model(tmp_path / "model"), tmp_path / "said.csv"
    texts = [f"{a} {b}" for a in ("late letter", "card pin") for b in ("lost", "refund", "late")]
    data.write_text("said,truth\n" + "".join(f"{t},{t[0]}\n" for t in texts * 3))
    done = run("cluster", data, "--text", "said", "--embed", folder, "--truth", "truth")
    assert done.returncode == 0, done.stderr
    session = data.with_name("said.csv.samecluster")
    with reopen(session, Request(str(data)), read_only=True) as opened:
        assert opened.data.X.shape == (18, 4)
    new = tmp_path / "new.csv"
    new.write_text("said\nlost late letter\nlost card pin\n")
    out = tmp_path / "out.csv"
    assert run("assign", session, new, "-o", out).returncode == 0
    first, second = (line.split(",")[1] for line in out.read_text().splitlines()[1:])
    assert first != second
    changed = run("label", data, "--embed", tmp_path)
    assert "--embed cannot change in a session that has begun" in changed.stderr


def test_a_folder_of_pictures_by_a_model(tmp_path) -> None:
    model, place = picture_model(tmp_path / "model"), tmp_path / "pictures"
    place.mkdir()
    for at in range(6):
        Image.new("RGB", (8, 8), (250, 40 * at, 0)).save(place / f"{at}.png")
    with open_session(Request(str(place), embed=str(model))) as opened:
        assert opened.data.X.shape == (6, 3)
        assert opened.table.matrices == {}
    with reopen(Path(f"{place}.samecluster"), Request(str(place))) as opened:
        assert opened.data.X.shape == (6, 3)
    assert read_table(place).matrices


def test_what_is_no_model_is_said(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    table = as_table({"said": ["late letter", "lost card", "refund"], "x": [1.0, 2.0, 3.0]})

    def objection(name: str, texts=("said",)) -> str:
        embedding_model.cache_clear()
        with pytest.raises(InvalidInputError) as error:
            Preparation.fit(table, FeatureOptions(texts=texts, embed=name))
        return str(error.value)

    assert "it cannot be downloaded" in objection("nobody/has-this-model")
    (tmp_path / "empty").mkdir()
    assert "is a folder without onnx/model.onnx" in objection(str(tmp_path / "empty"))
    assert "has no tokenizer.json" in objection(str(picture_model(tmp_path / "pictures")))
    broken = text_model(tmp_path / "broken")
    (broken / "onnx" / "model.onnx").write_bytes(b"no model")
    assert "is no ONNX model" in objection(str(broken))
    mixed = picture_model(tmp_path / "mixed")
    shutil.copy(text_model(tmp_path / "texts") / "tokenizer.json", mixed)
    assert "is not for texts: it asks for pixel_values" in objection(str(mixed))
    assert "--embed is for a folder of images, or for text" in objection(str(mixed), texts=())
