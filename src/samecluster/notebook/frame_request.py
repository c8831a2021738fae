"""A request whose data is a frame in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from samecluster.errors import InvalidInputError
from samecluster.tables import as_table
from samecluster.tables.frame_points import is_frame
from samecluster.tables.reading.load import LoadedData
from samecluster.workspace.request import Request


@dataclass(frozen=True)
class FrameRequest(Request):
    """What `samecluster label` would be asked for, about ``frame`` in place of a file."""

    frame: Any = None

    def load(self, words_replace: bool = False) -> LoadedData:  # noqa: ARG002 - files have words
        """The frame as a table."""
        if not is_frame(self.frame) or hasattr(self.frame, "collect"):
            raise InvalidInputError(
                "frame must be a data frame with its rows, or a mapping of columns, got "
                f"{type(self.frame).__name__}"
            )
        return LoadedData(as_table(self.frame, self.data), ())
