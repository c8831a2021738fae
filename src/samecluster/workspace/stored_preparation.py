"""What a session keeps of how its data was read and prepared, and what may not change later."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from samecluster._typing import IntArray
from samecluster.errors import InvalidInputError, SchemaError
from samecluster.recovery.certify.levels import first_rows, sample_seed
from samecluster.tables import FeatureOptions, Preparation
from samecluster.tables.reading.images import IMAGE_BY
from samecluster.workspace.request import Request, listed

# Fields of a request that say how data is written, and the kinds of their values if they are given
_READING: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("separator", "decimal", "encoding", "order"), str),
    **{"missing": list, "header": bool, "max_memory": (int, float), "image_size": int},
}
_ALSO_READ = {"vectors": str, "words": str, "show": list, "image_by": str}
# The option, the field of a request, and the field of `FeatureOptions` that say the same.
_FEATURES = (
    ("--features", "features", "features"),
    ("--ignore", "ignore", "ignore"),
    ("--categories", "categories", "categories"),
    ("--text", "text", "texts"),
    ("--text-by", "text_by", "text_method"),
    ("--embed", "embed", "embed"),
    ("--id", "id_column", "id_column"),
    ("--scale/--no-scale", "scale", "scale"),
    ("--reduce", "reduce", "reduce"),
    ("--missing", "missing_cells", "missing"),
    ("--drop-missing", "drop_missing", "drop_missing"),
)


@dataclass(frozen=True)
class SampleDraw:
    """Which rows of the data are items: ``size`` of ``n`` at random, and those added since."""

    n: int
    size: int
    seed: int
    added: tuple[int, ...] = ()

    def rows(self) -> IntArray:
        """Those that `samecluster.recover_large` would look at with this seed, then the added."""
        drawn = first_rows(self.n, self.size, sample_seed(np.random.default_rng(self.seed)))
        return np.concatenate([drawn, np.array(self.added, dtype=np.int64)])


@dataclass(frozen=True, eq=False)
class StoredPreparation:
    """The preparation of a session, and what makes the same of the same file again.

    ``columns`` are those that tell what an item is: all that were there when the session began but
    for truth, labels and ignored ones. A column that is added later changes no item. With
    ``labels_as`` "hint" the column of labels only guides the questions. With ``draw`` the items
    are a sample of data that is read in blocks.
    """

    features: Preparation
    options: FeatureOptions
    columns: tuple[str, ...]
    reading: Mapping[str, Any]
    labels_as: str = "known"
    draw: SampleDraw | None = None

    @staticmethod
    def reading_of(request: Request) -> dict[str, Any]:
        """How the user says that the data is written; of a path only the name."""
        said = {name: getattr(request, name) for name in _READING}
        vectors = None if request.vectors is None else request.vectors.name
        by = request.image_by or IMAGE_BY[0]
        also = {"words": "added", "show": request.show, "image_by": by}
        return {**said, "vectors": vectors, **also}

    def to_json(self) -> dict[str, Any]:
        return {
            "features": json.loads(self.features.to_json()),
            "wanted": asdict(self.options),
            "columns": list(self.columns),
            "reading": dict(self.reading),
            "labels_as": self.labels_as,
            **({} if self.draw is None else {"drawn": asdict(self.draw)}),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> StoredPreparation:
        if not {"features", "wanted", "columns", "reading"} <= stored.keys():
            raise SchemaError(
                "the session does not say how its data was prepared, as it was begun in Python; "
                "open it there with Session.open"
            )
        wanted: dict[str, Any] = {}
        for field in fields(FeatureOptions):
            if field.name in stored["wanted"]:
                value = stored["wanted"][field.name]
                wanted[field.name] = tuple(value) if isinstance(value, list) else value
                _check_kind(field.name, wanted[field.name], field.default)
        _check_reading(stored["reading"])
        drawn = stored.get("drawn")
        return cls(
            Preparation.from_json(json.dumps(stored["features"])),
            FeatureOptions(**wanted),
            tuple(stored["columns"]),
            stored["reading"],
            stored.get("labels_as", "known"),
            None if drawn is None else SampleDraw(**{**drawn, "added": tuple(drawn["added"])}),
        )

    @property
    def words_replace(self) -> bool:
        """Whether --na replaced the usual words, as it did in sessions of before."""
        return self.reading.get("words") != "added"

    @property
    def hint_column(self) -> str | None:
        """The column whose labels only guide the questions."""
        return self.options.labels if self.labels_as == "hint" else None

    def reading_for(self, request: Request) -> dict[str, Any]:
        """How to read the data now: as the user says, else as when the session began."""
        said = {
            name: self.reading.get(name)
            if getattr(request, name) is None
            else getattr(request, name)
            for name in _READING
        }
        said |= {"image_by": self._image_by, "embed": self.options.embed}
        return {**said, "vectors": self._vectors(request), "id_column": self.options.id_column}

    def refuse_other_features(self, request: Request) -> None:
        """InvalidInputError that names the first option that would change what features are."""
        if request.in_blocks and self.draw is None:
            raise _fixed("--in-blocks", "in blocks", "all in memory")
        for option, name, kept in _FEATURES:
            given, before = getattr(request, name), getattr(self.options, kept)
            if isinstance(given, list):
                given = listed(given, self.columns)
            if given is not None and given is not False and given != before:
                raise _fixed(option, given, before)
            if name == "scale" and given is False and before:
                raise _fixed("--no-scale", "as they are", "standardised")
        for option, column in (("--truth", request.truth), ("--labels", request.labels)):
            if column is not None and column in self.features.columns:
                raise InvalidInputError(
                    f"{option}: column {column!r} is a feature of this session, and features stay; "
                    "begin another with --session FILE"
                )
        if request.checked_labels_as() == "hint" and request.labels not in (None, self.hint_column):
            raise _fixed("--labels-as hint", request.labels, self.hint_column)
        if request.image_by not in (None, self._image_by):
            raise _fixed("--image-by", request.image_by, self._image_by)
        if request.image_size not in (None, self.reading.get("image_size") or request.image_size):
            raise _fixed("--image-size", request.image_size, self.reading.get("image_size"))

    @property
    def _image_by(self) -> str:
        """What images are compared by; sessions of before knew pixels only."""
        return str(self.reading.get("image_by", "pixels"))

    def _vectors(self, request: Request) -> Path | None:
        name: str | None = self.reading.get("vectors")
        if request.vectors is not None:
            if name is None:
                raise _fixed("--vectors", request.vectors.name, "no vectors")
            return request.vectors
        if name is None:
            return None
        beside = Path(request.data).parent / name
        if not beside.exists():
            raise InvalidInputError(
                f"the session has its features from {name}, which is not beside {request.data}; "
                "name it with --vectors FILE"
            )
        return beside


def _check_kind(name: str, value: Any, usual: Any) -> None:
    """TypeError if an option is of another kind than it usually is, or names no columns."""
    if isinstance(value, tuple):
        fits = all(isinstance(column, str) for column in value)
        fits = fits and (isinstance(usual, tuple) or name == "features")
    elif usual is None and name != "features":
        fits = value is None or type(value) is (int if name == "reduce" else str)
    else:
        fits = type(value) is type(usual)
    if not fits:
        raise TypeError(f"{name} cannot be {value!r}")


def _check_reading(stored: Mapping[str, Any]) -> None:
    """TypeError if something that is said of how data is written is of another kind than usual."""
    for name, kind in {**_READING, **_ALSO_READ}.items():
        value = stored.get(name)
        fits = value is None or isinstance(value, kind)
        if isinstance(value, list):
            fits = fits and all(isinstance(text, str) for text in value)
        if not fits:
            raise TypeError(f"{name} cannot be {value!r}")


def _fixed(option: str, given: Any, before: Any) -> InvalidInputError:
    now, was = (
        ",".join(map(str, value)) if isinstance(value, tuple) else value
        for value in (given, before)
    )
    return InvalidInputError(
        f"{option} cannot change in a session that has begun (it was {was or 'not given'}, now it "
        f"is {now}); leave it out, or begin another with --session FILE and take the answers along "
        "with `samecluster import`"
    )
