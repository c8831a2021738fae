"""Operations of people who look: session, progress, plot, groups, reasons, people.

All but one are made from the last summary, so that no answer waits for them.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime
from typing import Any

from starlette.responses import StreamingResponse

import samecluster
from samecluster.recovery.result.how import How
from samecluster.web.context import Call, ServerContext
from samecluster.web.errors import HttpError
from samecluster.web.links import ROLES, session_id
from samecluster.web.live import stream
from samecluster.web.operations.declared import (
    BY_HOW,
    CLUSTER_NAME,
    CLUSTER_NUMBER,
    HOW,
    HOWS,
    ITEM,
    ITEM_KEY,
    NOT_FOUND,
    PROGRESS,
    UNUSABLE,
    DeclaredReply,
    Operations,
    Parameter,
)
from samecluster.web.operations.group_board import GroupBoard
from samecluster.web.operations.schema import (
    COUNT,
    NUMBER,
    TEXT,
    array,
    choice,
    integer,
    nullable,
    record,
    shared,
    string,
)
from samecluster.web.views import why
from samecluster.workspace.in_blocks.all_rows import sample_line
from samecluster.workspace.typed_command import typed

OPERATIONS = Operations()
_ROLE = choice(*ROLES)
_COUNTED = {"number": CLUSTER_NUMBER, "name": CLUSTER_NAME, "size": COUNT, "by_how": BY_HOW}
_ALIASES = array(CLUSTER_NUMBER, description="Numbers of before that stand for it now.")

_PRESENT = 60.0
"""Seconds after their last request for which people count as present."""


@OPERATIONS.declare(
    "GET /session",
    "What this session is and who you are.",
    reply=shared(
        "Session",
        record(
            id=string(description="The same on every start of the server for this session."),
            title=TEXT,
            who=nullable(
                TEXT, description="Your name; null for whoever started the server without --who."
            ),
            role=_ROLE,
            lease_seconds=NUMBER,
            columns=array(TEXT),
            n_people=COUNT,
            kind=choice("table", "text", "image"),
            sample=nullable(
                TEXT,
                description="If the items are a sample of data in blocks: that they are, and which "
                "command labels all rows.",
            ),
            version=TEXT,
        ),
    ),
)
async def _session(context: ServerContext, call: Call) -> Any:
    now = datetime.now(UTC)
    present = sum((now - seen).total_seconds() < _PRESENT for seen in context.seen.values())
    return {
        "id": session_id(context.opened.path),
        "title": context.opened.table.source,
        "who": call.who,
        "role": call.person.role,
        "lease_seconds": context.lease_seconds,
        "columns": list(context.views.columns),
        "n_people": present,
        "kind": context.views.kind,
        "sample": sample_line(context.opened, context.opened.path.name),
        "version": samecluster.__version__,
    }


@OPERATIONS.declare("GET /progress", "How far the session is.", reply=PROGRESS)
async def _progress(context: ServerContext, _: Call) -> Any:
    return context.thread.summary.progress


@OPERATIONS.declare(
    "GET /events",
    'Server-sent events: progress (data: Progress), labels (data: {"version", "plot"}), trouble, '
    "ended. The first progress comes at once; a comment about every 15 seconds. It ends with your "
    "link.",
    reply=DeclaredReply("The stream.", {"text/event-stream": TEXT}),
)
async def _events(context: ServerContext, call: Call) -> Any:
    events = stream(context.thread, context.plot, call.is_welcome)
    return StreamingResponse(events, media_type="text/event-stream")


@OPERATIONS.declare(
    "GET /people",
    "Who takes part.",
    reply=record(
        people=array(
            record(
                who=nullable(TEXT),
                role=nullable(_ROLE),
                n_answers=COUNT,
                n_looks=integer(minimum=0, description="Screens, each answered as a whole."),
                last=nullable(
                    TEXT, description="When they were last here since the server started, UTC."
                ),
            )
        ),
        invite=string(description="The command that makes a link for somebody else."),
    ),
    for_owners=True,
)
async def _people(context: ServerContext, _: Call) -> Any:
    counted, looks = await context.thread.call(
        lambda session: (
            Counter(said.who for said in session.state.answers() if not said.source),
            session.state.book.looks_by_person(),
        )
    )
    roles, seen = context.people.roles(), context.seen
    everybody = dict.fromkeys([*roles, *counted, *seen])
    found = [
        {
            "who": who,
            "role": roles.get(who),
            "n_answers": counted.get(who, 0),
            "n_looks": looks.get(who, 0),
            "last": seen[who].isoformat(timespec="seconds") if who in seen else None,
        }
        for who in everybody
    ]
    return {"people": found, "invite": typed("invite", context.opened.path, "NAME")}


@OPERATIONS.declare(
    "GET /plot",
    "Points in the plane that shows the groups best, at most 20,000 of them.",
    reply=record(
        version=integer(description="Changes when x, y and items do."),
        axes=array(
            TEXT, minItems=2, maxItems=2, description="Empty where only nearness means something."
        ),
        n_beyond=integer(minimum=0, description="Items far beyond the others, put on the edge."),
        x=array(NUMBER),
        y=array(NUMBER),
        items=array(TEXT),
        titles=array(TEXT),
        labels=array(integer()),
        how=array(
            integer(minimum=0, maximum=4),
            description="0 unassigned, 1 predicted, 2 inferred, 3 proven, 4 asked.",
        ),
    ),
)
async def _plot(context: ServerContext, _: Call) -> Any:
    return await asyncio.to_thread(context.plot.points, context.thread.summary)


@OPERATIONS.declare(
    "GET /plot/labels",
    "Labels of the points of the plot of this version, in the same order; get the plot again if "
    "the version is another.",
    reply=record(version=integer(), labels=array(integer()), how=array(integer())),
)
async def _plot_labels(context: ServerContext, _: Call) -> Any:
    return context.plot.labels(context.thread.summary)


@OPERATIONS.declare(
    "GET /clusters",
    "All groups.",
    reply=record(
        clusters=array(
            shared(
                "ClusterSummary",
                record(
                    **_COUNTED,
                    anchor=string(
                        description="The key of the item that the number and the name belong to."
                    ),
                    aliases=_ALIASES,
                ),
            )
        )
    ),
)
async def _clusters(context: ServerContext, _: Call) -> Any:
    return {"clusters": context.views.clusters(context.thread.summary)}


_MEMBER = shared("Member", record(item=ITEM, how=HOW, probability=nullable(NUMBER)))


@OPERATIONS.declare(
    "GET /board",
    "Groups to be seen at a glance, the largest first: typical members, and those most in doubt.",
    parameters=[
        Parameter("offset", {**CLUSTER_NUMBER, "default": 0}),
        Parameter("limit", integer(minimum=1, maximum=100, default=48)),
    ],
    reply=record(
        groups=array(
            record(
                **_COUNTED,
                aliases=_ALIASES,
                n_doubtful=integer(minimum=0, description="Predicted, and below 90 % sure."),
                typical=array(ITEM, maxItems=4),
                doubtful=array(_MEMBER, maxItems=4),
            ),
            maxItems=100,
        ),
        differs=array(TEXT, description="Columns in which the groups differ."),
        total=COUNT,
    ),
)
async def _board(context: ServerContext, call: Call) -> Any:
    board = GroupBoard(context.views, context.thread.summary)
    return await asyncio.to_thread(board.page, call["offset"], call["limit"])


@OPERATIONS.declare(
    "GET /clusters/{number}",
    "The members of a group, those most in doubt first.",
    parameters=[
        Parameter("number", CLUSTER_NUMBER, "path", required=True),
        Parameter("offset", {**CLUSTER_NUMBER, "default": 0}),
        Parameter("limit", integer(minimum=1, maximum=200, default=50)),
        Parameter("how", choice(*HOWS)),
    ],
    reply=record(
        **_COUNTED,
        reference=ITEM,
        differs=array(TEXT, description="Columns in which the groups differ."),
        members=array(_MEMBER, maxItems=200),
        total=integer(minimum=0, description="Members that are known in this way."),
    ),
    errors=[NOT_FOUND],
)
async def _members(context: ServerContext, call: Call) -> Any:
    board = GroupBoard(context.views, context.thread.summary)
    found = board.members(call["number"], call["offset"], call["limit"], call.given.get("how"))
    if found is None:
        raise HttpError(NOT_FOUND, f"there is no cluster {call['number']}")
    return found


@OPERATIONS.declare(
    "GET /why",
    "Why an item is where it is, in words.",
    parameters=[Parameter("item", ITEM_KEY, required=True)],
    reply=record(text=TEXT, how=HOW),
    errors=[UNUSABLE],
)
async def _why(context: ServerContext, call: Call) -> Any:
    row, summary = context.views.row(call["item"]), context.thread.summary
    if summary.is_blank:
        return {"text": "Nothing is known yet.", "how": "unassigned"}
    recovery = summary.recovery
    text = await asyncio.to_thread(why, recovery, row, context.views)
    return {"text": text, "how": How(recovery.how_codes[row]).name.lower()}
