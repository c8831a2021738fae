"""What a language model wrote, read as the reply to a look. What is not clear is never guessed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from samecluster.errors import InvalidInputError
from samecluster.oracles.chat.prompts import ChatPrompt
from samecluster.questions.look import Look, Marks, Picks, Reply, Unions, verdicts_of
from samecluster.questions.pair import Verdict

_KEYS = {"pair": "answer", "choice": "group", "sheet": "odd", "checks": "odd", "board": "together"}
_PLAIN = re.compile(
    r"[\s*_]*(?:(?:final )?answer[\s*_:]+)?[\"'*_]*(same|different|unsure)[\s.\"'*_]*"
)
_MOST_OBJECTS = 100  # braces that are tried: a reply has one object, and prose around it a few


class UnreadableReplyError(Exception):
    """The reply says nothing that could be taken for an answer; the message says what is wrong."""


def read_chat_reply(text: str, prompt: ChatPrompt, look: Look) -> Reply:
    """The reply in a text, with or without prose around its JSON.

    >>> from samecluster.oracles.chat.prompts import TEMPLATE, PromptWriter
    >>> from samecluster import Question
    >>> look = Question(0, 1)
    >>> prompt = PromptWriter("same colour", TEMPLATE, 100, 0).prompt(look, str)
    >>> read_chat_reply('Let me see. ```{"answer": "Same"}```', prompt, look)
    <Verdict.SAME: 'same'>
    """
    text = re.sub(r"(?s)^\s*<think>.*?</think>", "", text).strip()
    said = _answer(text, prompt.kind)
    reply = _as_reply(said, prompt)
    try:
        verdicts_of(look, reply)
    except InvalidInputError as error:
        raise UnreadableReplyError(str(error)) from None
    return reply


def agreed(look: Look, one: Reply, two: Reply) -> Reply:
    """What two replies to a look both say; "unsure" where they differ."""
    if one == two:
        return one
    match one, two:
        case Picks(), Picks():
            return Picks(unsure=True)
        case Marks(), Marks():
            unsure = {*one.unsure, *two.unsure, *(set(one.marked) ^ set(two.marked))}
            marked = tuple(item for item in one.marked if item not in unsure)
            return Marks(marked, tuple(dict.fromkeys(i for i in look.shown if i in unsure)))
        case Unions(), Unions():
            return _agreed_unions(look, one, two)
    return Verdict.UNSURE


def _agreed_unions(look: Look, one: Unions, two: Unions) -> Unions:
    mates = [{i: set(group) for group in of.joined for i in group} for of in (one, two)]
    unsure = {*one.unsure, *two.unsure}
    unsure |= {i for i in look.shown if mates[0].get(i) != mates[1].get(i)}
    joined = tuple(group for group in one.joined if unsure.isdisjoint(group))
    return Unions(joined, tuple(item for item in look.shown if item in unsure))


def _answer(text: str, kind: str) -> Any:
    """What stands under the key of this kind of look, with all of its object."""
    found = [said for said in _objects(text) if _KEYS[kind] in said]
    if not found and kind == "pair":
        return {"answer": _last_word(text)}
    if not found:
        raise UnreadableReplyError(f'there is no JSON object with "{_KEYS[kind]}"')
    if any(said != found[0] for said in found):
        raise UnreadableReplyError("there are several answers")
    return found[0]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The outermost JSON objects in a text."""
    decoder, at = json.JSONDecoder(), -1
    for _ in range(_MOST_OBJECTS):
        if (at := text.find("{", at + 1)) < 0:
            return
        try:
            said, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        at = end - 1
        yield said


def _last_word(text: str) -> str:
    """The last line if it is an answer; some models cannot be brought to write JSON."""
    lines = [line for line in text.casefold().splitlines() if line.strip()]
    found = _PLAIN.fullmatch(lines[-1]) if lines else None
    return "" if found is None else found.group(1)


def _as_reply(said: dict[str, Any], prompt: ChatPrompt) -> Reply:
    names = prompt.names
    match prompt.kind:
        case "pair":
            return _verdict(said["answer"])
        case "choice":
            group = said["group"]
            if isinstance(group, str) and group.strip().casefold() in ("none", "unsure"):
                return Picks(unsure=group.strip().casefold() == "unsure")
            return Picks((_named(group, names),))
        case "sheet" | "checks":
            return Marks(_all_named(said["odd"], names), _all_named(said.get("unsure"), names))
    groups = said["together"]
    if not isinstance(groups, list):
        raise UnreadableReplyError('"together" must be a list of lists')
    joined = (_all_named(group, names) for group in groups)
    return Unions(
        tuple(group for group in joined if len(group) > 1), _all_named(said.get("unsure"), names)
    )


def _verdict(word: Any) -> Verdict:
    try:
        return Verdict(str(word).strip().casefold())
    except ValueError:
        raise UnreadableReplyError("the answer is none of same, different and unsure") from None


def _all_named(said: Any, names: Mapping[str, int]) -> tuple[int, ...]:
    if said is None:
        return ()
    if not isinstance(said, list):
        raise UnreadableReplyError("names must be in a list")
    return tuple(sorted({_named(name, names) for name in said}))


def _named(said: Any, names: Mapping[str, int]) -> int:
    """What a name stands for; "item 3" and 3 are the item "3"."""
    if isinstance(said, str | int) and not isinstance(said, bool):
        name = re.sub(r"^(item|group)\s+", "", str(said).strip(), flags=re.IGNORECASE).upper()
        if name in names:
            return names[name]
    raise UnreadableReplyError(f"there is no {str(said)[:40]!r} among the names")
