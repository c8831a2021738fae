"""Libraries that come with an extra of the package: imported when needed, named when missing."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

from samecluster.errors import InvalidInputError


def imported(name: str, if_missing: str) -> Any:
    """A library that is no extra of ours, such as that of a frame that came in."""
    return _modules(if_missing, name)


def _modules(if_missing: str, *names: str) -> Any:
    """Modules in their order, or the only one."""
    try:
        found = tuple(importlib.import_module(name) for name in names)
    except ImportError as error:
        raise InvalidInputError(if_missing) from error
    return found if len(found) > 1 else found[0]


def _extra(if_missing: str, *names: str) -> Callable[[], Any]:
    """What imports these modules; InvalidInputError that says what to install without them."""
    return lambda: _modules(if_missing, *names)


pyarrow = _extra(
    "Parquet files need pyarrow: pip install samecluster[parquet]", "pyarrow", "pyarrow.parquet"
)
dask = _extra("Dask is missing: pip install samecluster[dask]", "dask", "dask.array")
dask_distributed = _extra(
    "work on a Dask cluster needs distributed: pip install samecluster[dask]", "distributed"
)
pillow = _extra("Images need Pillow: pip install samecluster[images]", "PIL.Image", "PIL.ImageOps")
httpx = _extra("language models need httpx: pip install samecluster[llm]", "httpx")
onnx_embedding = _extra(
    "vectors by a model need onnxruntime: pip install samecluster[embed]",
    "onnxruntime",
    "tokenizers",
    "huggingface_hub",
)
faiss = _extra("neighbours of many rows need faiss: pip install samecluster[neighbours]", "faiss")
needs_server = _extra(
    "The labelling page needs Starlette and uvicorn: pip install samecluster[serve]",
    "starlette",
    "uvicorn",
)
needs_widget = _extra(
    "Questions in a notebook need anywidget: pip install samecluster[notebook]",
    "anywidget",
    "starlette",
    "uvicorn",
)


def has_faiss() -> bool:
    """Whether `faiss` would find what it needs."""
    return importlib.util.find_spec("faiss") is not None


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
