"""Parameters and answers from elsewhere, checked before they become events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

from samecluster._parameters import whole_number
from samecluster.errors import InvalidInputError
from samecluster.lifts.lift import named_lift
from samecluster.lifts.polynomial import Polynomial
from samecluster.questions.look_sizes import LookSeconds, LookSizes
from samecluster.questions.pair import Verdict
from samecluster.sessions.question import checked_verdict
from samecluster.sessions.state.items import Items
from samecluster.validation import checked_audit, checked_expected_error, checked_looks

_PARAMETERS = (
    *("audit", "expected_error", "lift", "look_seconds", "looks", "margin", "max_looks"),
    *("max_questions", "method", "n_clusters", "opinions"),
)
_SIZES = tuple(one.name for one in fields(LookSizes))


def checked_answers(
    answers: Iterable[tuple[str, str, Verdict | str]], items: Items
) -> list[tuple[str, str, str]]:
    """Pairs of keys with a verdict, as events have them."""
    checked = []
    for number, (one, two, verdict) in enumerate(answers, start=1):
        for key in (one, two):
            if key not in items.row_of:
                raise InvalidInputError(f"answer {number}: {key!r} is not a key of the data")
        if one == two:
            raise InvalidInputError(f"answer {number} is about {one!r} and itself")
        checked.append((one, two, checked_verdict(verdict).value))
    return checked


def checked_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    for name in parameters:
        if name not in _PARAMETERS:
            raise InvalidInputError(f"parameters are {', '.join(_PARAMETERS)}; got {name!r}")
    checked = dict(parameters)
    for name in ("max_questions", "max_looks", "opinions"):
        if checked.get(name) is not None:
            checked[name] = whole_number(name, checked[name])
    if checked.get("looks") is not None:
        checked["looks"] = _checked_looks(checked["looks"])
    if checked.get("look_seconds") is not None:
        checked["look_seconds"] = asdict(_look_seconds(checked["look_seconds"]))
    if checked.get("audit") is not None:
        checked["audit"] = list(checked_audit(checked["audit"]) or ())
    if checked.get("expected_error") is not None:
        checked["expected_error"] = checked_expected_error(checked["expected_error"])
    if checked.get("lift") not in (None, "auto"):
        lift = named_lift(checked["lift"])
        if not isinstance(lift, Polynomial):
            raise InvalidInputError(
                f"a session keeps a lift by its name, and {checked['lift']!r} is a function; lift "
                "the data yourself, or use a polynomial"
            )
        checked["lift"] = lift.name
    return checked


def check_people_only(parameters: Mapping[str, Any], models: Sequence[str]) -> None:
    """InvalidInputError if an audit is wanted where language models answer.

    It would take what they said for checked.
    """
    if parameters.get("audit") is not None and models:
        raise InvalidInputError(
            f"an audit counts answers of people alone, and here {models[0]} answers: leave --audit "
            "out, and let people check its labels afterwards (samecluster serve DATA --audit 0.05)"
        )


def _checked_looks(looks: Any) -> Any:
    """ "auto", or the sizes of looks as JSON has them; None for "pairs", as without looks."""
    if looks == "pairs":
        return None
    if isinstance(looks, Mapping) and looks.keys() <= set(_SIZES):
        looks = look_sizes(looks)
    sizes = checked_looks(looks)
    if isinstance(looks, str):
        return looks
    found = asdict(sizes)
    if sizes.seconds == LookSeconds():
        del found["seconds"]
    return found


def look_sizes(looks: Mapping[str, Any]) -> LookSizes:
    """The sizes of looks from what JSON can hold."""
    return LookSizes(**{**looks, "seconds": _look_seconds(looks.get("seconds", {}))})


def looks_in_use(parameters: Mapping[str, Any]) -> LookSizes | None:
    """The looks that parameters declare, with the seconds that were measured; None for pairs."""
    looks, seconds = parameters.get("looks"), parameters.get("look_seconds")
    if looks is None:
        return None
    sizes = look_sizes(looks) if isinstance(looks, Mapping) else checked_looks(looks)
    return sizes if seconds is None else replace(sizes, seconds=_look_seconds(seconds))


def _look_seconds(seconds: Any) -> LookSeconds:
    if not isinstance(seconds, Mapping) or not seconds.keys() <= asdict(LookSeconds()).keys():
        raise InvalidInputError(f"seconds are of pair, choice, sheet and board, got {seconds!r}")
    return LookSeconds(**seconds)


def refuse_other_lift(given: Mapping[str, Any], before: Mapping[str, Any]) -> None:
    """InvalidInputError if a lift is given and the session, which keeps its own, has another."""
    if given.get("lift", before.get("lift")) != before.get("lift"):
        raise InvalidInputError(
            f"the lift of a session stays (it is {before.get('lift') or 'none'}, and "
            f"{given['lift'] or 'none'} was given); leave it out, or begin another session and "
            "import the answers"
        )
