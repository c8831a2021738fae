"""The events of a session: what each kind says, and the check that it says it.

This is the one place that describes the format. Items are keys (text), never row numbers or paths,
and no cell values enter. Fields may be added with the format staying the same as long as readers
can do without them; anything else raises `FORMAT`. Format 2 has looks; a session without them is
still written as format 1, which older programs can open.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from samecluster.errors import InvalidInputError, SchemaError
from samecluster.sessions.storage.look_format import checked_look

FORMAT = 2

ROLES = ("plan", "ahead", "beside", "extra")
"""What an answer is to the run at that moment: a question of its plan; one that it is expected to
come to, put ahead of its turn; nothing that it has use for (implied, contradicting, a second
opinion); or a fact that it did not ask for."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a session.

    ``sequence`` counts from 1; it is 0 until a store has taken the event in. ``at`` is the time in
    UTC as ISO 8601 text; the order of events is that of the sequence numbers.
    """

    kind: str
    at: str
    who: str | None = None
    body: Mapping[str, Any] = field(default_factory=dict)
    sequence: int = 0


Check: TypeAlias = Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_label(value: Any) -> bool:
    return _is_whole(value) or value == -1


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and 0 <= value <= 1


def _is_duration(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)


def _is_list(value: Any, length: int | None = None) -> bool:
    return isinstance(value, list | tuple) and length in (None, len(value))


def _list_of(check: Check) -> Check:
    return lambda value: _is_list(value) and all(map(check, value))


def _is_pair(value: Any) -> bool:
    return _is_list(value, 2) and all(map(_is_text, value)) and value[0] != value[1]


def _is_verdict(value: Any) -> bool:
    return isinstance(value, str) and value in ("same", "different", "unsure")


def _is_statement(value: Any) -> bool:
    return _is_list(value, 3) and _is_pair(value[:2]) and _is_verdict(value[2])


def _is_answer(value: Any) -> bool:
    return _is_list(value, 4) and _is_statement(value[:3]) and value[3] in ROLES


def _is_look(value: Any) -> bool:
    try:
        checked_look(value)
    except InvalidInputError:
        return False
    return True


def _are_numbers(value: Any) -> bool:
    return _is_mapping(value) and all(_is_whole(number) for number in value.values())


@dataclass(frozen=True)
class _Body:
    """The fields of a body: those that must be there, and those that may."""

    needed: Mapping[str, Check] = field(default_factory=dict)
    allowed: Mapping[str, Check] = field(default_factory=dict)


# "key" is the sender's own name for this answer, by which it is known when it is sent again;
# "seconds" is how long the screen was looked at, with pauses cut; "second_looks" how many further
# looks whoever answers, a model for instance, took at its items to confirm the answer.
_ABOUT_A_PAIR: dict[str, Check] = {"items": _is_pair, "role": lambda value: value in ROLES}
_WITH_AN_ANSWER: dict[str, Check] = {
    "key": _is_text,
    "seconds": _is_duration,
    "second_looks": _is_whole,
}
# Every event may have public numbers of clusters, by anchor item, given since the event before.
_ANYWHERE: dict[str, Check] = {"numbers": _are_numbers}
_DATA: dict[str, Check] = {"keys": _list_of(_is_text), "digests": _is_text}

_BODIES: dict[str, _Body] = {
    "opened": _Body(
        {
            "format": _is_whole,
            **_DATA,
            "preparation": _is_mapping,
            "parameters": _is_mapping,
            "seed": _is_whole,
        }
    ),
    "answered": _Body(
        {**_ABOUT_A_PAIR, "verdict": lambda value: value in ("same", "different")}, _WITH_AN_ANSWER
    ),
    "unsure": _Body(_ABOUT_A_PAIR, _WITH_AN_ANSWER),
    # A look that was answered as a whole, and what of it was news, pair by pair with roles; of the
    # sheet of an audit also the items that were known not to belong.
    "looked": _Body(
        {"look": _is_look, "reply": _is_mapping, "answers": _list_of(_is_answer)},
        {**_WITH_AN_ANSWER, "decoys": _list_of(_is_text)},
    ),
    # A question that cannot be answered as it stands; or, with "item", an exception.
    "flagged": _Body({"note": _is_text}, {**_ABOUT_A_PAIR, **_WITH_AN_ANSWER, "item": _is_text}),
    # "items": one answer of an import instead of all of it. "undo": to be shown again first.
    "retracted": _Body({"sequence": _is_whole}, {"items": _is_pair, "undo": _is_flag}),
    "named": _Body({"anchor": _is_text, "number": _is_whole, "text": _is_text}),
    "imported": _Body({"source": _is_text, "answers": _list_of(_is_statement)}),
    # New rows (and how they were made, if that is new), or items whose answers hold for them too.
    "updated": _Body({}, {**_DATA, "confirmed": _list_of(_is_text), "preparation": _is_mapping}),
    "parameters": _Body({"parameters": _is_mapping}, {"format": _is_whole}),
    # Labels were frozen and a permutation of them drawn: from here on an audit is under way.
    "audit": _Body({"error": _is_share, "confidence": _is_share}),
    # Whose answers count from here on: those of people, who check these labels, one per row, that
    # models gave; or without labels everybody's again.
    "trusted": _Body(
        {"people": _is_flag}, {"labels": _list_of(_is_label), "models": _list_of(_is_text)}
    ),
    "closed": _Body(),
}

KINDS = tuple(_BODIES)


def format_for(parameters: Mapping[str, Any]) -> int:
    """The lowest format that has what these parameters ask for."""
    return 2 if any(parameters.get(name) is not None for name in ("looks", "max_looks")) else 1


def body_text(body: Mapping[str, Any]) -> str:
    """A body as JSON, always the same text for the same body."""
    return json.dumps(body, sort_keys=True, allow_nan=False, separators=(",", ":"))


def checked_event(event: Event) -> Event:
    """The event itself; SchemaError if it is not of this format."""
    where = f"event {event.sequence}" if event.sequence else "a new event"
    if event.kind not in _BODIES:
        raise SchemaError(
            f"{where} is of the unknown kind {event.kind!r}; "
            "it was written by a newer samecluster, which can open it"
        )
    _check_time(event, where)
    if event.who is not None and not (isinstance(event.who, str) and event.who.isprintable()):
        raise SchemaError(f"{where}: who must be printable text, got {event.who!r}")
    if not _is_mapping(event.body):
        raise SchemaError(f"{where} ({event.kind}) has a body that is no record")
    body = _BODIES[event.kind]
    checks = {**_ANYWHERE, **body.allowed, **body.needed}
    missing = body.needed.keys() - event.body.keys()
    if missing:
        raise SchemaError(f"{where} ({event.kind}) has no {sorted(missing)[0]!r}")
    for name, value in event.body.items():
        if name in checks and not checks[name](value):
            shown = ascii(value)[:80]
            raise SchemaError(f"{where} ({event.kind}) has an unusable {name!r}: {shown}")
    if event.body.get("format", FORMAT) > FORMAT:
        raise SchemaError(
            f"the session has format {event.body['format']}, this samecluster knows up to "
            f"{FORMAT}; install a newer one to open it"
        )
    return event


def _check_time(event: Event, where: str) -> None:
    try:
        offset = datetime.fromisoformat(event.at).utcoffset()
    except (TypeError, ValueError):
        offset = None
    if offset is None or offset:
        raise SchemaError(f"{where}: the time must be ISO 8601 in UTC, got {event.at!r}")
