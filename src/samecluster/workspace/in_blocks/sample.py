"""Items that are a sample of data in blocks: the rows that are drawn, and those that join them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from samecluster._typing import FloatArray, IntArray
from samecluster.errors import DataMismatchError, InvalidInputError
from samecluster.large.plan import sample_size
from samecluster.large.sweep import PIECE
from samecluster.points.dask_cluster import DaskFilePoints
from samecluster.points.files import FilePoints, open_points
from samecluster.points.survey import surveyed
from samecluster.tables import FeatureOptions, Preparation
from samecluster.tables.features.encoders import NumberEncoder
from samecluster.tables.features.select import left_out_note
from samecluster.tables.reading.sample import (
    SampledTable,
    columns_of_numbers,
    identifiers_in,
    sampled_keys,
)
from samecluster.workspace.data import BlockData, SessionData
from samecluster.workspace.request import Request, listed
from samecluster.workspace.stored_preparation import SampleDraw, StoredPreparation

_USABLE = {
    *("data", "session", "who", "show", "id_column", "features", "ignore", "scale", "margin"),
    *("lift", "clusters", "audit", "stop_at", "max_questions", "max_looks", "looks", "seed"),
    *("truth", "in_blocks", "dask", "max_memory"),
}


def newly_sampled(request: Request) -> SessionData:
    """Draw a sample of the data that a request names."""
    request.refuse_all_but(_USABLE, "--in-blocks")
    if request.scale:
        raise InvalidInputError("--scale does not go with --in-blocks: numbers are as they are")
    path, id_column = Path(request.data), request.id_column
    # The truth is a column, or a file of its own.
    truth = None if (request.truth or "").endswith(".npy") else request.truth
    apart = [name for name in (id_column, truth) if name is not None]
    ignored = listed(request.ignore, columns_of_numbers(path, apart) or ())
    numbers = columns_of_numbers(path, [*apart, *ignored])
    named = listed(request.features, numbers or ()) if request.features else None
    doubtful = () if named or numbers is None else identifiers_in(path, numbers)
    if doubtful and numbers is not None:
        numbers = columns_of_numbers(path, [*apart, *ignored, *doubtful])
    points = open_points(_seen_by_workers(request), named or numbers, request.max_bytes())
    if points.n < 2:
        raise InvalidInputError(f"{path} has only 1 row; at least 2 are needed")
    features = points.names if numbers is not None else tuple(f"x{at}" for at in points.names)
    nothing, unit = np.zeros(len(features)), np.ones(len(features))
    preparation = StoredPreparation(
        Preparation((NumberEncoder(features, nothing, nothing, unit),), None, missing="error"),
        FeatureOptions(features, ignored, id_column, truth, scale=False),
        features if id_column is None else (*features, id_column),
        StoredPreparation.reading_of(request),
        draw=SampleDraw(points.n, sample_size(points.n, points.d), request.seed or 0),
    )
    notes = (left_out_note(doubtful, features),) if doubtful else ()
    return replace(_read(preparation, points, request), notes=notes)


def sampled_again(request: Request, preparation: StoredPreparation) -> SessionData:
    """The sample of a session that exists; DataMismatchError if the data has other rows now."""
    request.refuse_all_but(_USABLE, "a session on data in blocks")
    assert preparation.draw is not None
    is_npy = columns_of_numbers(request.data, ()) is None
    features = None if is_npy else preparation.options.features
    allowed = request.max_memory or preparation.reading.get("max_memory")
    max_bytes = replace(request, max_memory=allowed).max_bytes()
    points = open_points(_seen_by_workers(request), features, max_bytes)
    n, d = preparation.draw.n, len(preparation.options.features or ())
    if (points.n, points.d) != (n, d):
        raise DataMismatchError(
            f"the session is about a sample of {n:,} rows with {d} features, and {request.data} "
            f"has {points.n:,} with {points.d}; begin another with --session FILE, and take "
            "the answers along with `samecluster import`"
        )
    return _read(preparation, points, request)


def joined(data: SessionData, rows: IntArray, points: FloatArray) -> SessionData:
    """The same with more rows of the data, whose features are ``points`` (m, d)."""
    preparation, blocks = data.preparation, data.blocks
    assert preparation.draw is not None
    assert blocks is not None
    draw = replace(preparation.draw, added=(*preparation.draw.added, *rows.tolist()))
    blocks = replace(blocks, rows=np.concatenate([blocks.rows, rows]))
    return _session_data(replace(preparation, draw=draw), blocks, np.concatenate([data.X, points]))


def _seen_by_workers(request: Request) -> Path:
    """The path of the data; workers of Dask may have another working directory."""
    return Path(request.data) if request.dask is None else Path(request.data).absolute()


def _read(preparation: StoredPreparation, files: FilePoints, request: Request) -> SessionData:
    """One pass over the data."""
    assert preparation.draw is not None
    rows = preparation.draw.rows()
    points = files if request.dask is None else DaskFilePoints(files)
    survey, X = surveyed(points, rows, PIECE, False, threads=os.cpu_count() or 1)
    return _session_data(preparation, BlockData(request.data, files, points, survey, rows), X)


def _session_data(preparation: StoredPreparation, blocks: BlockData, X: FloatArray) -> SessionData:
    source = f"{blocks.name}, {len(X):,} of {blocks.survey.n:,} rows"
    table = SampledTable(source, blocks.files, blocks.rows, X)
    n_added = 0 if preparation.draw is None else len(preparation.draw.added)
    keys = sampled_keys(table, preparation.options.id_column, len(X) - n_added)
    rows, files = np.arange(len(X)), (Path(blocks.path),)
    return SessionData(table, (), preparation, rows, X, keys, None, blocks=blocks, files=files)
