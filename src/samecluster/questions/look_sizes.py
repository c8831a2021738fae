"""How large the looks may be that somebody is asked, and how long they take."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from math import isqrt

from samecluster._parameters import check_positive
from samecluster.errors import InvalidInputError


@dataclass(frozen=True)
class LookSeconds:
    """Seconds that a look of each kind takes: the next one is that of most value per second.

    A pair is judged in about two seconds (rapid labelling of pictures takes one to two); deciding
    among n things takes longer with log n (Hick and Hyman), and a sheet is looked through item by
    item, at a third of a second each. Sessions measure them (`Session.use_measured_seconds`).
    """

    pair: float = 2.0
    choice: float = 5.0
    sheet: float = 6.0
    board: float = 7.0

    def __post_init__(self) -> None:
        for kind in fields(self):
            check_positive(f"the seconds of a {kind.name}", getattr(self, kind.name))


@dataclass(frozen=True)
class LookSizes:
    """The largest looks that may be used; a size of one pair means pairs.

    Attributes
    ----------
    choice : groups per choice
    sheet : items per sheet, beside its reference
    board : groups per board
    decoys : cells per sheet of an audit, on average, that are known to be wrong and measure how
        much is overlooked; 0 for those who overlook nothing, such as programs
    seconds : how long looks take
    """

    choice: int = 6
    sheet: int = 12
    board: int = 12
    decoys: int = 1
    seconds: LookSeconds = LookSeconds()

    def __post_init__(self) -> None:
        for name, least in (("choice", 1), ("sheet", 1), ("board", 2), ("decoys", 0)):
            size = getattr(self, name)
            if not isinstance(size, int) or size < least:
                what = "number of decoys" if name == "decoys" else f"size of a {name}"
                raise InvalidInputError(f"the {what} is at least {least}, got {size!r}")

    @property
    def pairs_only(self) -> bool:
        """Whether nothing but pairs may be asked."""
        return (self.choice, self.sheet, self.board) == (1, 1, 2)

    def limited(self, *, choice: bool, sheet: bool, board: bool) -> LookSizes:
        """These, with pairs in place of the kinds that cannot be answered."""
        return replace(
            self,
            choice=self.choice if choice else 1,
            sheet=self.sheet if sheet else 1,
            board=self.board if board else 2,
        )

    def within(self, n_questions: int | None) -> LookSizes:
        """These, so small that no look takes more than a quarter of so many questions."""
        if n_questions is None or self.pairs_only:
            return self
        most = max(n_questions // 4, 1)
        board = (1 + isqrt(1 + 8 * most)) // 2  # b (b − 1) / 2 pairs
        return replace(
            self,
            choice=min(self.choice, most),
            sheet=min(self.sheet, most),
            board=min(self.board, board),
        )


PAIRS = LookSizes(choice=1, sheet=1, board=2)
"""Nothing but pairs."""
