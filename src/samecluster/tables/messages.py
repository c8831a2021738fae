"""What messages need: text from elsewhere made short, and a name that is there twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_LONGEST, _LONGEST_NAME = 150, 60  # characters; with what is around them, two lines of a terminal


def reason_of(error: BaseException) -> str:
    """The first line of an error's message, or its kind if it has none."""
    said = (str(error).splitlines() or [""])[0]
    return brief(said or type(error).__name__, _LONGEST)


def brief(text: str, longest: int = _LONGEST_NAME) -> str:
    """Text on one line, cut if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def first_few(names: Sequence[str], most: int = 5) -> str:
    """Names in a line; of many the first ones, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def count(number: int, noun: str) -> str:
    """A number of things: one of them is not many."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def first_repeated(names: Iterable[str]) -> str | None:
    """The first name that was there before, if there is one."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
