"""Models in the ONNX format that make vectors of texts or pictures (extra ``embed``).

A model is a folder, a file, or a name on the hub of huggingface_hub, which downloads it at first
use and keeps it. Beside the network of a model for texts there is its ``tokenizer.json``; beside
one for pictures there may be a ``preprocessor_config.json``.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from samecluster._extras import onnx_embedding
from samecluster._typing import FloatArray
from samecluster.errors import InvalidInputError

_NETWORKS = {
    "texts": ("onnx/model.onnx", "model.onnx", "onnx/text_model.onnx"),
    "pictures": ("onnx/vision_model.onnx", "onnx/model.onnx", "model.onnx"),
}
_TOKENS, _PICTURES = "tokenizer.json", "preprocessor_config.json"
_OUTPUTS = ("sentence_embedding", "image_embeds", "text_embeds", "pooler_output")
_AT_ONCE = 32
_MOST_TOKENS = 512
_SIDE = 224  # of a picture, where the model does not say it
_MEAN, _SPREAD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # as photographs have them


@dataclass(frozen=True)
class _Files:
    """Of what a model consists on this machine; ``beside`` may be missing."""

    network: Path
    beside: Path | None


def fingerprint_of(*files: Path) -> str:
    """By which the files of a model are known again."""
    state = hashlib.blake2b(digest_size=8)
    for file in files:
        with file.open("rb") as opened:
            state.update(hashlib.file_digest(opened, "blake2b").digest())
    return state.hexdigest()


class EmbeddingModel:
    """A model that is loaded. ``kind`` is "texts" or "pictures"."""

    def __init__(self, name: str, kind: str) -> None:
        runtime, self._tokenizers, _ = onnx_embedding()
        self.name, self.kind = name, kind
        files = _found_files(name, kind)
        self.fingerprint = fingerprint_of(*filter(None, (files.network, files.beside)))
        try:
            self._network = runtime.InferenceSession(
                str(files.network), providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # it has no class of its own for all that can be wrong
            raise InvalidInputError(f"{files.network} is no ONNX model: {error}") from None
        self._inputs = {one.name: one for one in self._network.get_inputs()}
        self._tokenizer = self._read_tokenizer(files) if kind == "texts" else None
        self._settings = _settings(files.beside) if kind == "pictures" else {}

    def of_texts(self, texts: Sequence[str]) -> FloatArray:
        """(texts, width) vectors of length 1."""
        parts = [self._of_some_texts(part) for part in _parts(texts)]
        return np.concatenate(parts)

    def of_pictures(self, files: Sequence[Path]) -> FloatArray:
        """(files, width) vectors of length 1."""
        name, size = self._picture_input()
        parts = []
        for part in _parts(files):
            pixels = np.stack([self._pixels(file, size) for file in part])
            parts.append(self._vectors({name: pixels}, None))
        return np.concatenate(parts)

    def _read_tokenizer(self, files: _Files) -> Any:
        if files.beside is None:
            raise InvalidInputError(
                f"the model {self.name} has no {_TOKENS}; it cannot make vectors of texts"
            )
        tokenizer = self._tokenizers.Tokenizer.from_file(str(files.beside))
        tokenizer.enable_padding()
        tokenizer.enable_truncation(_MOST_TOKENS)
        return tokenizer

    def _of_some_texts(self, texts: Sequence[str]) -> FloatArray:
        assert self._tokenizer is not None
        encoded = self._tokenizer.encode_batch(list(texts))
        made = {
            "input_ids": [one.ids for one in encoded],
            "attention_mask": [one.attention_mask for one in encoded],
            "token_type_ids": [one.type_ids for one in encoded],
        }
        told = {name: np.array(rows, dtype=np.int64) for name, rows in made.items()}
        wanted = {name: rows for name, rows in told.items() if name in self._inputs}
        return self._vectors(wanted, told["attention_mask"])

    def _vectors(self, told: dict[str, Any], mask: Any) -> FloatArray:
        """Means over the tokens or places, where the model gives a vector for each."""
        if missing := self._inputs.keys() - told.keys():
            raise InvalidInputError(
                f"the model {self.name} is not for {self.kind}: it asks for "
                f"{', '.join(sorted(missing))}"
            )
        names = [one.name for one in self._network.get_outputs()]
        output = next((name for name in _OUTPUTS if name in names), names[0])
        found = np.asarray(self._network.run([output], told)[0], dtype=np.float64)
        if found.ndim == 3 and mask is not None:
            weights = mask[:, :, None] / np.maximum(mask.sum(axis=1), 1)[:, None, None]
            found = (found * weights).sum(axis=1)
        elif found.ndim > 2:
            found = found.mean(axis=1 if found.ndim == 3 else (2, 3))
        lengths = np.sqrt((found * found).sum(axis=1, keepdims=True))
        return np.asarray(found / np.where(lengths > 0, lengths, 1.0))

    def _picture_input(self) -> tuple[str, tuple[int, int]]:
        """Name of the input, and height and width of what it takes."""
        (name, one), *others = self._inputs.items()
        if others or len(one.shape) != 4:
            raise InvalidInputError(f"the model {self.name} is not for pictures")
        said = self._settings.get("crop_size") or self._settings.get("size") or _SIDE
        if isinstance(said, dict):
            side = said.get("shortest_edge", _SIDE)
            said = (said.get("height", side), said.get("width", side))
        usual = said if isinstance(said, tuple) else (said, said)
        sides = zip(one.shape[2:], usual, strict=True)
        height, width = (int(n if isinstance(n, int) else other) for n, other in sides)
        return name, (height, width)

    def _pixels(self, file: Path, size: tuple[int, int]) -> Any:
        """(3, height, width) of the middle of a picture."""
        from samecluster.tables.reading.images import opened_picture

        with opened_picture(file) as (picture, operations):
            cut = operations.fit(picture.convert("RGB"), size[::-1])
            values = np.asarray(cut, dtype=np.float32) / np.float32(255)
        mean, spread = (
            np.array(self._settings.get(name, usual), dtype=np.float32)
            for name, usual in (("image_mean", _MEAN), ("image_std", _SPREAD))
        )
        return ((values - mean) / spread).transpose(2, 0, 1)


@cache
def embedding_model(name: str, kind: str) -> EmbeddingModel:
    """The model of a name, loaded once."""
    return EmbeddingModel(name, kind)


def _parts(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (items[at : at + _AT_ONCE] for at in range(0, len(items), _AT_ONCE))


def _settings(file: Path | None) -> dict[str, Any]:
    return {} if file is None else dict(json.loads(file.read_text("utf-8")))


def _found_files(name: str, kind: str) -> _Files:
    beside = _TOKENS if kind == "texts" else _PICTURES
    place = Path(name)
    if place.is_file():
        near = place.with_name(beside)
        return _Files(place, near if near.exists() else None)
    if not place.is_dir():
        return _downloaded(name, kind, beside)
    network = next((place / one for one in _NETWORKS[kind] if (place / one).is_file()), None)
    if network is None:
        raise InvalidInputError(f"{name} is a folder without {' or '.join(_NETWORKS[kind])}")
    return _Files(network, place / beside if (place / beside).is_file() else None)


def _downloaded(name: str, kind: str, beside: str) -> _Files:
    """The files of a model on the hub; what shows the progress is the hub's own."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError
    from huggingface_hub.utils import logging as hub_logging

    # Each of its tries would be a warning; ours says it once.
    hub_logging.set_verbosity(logging.ERROR)

    def fetched(file: str) -> Path | None:
        try:
            return Path(hf_hub_download(name, file))
        except LocalEntryNotFoundError:  # not the file is missing, but the connection
            raise
        except EntryNotFoundError:
            return None

    try:
        network = next(filter(None, map(fetched, _NETWORKS[kind])), None)
        near = fetched(beside)
    except Exception as error:  # every layer below has its own: names, connections, disks
        raise InvalidInputError(
            f"the model {name} is no folder here, and it cannot be downloaded "
            f"({type(error).__name__}): check the name and the connection, or name a folder with "
            f"{_NETWORKS[kind][1]} and {beside}"
        ) from None
    if network is None:
        raise InvalidInputError(f"the model {name} has none of {', '.join(_NETWORKS[kind])}")
    return _Files(network, near)
