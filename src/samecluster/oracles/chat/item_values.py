"""How a language model sees an item: text, fields or a picture, as a value of JSON.

JSON keeps what an item says apart from what the model is told: no text can end its own quotes.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from samecluster._files import check_input, check_size
from samecluster.errors import InvalidInputError
from samecluster.oracles.command_protocol import ShownItem, json_cell

# What servers take: the first bytes of a file, and the name of its kind.
_KINDS = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif", b"RIFF": "webp"}
_LARGEST_PICTURE = 20 << 20  # bytes; hosted models refuse larger ones


@dataclass
class ItemsInPrompt:
    """Items on their way into one prompt; pictures follow its text in the order of their numbers.

    Parameters
    ----------
    longest : characters that a text may have; the middle of a longer one is left out
    """

    longest: int
    pictures: list[str] = field(default_factory=list)
    n_cut: int = 0

    def value(self, item: Any) -> Any:
        """An item as JSON can hold it."""
        if isinstance(item, ShownItem):
            item = item.fields
        if isinstance(item, Mapping):
            return {str(name): self.value(cell) for name, cell in item.items()}
        if isinstance(item, Path):
            check_size(item, check_input(item), _LARGEST_PICTURE)
            item = item.read_bytes()
        if isinstance(item, bytes):
            self.pictures.append(data_url(item))
            return {"picture": len(self.pictures)}
        if isinstance(item, np.ndarray | list | tuple):
            return [json_cell(number) for number in item]
        cell = json_cell(item)
        return self._shortened(cell) if isinstance(cell, str) else cell

    def _shortened(self, text: str) -> str:
        # Half of a pair of surrogates cannot be sent.
        text = text.encode("utf-8", errors="replace").decode()
        if len(text) <= self.longest:
            return text
        self.n_cut += 1
        half = self.longest // 2
        left_out = f"{len(text) - 2 * half:,} characters left out"
        return f"{text[:half]} [{left_out}] {text[len(text) - half :]}"


def data_url(picture: bytes) -> str:
    """A picture as an address that contains it.

    >>> data_url(b"GIF89a")
    'data:image/gif;base64,R0lGODlh'
    """
    for begin, kind in _KINDS.items():
        if picture.startswith(begin):
            return f"data:image/{kind};base64,{base64.b64encode(picture).decode()}"
    raise InvalidInputError(
        "a picture for a language model must be a PNG, JPEG, GIF or WebP file, and this one begins "
        f"with {picture[:4]!r}"
    )


def is_blank(item: Any) -> bool:
    """Whether there is nothing to see of an item."""
    if isinstance(item, ShownItem):
        item = item.fields
    if isinstance(item, Mapping):
        return all(map(is_blank, item.values()))
    if isinstance(item, float):
        return item != item  # NaN: a missing number
    return item is None or (isinstance(item, str) and not item.strip())
