"""A column of text as numbers: weighted words (TF-IDF), then their main directions (SVD)."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from samecluster._typing import FloatArray, IntArray
from samecluster.errors import InvalidInputError
from samecluster.tables.features.encoders import KeptAsJson, key_of
from samecluster.tables.table import Table

_WORD = re.compile(r"\w\w+")
_MOST_WORDS = 5_000  # the words that most texts have; rarer ones hardly tell groups apart
_SEED = 0


@dataclass(frozen=True, eq=False)
class TextEncoder(KeptAsJson):
    """Texts as weighted words projected onto a few directions.

    ``keys`` are the hashes of the words, ``weight`` (w,) how rare each is, ``axes`` (w, r) the
    directions, already divided by the spread of the first.
    """

    column: str
    keys: tuple[str, ...]
    weight: FloatArray
    axes: FloatArray
    kind: ClassVar[str] = "words"

    @classmethod
    def fit(cls, table: Table, rows: IntArray, column: str, dimensions: int) -> TextEncoder:
        """Learn words and directions; there may be fewer directions than asked for."""
        from scipy.sparse import csr_array
        from sklearn.decomposition import TruncatedSVD

        texts = texts_of(table, column, rows)
        keys, weight = _vocabulary(texts)
        if len(keys) < 2:
            raise InvalidInputError(
                f"{table.source}, column {column!r}: fewer than 2 words occur in two rows or more; "
                "this column says little as text"
            )
        unprojected = cls(column, keys, weight, np.zeros((len(keys), 0)))
        document, word, value = unprojected._weighted(texts)
        matrix = csr_array((value, (document, word)), shape=(len(texts), len(keys)))
        count = min(dimensions, len(keys) - 1, len(texts) - 1)
        found = TruncatedSVD(count, random_state=_SEED).fit(matrix)
        spread = float(np.asarray(matrix @ found.components_.T).std(axis=0).max())
        return cls(column, keys, weight, found.components_.T / (spread if spread > 0 else 1.0))

    @property
    def width(self) -> int:
        return int(self.axes.shape[1])

    def apply(self, table: Table, rows: IntArray) -> FloatArray:
        texts = texts_of(table, self.column, rows)
        return ordered_sums(*self._weighted(texts), self.axes, len(texts))

    def _weighted(self, texts: list[str]) -> tuple[IntArray, IntArray, FloatArray]:
        """Each text's known words: (text, word, weight), weights of a text of length 1."""
        place = {key: at for at, key in enumerate(self.keys)}
        known: dict[str, int | None] = {}
        documents, words, counts = [], [], []
        for at, text in enumerate(texts):
            found: Counter[int] = Counter()
            for spoken in _WORD.findall(text.lower()):
                if spoken not in known:
                    known[spoken] = place.get(key_of(spoken))
                number = known[spoken]
                if number is not None:
                    found[number] += 1
            for number in sorted(found):
                documents.append(at)
                words.append(number)
                counts.append(found[number])
        document, word = np.array(documents, dtype=np.int64), np.array(words, dtype=np.int64)
        value = np.array(counts, dtype=np.float64) * self.weight[word]
        length = np.sqrt(np.bincount(document, weights=value * value, minlength=len(texts)))
        return document, word, value / length[document]


def ordered_sums(
    document: IntArray, word: IntArray, value: FloatArray, vectors: FloatArray, n_texts: int
) -> FloatArray:
    """The sum of each text's words (in the order of the texts), value times vector.

    The k-th words of all texts together: sums keep the order of the words, whatever the machine,
    and take as many steps as the longest text has words.
    """
    X = np.zeros((n_texts, vectors.shape[1]))
    starts = np.searchsorted(document, np.arange(n_texts))
    nth = np.arange(len(document)) - starts[document]
    order = np.argsort(nth, kind="stable")
    edges = np.searchsorted(nth[order], np.arange(nth.max(initial=-1) + 2))
    for begin, end in itertools.pairwise(edges):
        at = order[begin:end]
        X[document[at]] += value[at, None] * vectors[word[at]]
    return X


def texts_of(table: Table, name: str, rows: IntArray) -> list[str]:
    """Texts of some rows, blank where there is none."""
    texts, missing = table.column(name).texts, table.column(name).missing
    return ["" if missing[row] else texts[row] for row in rows.tolist()]


def _vocabulary(texts: list[str]) -> tuple[tuple[str, ...], FloatArray]:
    """Hashes of the words in two texts or more, and how rare each word is."""
    occurs: Counter[str] = Counter()
    for text in texts:
        occurs.update(set(_WORD.findall(text.lower())))
    shared = [(-count, word) for word, count in occurs.items() if count >= 2]
    chosen = sorted((key_of(word), -count) for count, word in sorted(shared)[:_MOST_WORDS])
    n_texts = np.array([count for _, count in chosen], dtype=np.float64)
    return tuple(key for key, _ in chosen), np.log((1 + len(texts)) / (1 + n_texts)) + 1
