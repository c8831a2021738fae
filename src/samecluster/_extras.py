"""Libraries that come with an extra of the package: imported when needed, named when missing."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from samecluster.errors import InvalidInputError


def imported(name: str, if_missing: str) -> Any:
    """A library that is no extra of ours, such as that of a frame that came in."""
    return _modules(if_missing, name)[0]


def pyarrow() -> tuple[Any, Any]:
    """The modules pyarrow and pyarrow.parquet."""
    first, second = _modules(
        "Parquet files need pyarrow: pip install samecluster[parquet]", "pyarrow", "pyarrow.parquet"
    )
    return first, second


def dask() -> tuple[Any, Any]:
    """The modules dask and dask.array."""
    first, second = _modules("Dask is missing: pip install samecluster[dask]", "dask", "dask.array")
    return first, second


def dask_distributed() -> Any:
    """The module distributed."""
    (found,) = _modules(
        "work on a Dask cluster needs distributed: pip install samecluster[dask]", "distributed"
    )
    return found


def httpx() -> Any:
    """The module httpx."""
    (found,) = _modules("language models need httpx: pip install samecluster[llm]", "httpx")
    return found


def static_embedding() -> tuple[Any, Any, str]:
    """What reads weights, the class of tokenizers, and the file that wordllama has beside its own.

    The package itself is not imported: two of its files are all that is needed.
    """
    if_missing = "text by its meaning needs wordllama: pip install samecluster[text]"
    weights, tokenizers = _modules(if_missing, "safetensors.numpy", "tokenizers")
    found = importlib.util.find_spec("wordllama")
    if found is None or found.origin is None:
        raise InvalidInputError(if_missing)
    return weights.load_file, tokenizers.Tokenizer, found.origin


def has_static_embedding() -> bool:
    """Whether `static_embedding` would find what it needs."""
    names = ("wordllama", "safetensors", "tokenizers")
    return all(importlib.util.find_spec(name) is not None for name in names)


def onnx_embedding() -> tuple[Any, Any]:
    """The modules onnxruntime and tokenizers."""
    first, second, _ = _modules(
        "vectors by a model need onnxruntime: pip install samecluster[embed]",
        "onnxruntime",
        "tokenizers",
        "huggingface_hub",
    )
    return first, second


def faiss() -> Any:
    """The module faiss."""
    if_missing = "neighbours of many rows need faiss: pip install samecluster[neighbours]"
    (found,) = _modules(if_missing, "faiss")
    return found


def has_faiss() -> bool:
    """Whether `faiss` would find what it needs."""
    return importlib.util.find_spec("faiss") is not None


def needs_server() -> None:
    """InvalidInputError that says what to install unless there is what serves a page."""
    _modules(
        "The labelling page needs Starlette and uvicorn: pip install samecluster[serve]",
        "starlette",
        "uvicorn",
    )


def needs_widget() -> None:
    """InvalidInputError that says what to install unless there is what shows a widget."""
    _modules(
        "Questions in a notebook need anywidget: pip install samecluster[notebook]",
        "anywidget",
        "starlette",
        "uvicorn",
    )


def _modules(if_missing: str, *names: str) -> list[Any]:
    try:
        return [importlib.import_module(name) for name in names]
    except ImportError as error:
        raise InvalidInputError(if_missing) from error
