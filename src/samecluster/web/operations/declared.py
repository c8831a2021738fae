"""How operations of the page's API are declared, and the shapes that several of them share.

Each module of handlers has a list ``OPERATIONS``; ``@OPERATIONS.declare(...)`` above a handler says
what the operation takes, what it replies and who may call it. Routes, checks of requests and the
OpenAPI document are made from that and from nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from samecluster.web.context import Handler
from samecluster.web.errors import HttpError
from samecluster.web.operations.schema import (
    COUNT,
    MALFORMED,
    NUMBER,
    OBJECT,
    TEXT,
    Schema,
    array,
    boolean,
    check,
    choice,
    integer,
    nullable,
    record,
    shared,
    string,
    wrong,
)

_ROOT = "/api/v1"
NOT_FOUND, CONFLICT, UNUSABLE = 404, 409, 422

CLUSTER_NUMBER = integer(minimum=0, maximum=2**31 - 1)
CLUSTER_NAME = nullable(TEXT)
ITEM_KEY = string(minLength=1, maxLength=2000)
QUESTION_ID = string(minLength=3, maxLength=13000, description="The id of a question, as it came.")
ANSWER_KEY = string(
    minLength=8,
    maxLength=64,
    pattern="^[A-Za-z0-9-]+$",
    description="The sender's own name for this answer, such as a UUID: sent again with the same "
    "key it is not taken twice.",
)
HOWS = ("asked", "proven", "inferred", "predicted", "unassigned")

ERROR = shared("Error", record(error=string(description="A plain sentence that says what to do.")))
VERDICT = shared("Verdict", choice("same", "different", "unsure"))
HOW = shared("How", choice(*HOWS))
BY_HOW = shared("ByHow", record(**dict.fromkeys(HOWS, COUNT)))
_CELL = shared(
    "Cell",
    record(
        column=TEXT,
        text=TEXT,
        percentile=nullable(NUMBER, description="Where a number stands in its column, 0 to 100."),
    ),
)
ITEM = shared(
    "Item",
    record(
        key=TEXT,
        title=string(
            description="What people call it: its id, the name of its image, or its line."
        ),
        cells=array(_CELL),
        text=nullable(TEXT, description="The text that it is about, if there is a column of text."),
        image=nullable(TEXT, description="The address of its image."),
    ),
)
_GROUP = shared("Group", record(number=CLUSTER_NUMBER, name=CLUSTER_NAME))
QUESTION = shared(
    "Question",
    record(
        id=TEXT,
        item=ITEM,
        comparator=ITEM,
        differs=array(TEXT, description="Columns in which the two differ much."),
        cluster=nullable(_GROUP, description="The comparator's group."),
        context=array(ITEM, maxItems=6, description="More members of that group."),
        before=nullable(
            VERDICT, description="What you said, if this is asked again after an undo."
        ),
    ),
)
LOOK_ID = string(minLength=3, maxLength=60000, description="The id of a look, as it came.")
SECONDS: Schema = {
    "type": "number",
    "minimum": 0,
    "maximum": 86400,
    "description": "How long it was on the screen, with pauses cut.",
}
REPLY = shared(
    "Reply",
    record(
        {
            "groups": array(
                integer(minimum=0),
                description="Of a choice: the places of the groups, from 0; several are one.",
            ),
            "none": boolean(description="Of a choice: it belongs to none of the groups."),
            "marked": array(
                ITEM_KEY, description="Of a sheet or of checks: the items that do not belong."
            ),
            "odd_reference": boolean(description="Of a sheet: the reference is the odd one."),
            "joined": array(
                array(ITEM_KEY), description="Of a board: the sets that are one; the rest differ."
            ),
            "unsure": {
                "type": ["boolean", "array"],
                "items": ITEM_KEY,
                "description": "Of a choice: true if it cannot be told; else the items in doubt.",
            },
        }
    ),
)
LOOK = shared(
    "Look",
    record(
        kind=choice("pair", "choice", "sheet", "checks", "board"),
        id=TEXT,
        question=nullable(QUESTION, description="Of a pair; answer it with POST /answers."),
        item=nullable(ITEM, description="The item of a choice, or the reference of a sheet."),
        groups=array(
            record(cluster=nullable(_GROUP), members=array(ITEM)),
            description="Of a choice; their places are what a reply names.",
        ),
        items=array(ITEM, description="Of a sheet, of checks or of a board."),
        references=array(
            ITEM, description="Of checks: what each item is beside, and may not belong with."
        ),
        differs=array(TEXT, description="Columns in which the items differ much."),
        before=nullable(REPLY, description="Your reply, if this is asked again after an undo."),
    ),
)
_PREMISE = shared(
    "Premise",
    record(
        kind=TEXT,
        text=string(description='What must hold, as a clause after "if".'),
        details=OBJECT,
    ),
)
_CLAIM = shared(
    "Claim",
    record(
        kind=TEXT,
        certainty=choice("certain", "at a confidence", "estimate"),
        text=string(description="A sentence for people."),
        n_items=COUNT,
        number=nullable(NUMBER),
        confidence=nullable(NUMBER),
        premises=array(_PREMISE),
        details=OBJECT,
    ),
)
PROGRESS = shared(
    "Progress",
    record(
        sequence=integer(
            minimum=0,
            description="The last event that this takes into account; an answer may be newer.",
        ),
        n_items=COUNT,
        n_clusters=COUNT,
        n_questions=COUNT,
        n_looks=integer(minimum=0, description="Screens that were answered, each as a whole."),
        by_how=BY_HOW,
        left=nullable(
            record(
                low=COUNT,
                high=COUNT,
                text=TEXT,
                minutes=nullable(
                    array(NUMBER, minItems=2, maxItems=2),
                    description="The same as minutes, by the seconds that answers took so far.",
                ),
            ),
            description="What is left to ask, an 80 % interval.",
        ),
        audit=nullable(record(text=TEXT, met=boolean())),
        stop_at=nullable(
            NUMBER, description="The share of labels that may be wrong at the end, if one was set."
        ),
        claims=array(_CLAIM),
        ended=string(description="Why nothing is left to ask, or empty."),
        n_trouble=COUNT,
        line=string(description="All of it as a line for people."),
    ),
)


@dataclass(frozen=True)
class Parameter:
    """A field in the path or in the query of an address."""

    name: str
    schema: Schema
    place: str = "query"
    required: bool = False

    def read(self, text: str) -> Any:
        """The value of a text, checked."""
        value: Any = text
        if self.schema["type"] == "integer":
            if not re.fullmatch(r"-?[0-9]{1,18}", text):
                raise wrong(self.name, "a whole number")
            value = int(text)
        check(value, self.schema, self.name)
        return value


@dataclass(frozen=True)
class DeclaredReply:
    """What comes back if all goes well: a schema for each media type."""

    description: str
    content: Mapping[str, Schema]


@dataclass(frozen=True)
class Operation:
    """Something that can be asked of the server.

    Attributes
    ----------
    body : the shape of the JSON that is sent, of a POST
    errors : the statuses of its own errors, beyond those that any request may get
    for_owners : whether annotators may not call it
    open_to_all : whether it needs no link
    """

    id: str
    method: str
    path: str
    summary: str
    handler: Handler
    reply: DeclaredReply
    parameters: Sequence[Parameter] = ()
    body: Schema | None = None
    errors: Sequence[int] = ()
    for_owners: bool = False
    open_to_all: bool = False

    def read_parameters(self, given: Mapping[str, str], place: str) -> dict[str, Any]:
        """What was given in the path or the query, checked, with defaults; others are ignored."""
        found: dict[str, Any] = {}
        for parameter in self.parameters:
            name = parameter.name
            if parameter.place != place:
                continue
            if name in given:
                found[name] = parameter.read(given[name])
            elif parameter.required:
                raise HttpError(MALFORMED, f"{name} is missing; see {_ROOT}/openapi.json")
            elif "default" in parameter.schema:
                found[name] = parameter.schema["default"]
        return found

    def read_body(self, data: bytes) -> dict[str, Any]:
        """The fields of a body, checked."""
        try:
            body = json.loads(data)
        except (ValueError, RecursionError):
            raise HttpError(MALFORMED, "the body is not JSON in UTF-8") from None
        assert self.body is not None
        check(body, self.body, "the body")
        found: dict[str, Any] = body
        return found


class Operations(list[Operation]):
    """The operations of a module, in the order of their handlers."""

    def declare(
        self, request: str, summary: str, *, reply: Schema | DeclaredReply, **more: Any
    ) -> Callable[[Handler], Handler]:
        """Declare the operation of the handler below, as "POST /answers"; its name is the id.

        ``more`` are further fields of an `Operation`.
        """
        method, _, path = request.partition(" ")
        if not isinstance(reply, DeclaredReply):
            reply = DeclaredReply("Done.", {"application/json": reply})

        def declared(handler: Handler) -> Handler:
            name = handler.__name__.strip("_")
            self.append(Operation(name, method, _ROOT + path, summary, handler, reply, **more))
            return handler

        return declared
