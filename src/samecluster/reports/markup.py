"""HTML from text, escaped unless it is markup already."""

from __future__ import annotations

import html

_EMPTY = ("img", "meta", "source")


class Markup(str):
    """Text that is HTML. All other text is not, and is escaped."""


def tag(name: str, /, *content: str, **attributes: str) -> Markup:
    """An element with its content and attributes (``class_`` for the word that Python has taken).

    >>> tag("p", "1 < 2, ", tag("b", "surely"), class_="wide")
    '<p class="wide">1 &lt; 2, <b>surely</b></p>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(value)}"'
        for key, value in attributes.items()
    )
    inner = "".join(
        part if isinstance(part, Markup) else html.escape(part, quote=False) for part in content
    )
    return Markup(f"<{name}{written}>" if name in _EMPTY else f"<{name}{written}>{inner}</{name}>")


MARK = tag("meta", name="generator", content="samecluster")
"""Stands in the head of every report, by which it is known again."""
