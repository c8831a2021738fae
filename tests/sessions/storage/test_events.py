"""Events: every kind has its fields, and nothing else is written or read."""

from typing import Any

import pytest

from samecluster.errors import SchemaError
from samecluster.sessions.storage.events import FORMAT, KINDS, Event, checked_event
from tests.cases.session_cases import AT

GOOD: dict[str, dict[str, Any]] = {
    "opened": {
        "format": FORMAT,
        "keys": ["a"],
        "digests": "",
        "preparation": {},
        "parameters": {},
        "seed": 1,
    },
    "answered": {"items": ["a", "b"], "role": "plan", "verdict": "same"},
    "unsure": {"items": ["a", "b"], "role": "beside", "key": "k", "numbers": {"a": 0}},
    "looked": {
        "look": {"kind": "sheet", "reference": "a", "items": ["b", "c"]},
        "reply": {"marked": ["c"]},
        "answers": [["b", "a", "same", "plan"], ["c", "a", "different", "plan"]],
    },
    "flagged": {"items": ["a", "b"], "role": "extra", "note": "blurred"},
    "retracted": {"sequence": 3, "items": ["a", "b"]},
    "named": {"anchor": "a", "number": 0, "text": "cats"},
    "imported": {"source": "old.csv", "answers": [["a", "b", "different"]]},
    "updated": {"keys": ["a"], "digests": "", "numbers": {}},
    "parameters": {"parameters": {"margin": 0.5}},
    "audit": {"error": 0.01, "confidence": 0.95},
    "trusted": {"people": True},
    "closed": {},
}
BAD = [
    ("answered", {"items": ["a", "a"]}),
    ("answered", {"items": ["a"]}),
    ("answered", {"items": [1, 2]}),
    ("answered", {"verdict": "unsure"}),
    ("answered", {"role": "hero"}),
    ("unsure", {"numbers": {"a": -1}}),
    ("unsure", {"seconds": -1}),
    ("unsure", {"seconds": float("inf")}),
    ("looked", {"look": {"kind": "page"}}),
    ("looked", {"look": {"kind": "sheet", "reference": "a", "items": ["a"]}}),
    ("looked", {"reply": ["c"]}),
    ("looked", {"answers": [["b", "a", "same"]]}),
    ("looked", {"answers": [["b", "a", "same", "hero"]]}),
    ("opened", {"format": FORMAT + 1}),
    ("opened", {"seed": -3}),
    ("opened", {"keys": "abc"}),
    ("retracted", {"sequence": True}),
    ("imported", {"answers": [["a", "b"]]}),
    ("imported", {"answers": [["a", "b", "maybe"]]}),
    ("named", {"text": None}),
    ("audit", {"error": 2}),
    ("parameters", {"parameters": 3}),
    ("trusted", {"people": "ann"}),
    ("trusted", {"labels": [0, 0.5]}),
    ("trusted", {"models": "m"}),
]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_a_good_body_and_needs_its_fields(kind) -> None:
    checked_event(Event(kind, AT, None, GOOD[kind]))
    for field in GOOD[kind].keys() - {"key", "numbers"}:
        if kind in ("retracted", "updated") or (kind == "flagged" and field != "note"):
            continue
        with pytest.raises(SchemaError, match=f"has no '{field}'"):
            checked_event(
                Event(kind, AT, None, {k: v for k, v in GOOD[kind].items() if k != field})
            )


@pytest.mark.parametrize(("kind", "change"), BAD, ids=str)
def test_an_unusable_body_is_refused(kind, change) -> None:
    with pytest.raises(SchemaError, match=r"unusable|format"):
        checked_event(Event(kind, AT, None, {**GOOD[kind], **change}))


@pytest.mark.parametrize("at", ["2026-01-31T12:00:00", "2026-01-31T12:00:00+02:00", "noon"])
def test_times_are_in_utc(at) -> None:
    with pytest.raises(SchemaError, match="ISO 8601 in UTC"):
        checked_event(Event("closed", at))
