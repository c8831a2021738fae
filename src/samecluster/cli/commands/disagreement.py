"""The commands that disagree with labels: ``samecluster doubt``, ``merge`` and ``split``.

Nothing heavy is imported before a command runs, as help texts are made from this module.
"""

from __future__ import annotations

from typing import Annotated

import typer

from samecluster.cli.commands.label import Show
from samecluster.cli.commands.session import (
    DataFile,
    SessionFile,
    Vectors,
    Who,
    opened_session,
)


def doubt(
    session: SessionFile,
    item: Annotated[str, typer.Argument(help="The item: its id, its file name, or 'line 17'.")],
    show: Show = None,
    who: Who = None,
    data: DataFile = None,
    vectors: Vectors = None,
) -> None:
    """Say that the label of an item is wrong: it is asked against members that were asked about.

    Its own cluster comes first, and "same" ends it. Before each question it says what an answer
    would do to labels. If answers then do not fit together, the remedies are listed, each with its
    effect; choose one by its number, or decide later.

    Keys y, n, u and q, as in `samecluster label`; also from a pipe. Exit code 0 whatever the
    answers are, 2 if there is no such item.

    Example: samecluster doubt shells.csv.samecluster c17 --show length,width
    """
    from samecluster.cli.terminal.disagreement import discuss
    from samecluster.workspace.item_names import ItemNames

    with opened_session(session, data, vectors) as opened:
        item = ItemNames(opened.data).key(item)
        questions = opened.session.doubt(item, who)
        if_none = f"you were asked about {item} and every asked member of every cluster"
        discuss(opened, questions, [item], if_none, show, who)


def merge(
    session: SessionFile,
    a: Annotated[int, typer.Argument(help="The number of a cluster.")],
    b: Annotated[int, typer.Argument(help="The number of another.")],
    show: Show = None,
    who: Who = None,
    data: DataFile = None,
    vectors: Vectors = None,
) -> None:
    """Say that two clusters are one: one question about a member of each decides it.

    Before the question it says what an answer would do to labels; what then does not fit together
    is shown with remedies, as by `samecluster doubt`. The lower number stays; the other stands for
    the same cluster from then on.

    Example: samecluster merge shells.csv.samecluster 0 2
    """
    from samecluster.cli.terminal.disagreement import discuss

    with opened_session(session, data, vectors) as opened:
        a, b = opened.session.cluster(a), opened.session.cluster(b)
        question = opened.session.merge(a, b, who)
        anchors = opened.session.anchors()
        if_none = f"you were asked about all asked members of clusters {a} and {b}"
        questions = [] if question is None else [question]
        discuss(opened, questions, [anchors[a], anchors[b]], if_none, show, who)


def split(
    session: SessionFile,
    cluster: Annotated[int, typer.Argument(help="The number of the cluster.")],
    items: Annotated[list[str], typer.Argument(help="The items that do not belong to it.")],
    show: Show = None,
    who: Who = None,
    data: DataFile = None,
    vectors: Vectors = None,
) -> None:
    """Say that items do not belong to their cluster: each is asked against the cluster's anchor.

    Before each question it says what an answer would do to labels; what then does not fit together
    is shown with remedies, as by `samecluster doubt`.

    Example: samecluster split shells.csv.samecluster 0 c17 c20
    """
    from samecluster.cli.terminal.disagreement import discuss
    from samecluster.workspace.item_names import ItemNames

    with opened_session(session, data, vectors) as opened:
        named = tuple(dict.fromkeys(map(ItemNames(opened.data).key, items)))
        questions = opened.session.split(cluster, named, who)
        if_none = f"{items[0]} is what cluster {cluster} is known by; name those that do not belong"
        discuss(opened, questions, named, if_none, show, who)
