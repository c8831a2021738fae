"""The small commands around a session file. What they do is in `session_work` beside this.

Nothing heavy is imported here, as help texts are made from it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from samecluster.cli.commands.label import INTERRUPTED, Show
from samecluster.cli.options import Json

__all__ = ["COMMANDS"]

SessionFile = Annotated[
    Path, typer.Argument(metavar="SESSION", help="A session file, or the data that it is beside.")
]
DataFile = Annotated[
    str | None,
    typer.Option("--data", help="The data, if it is not beside the session under its own name."),
]
Vectors = Annotated[
    Path | None, typer.Option("--vectors", help="The vectors, if they are not beside the data.")
]
Who = Annotated[str | None, typer.Option("--who", help="The name of the person.")]


def status(
    session: SessionFile,
    data: DataFile = None,
    vectors: Vectors = None,
    json: Json = False,
) -> None:
    """Say how far a session is: labels, what they rest on, clusters, and what does not fit.

    Works while somebody else is labelling.

    Example: samecluster status shells.csv.samecluster
    """
    from samecluster.cli.commands import session_work

    session_work.print_status(session, data, vectors, json)


def history(
    session: SessionFile,
    last: Annotated[int | None, typer.Option(help="Only the last so many events.")] = None,
    json: Json = False,
) -> None:
    """List what happened in a session: answers, undone ones too, imports, names, parameters.

    The number before each event is what `samecluster undo --event` takes. With --json an event a
    line.

    Example: samecluster history shells.csv.samecluster --last 20
    """
    from samecluster.cli.commands import session_work

    session_work.print_history(session, last, json)


def undo(
    session: SessionFile,
    event: Annotated[
        int | None,
        typer.Option(help="Take this event back instead: an answer, an import, an exception."),
    ] = None,
    who: Who = None,
    data: DataFile = None,
    vectors: Vectors = None,
) -> None:
    """Take back the last answer of a person, or any event by its number. Nothing is erased.

    Example: samecluster undo shells.csv.samecluster --event 17
    """
    from samecluster.cli.commands import session_work

    session_work.undo(session, event, who, data, vectors)


def name(
    session: SessionFile,
    cluster: Annotated[int, typer.Argument(help="The number of the cluster.")],
    text: Annotated[str, typer.Argument(help="Its name.")],
    who: Who = None,
    data: DataFile = None,
    vectors: Vectors = None,
) -> None:
    """Name a cluster. The name stays with it whatever is answered later.

    Example: samecluster name shells.csv.samecluster 0 periwinkle
    """
    from samecluster.cli.commands import session_work

    session_work.name_cluster(session, cluster, text, who, data, vectors)


def export(
    session: SessionFile,
    out: Annotated[
        str,
        typer.Option(
            "-o",
            "--out",
            help=".csv, .tsv, .parquet, .jsonl, or - to print; a new folder for data in blocks.",
        ),
    ],
    proof: Annotated[
        Path | None,
        typer.Option(help="Also write the proof; it reveals coordinates. `verify` checks it."),
    ] = None,
    prefix: Annotated[str, typer.Option(help="Put before the names of the new columns.")] = "",
    raw: Annotated[
        bool, typer.Option("--raw", help="Leave text that a spreadsheet would run as it is.")
    ] = False,
    data: DataFile = None,
    vectors: Vectors = None,
) -> None:
    """Write the data with a column each for cluster, how it is known, and its probability.

    Clusters that have names go by these. Works while somebody else is labelling.

    For data in blocks it writes labels.npy and how.npy for all rows, by number of cluster (how: 4
    asked, 3 proven, 2 inferred, 1 predicted, 0 without label).

    Example: samecluster export shells.csv.samecluster -o labelled.csv
    """
    from samecluster.cli.commands import session_work

    _interruptible(lambda: session_work.export(session, out, proof, prefix, raw, data, vectors))


def report(
    session: SessionFile,
    out: Annotated[Path, typer.Option("-o", "--out", help="The page to write.")] = Path(
        "report.html"
    ),
    include_items: Annotated[
        bool, typer.Option("--include-items", help="Show values of the items that were asked.")
    ] = False,
    data: DataFile = None,
    vectors: Vectors = None,
) -> None:
    """Write a report as one HTML page: clusters, questions, what labels rest on.

    It shows no values of items unless told to, but its picture shows where they lie.

    Example: samecluster report shells.csv.samecluster -o report.html
    """
    from samecluster.cli.commands import session_work

    session_work.report(session, out, include_items, data, vectors)


def doctor(
    session: SessionFile,
    save: Annotated[
        Path | None, typer.Option(help="Save the intact events in this new session file.")
    ] = None,
    json: Json = False,
) -> None:
    """Check a session file event by event, and save what is intact of a damaged one.

    Exit code 1 if it is damaged.

    Example: samecluster doctor shells.csv.samecluster --save rescued.samecluster
    """
    from samecluster.cli.commands import session_work

    if not session_work.examine(session, save, json):
        raise typer.Exit(1)


def import_(
    session: SessionFile,
    source: Annotated[
        Path, typer.Argument(help="Pairs (id, id, same or different a line) or another session.")
    ],
    who: Who = None,
    data: DataFile = None,
    vectors: Vectors = None,
    json: Json = False,
) -> None:
    """Take in answers from a file of pairs or from another session.

    They do not count as questions, and `samecluster undo --event` takes them back as a whole.
    Contradictions are listed, and then nothing is written (exit code 1).

    Example: samecluster import shells.csv.samecluster pairs.csv
    """
    from samecluster.cli.commands import session_work

    session_work.import_answers(session, source, who, data, vectors, json)


def update(
    session: SessionFile,
    data: Annotated[str, typer.Argument(help="The data as it is now.")],
    confirm: Annotated[
        bool,
        typer.Option("--confirm", help="Answers about changed items hold for what they are now."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what is added, removed and changed.")
    ] = False,
    who: Who = None,
    vectors: Vectors = None,
    json: Json = False,
) -> None:
    """Go on with other rows: all answers are kept.

    Answers about items that are gone or have changed are set aside until they are back or
    confirmed. An audit speaks of the rows before.

    Example: samecluster update shells.csv.samecluster shells.csv --dry-run
    """
    from samecluster.cli.commands import session_work

    session_work.update(session, data, confirm, dry_run, who, vectors, json)


def doubt(
    session: SessionFile,
    item: Annotated[str, typer.Argument(help="The item, as `samecluster history` names it.")],
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
    from samecluster.cli.terminal import disagreement

    place = disagreement.DisagreementRequest(session, data, vectors, who, show)
    _interruptible(lambda: disagreement.doubt(place, item))


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
    is shown with remedies, as by `samecluster doubt`. The lower number stays.

    Example: samecluster merge shells.csv.samecluster 0 2
    """
    from samecluster.cli.terminal import disagreement

    place = disagreement.DisagreementRequest(session, data, vectors, who, show)
    _interruptible(lambda: disagreement.merge(place, a, b))


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
    from samecluster.cli.terminal import disagreement

    place = disagreement.DisagreementRequest(session, data, vectors, who, show)
    _interruptible(lambda: disagreement.split(place, cluster, items))


def _interruptible(conversation: Callable[[], None]) -> None:
    try:
        conversation()
    except KeyboardInterrupt:
        typer.echo("\nStopped. All answers are kept.")
        raise typer.Exit(INTERRUPTED) from None


COMMANDS: dict[str, Callable[..., None]] = {
    "status": status,
    "history": history,
    "undo": undo,
    "name": name,
    "doubt": doubt,
    "merge": merge,
    "split": split,
    "export": export,
    "report": report,
    "doctor": doctor,
    "import": import_,
    "update": update,
}
