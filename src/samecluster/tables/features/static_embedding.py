"""A column of text as the mean of vectors that a published model has for its tokens.

The model comes inside the wheel of wordllama (extra ``text``): nothing is downloaded, and nothing
is learned from the table but a mean and a scale. Only its two files are used: its own loader looks
for the tokenizer in another folder than the wheel has it in, and would go to the network.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from samecluster._extras import static_embedding
from samecluster._typing import FloatArray, IntArray
from samecluster.errors import InvalidInputError
from samecluster.tables.embedding_models import fingerprint_of
from samecluster.tables.features.encoders import VectorEncoder, mean_and_scale
from samecluster.tables.features.text import ordered_sums, texts_of
from samecluster.tables.table import Table

MODEL, WIDTH = "wordllama l2_supercat_256", 256
_MOST_TOKENS = 512  # about a page; the mean of more hardly moves
_WEIGHTS, _TOKENS = "weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer*.json"


@dataclass(frozen=True, eq=False)
class StaticEmbeddingEncoder(VectorEncoder):
    """Texts as means of token vectors of length 1."""

    column: str
    kind: ClassVar[str] = "static embedding"

    @classmethod
    def fit(cls, table: Table, rows: IntArray, column: str, scale: bool) -> StaticEmbeddingEncoder:
        X = _embedded(texts_of(table, column, rows))
        return cls(column, MODEL, _model().fingerprint, *mean_and_scale(X, scale))

    def apply(self, table: Table, rows: IntArray) -> FloatArray:
        found = _model().fingerprint
        if (self.model, self.fingerprint) != (MODEL, found):
            raise InvalidInputError(
                f"the features of column {self.column!r} are from {self.model} ({self.fingerprint})"
                f", and the one that is installed is {MODEL} ({found}); install the version of "
                "wordllama that the session began with"
            )
        return self.centred(_embedded(texts_of(table, self.column, rows)))


@dataclass(frozen=True, eq=False)
class _Model:
    vectors: FloatArray
    tokenizer: Any
    fingerprint: str


@cache
def _model() -> _Model:
    load, tokenizer_class, package = static_embedding()
    folder = Path(package).parent
    weights, tokens = folder / _WEIGHTS, next(iter(folder.glob(_TOKENS)), None)
    if tokens is None or not weights.is_file():
        raise InvalidInputError(
            "the wordllama that is installed has no model in it; install another version: "
            "pip install samecluster[text]"
        )
    (vectors,) = load(weights).values()
    tokenizer = tokenizer_class.from_file(str(tokens))
    tokenizer.no_padding()
    tokenizer.enable_truncation(_MOST_TOKENS)
    return _Model(np.asarray(vectors, dtype=np.float64), tokenizer, fingerprint_of(weights, tokens))


def _embedded(texts: list[str]) -> FloatArray:
    """(texts, WIDTH), the same bits on every machine: sums go from the first term to the last."""
    model = _model()
    tokens = [one.ids for one in model.tokenizer.encode_batch(texts, add_special_tokens=False)]
    document = np.repeat(np.arange(len(tokens)), [len(ids) for ids in tokens])
    number = np.array([token for ids in tokens for token in ids], dtype=np.int64)
    X = ordered_sums(document, number, np.ones(len(number)), model.vectors, len(texts))
    squares = np.zeros(len(texts))
    for column in X.T:
        squares += column * column
    return np.asarray(X / np.sqrt(np.where(squares > 0, squares, 1.0))[:, None])
