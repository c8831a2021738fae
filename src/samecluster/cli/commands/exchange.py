"""What goes into a session and comes out of it: answers and other rows, labels and a report.

Nothing heavy is imported before a command runs, as help texts are made from this module.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from samecluster._files import is_database, is_stdout
from samecluster.cli.commands.session import (
    DataFile,
    SessionFile,
    Vectors,
    Who,
    opened_session,
    session_file,
)
from samecluster.cli.options import Force, Json
from samecluster.cli.terminal.harmless import print_json, print_lines
from samecluster.errors import InvalidInputError
from samecluster.workspace.request import Request
from samecluster.workspace.typed_command import typed

Prefix = Annotated[str, typer.Option(help="Put before the names of the new columns.")]
Raw = Annotated[
    bool, typer.Option("--raw", help="Leave text that a spreadsheet would run as it is.")
]

_MOST_LISTED = 10  # ids that `update` lists per kind of change; the rest is a number


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
    prefix: Prefix = "",
    raw: Raw = False,
    force: Force = False,
    data: DataFile = None,
    vectors: Vectors = None,
) -> None:
    """Write the data with a column each for cluster, how it is known, and its probability.

    Clusters that have names go by these. Works while somebody else is labelling.

    For data in blocks it writes labels.npy and how.npy for all rows, by number of cluster (how: 4
    asked, 3 proven, 2 inferred, 1 predicted, 0 without label).

    Example: samecluster export shells.csv.samecluster -o labelled.csv
    """
    from samecluster.cli.terminal.all_rows import export_all
    from samecluster.cli.terminal.screen import Screen
    from samecluster.recovery.result.sentences import count
    from samecluster.workspace.export import ResultFiles, Snapshot, write_labels, write_proof

    files = ResultFiles(out, proof, prefix=prefix, raw=raw, force=force)
    with opened_session(session, data, vectors, read_only=True) as opened:
        if opened.blocks is not None:
            print_lines(*export_all(Screen(stderr=True), opened, files))
            return
        files.check(opened)
        known = Snapshot.of(opened.session)
        write_labels(opened, known, files)
        lines = [f"{out} has {count(len(opened.table), 'row')}: {opened.session.progress()}."]
        if proof is not None:
            lines.append(write_proof(opened, known, proof, force=force))
        if not is_stdout(out):
            print_lines(*lines)


def report(
    session: SessionFile,
    out: Annotated[
        Path, typer.Option("-o", "--out", help="The page to write, or - to print it.")
    ] = Path("report.html"),
    include_items: Annotated[
        bool, typer.Option("--include-items", help="Show values of the items that were asked.")
    ] = False,
    force: Force = False,
    data: DataFile = None,
    vectors: Vectors = None,
) -> None:
    """Write a report as one HTML page: clusters, questions, what labels rest on.

    It shows no values of items unless told to, but its picture shows where they lie.

    Example: samecluster report shells.csv.samecluster -o report.html
    """
    from samecluster.cli.terminal.screen import Screen
    from samecluster.workspace.export import ResultFiles, Snapshot, write_session_report

    with opened_session(session, data, vectors, read_only=True) as opened:
        ResultFiles(report=out, force=force).check(opened)
        with Screen(stderr=True).waiting("drawing the report"):
            known = Snapshot.of(opened.session)
            write_session_report(opened, known, out, include_items=include_items, force=force)
    if not is_stdout(out):
        print_lines(f"The report is in {out}. Its picture shows where points lie.")


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
    from samecluster.recovery.result.sentences import count
    from samecluster.sessions.state.state import State
    from samecluster.sessions.storage.sqlite import SqliteStore
    from samecluster.workspace.known_answers import answers_of, import_new, pairs_as_answers

    with opened_session(session, data, vectors) as opened:
        keys = opened.session.state.items.keys
        n_elsewhere = 0
        if is_database(source):
            with closing(SqliteStore(source, read_only=True)) as store:
                answers, n_elsewhere = answers_of(State(store.read()), keys)
        else:
            answers = pairs_as_answers(source, keys, None)
        n_new = import_new(opened.session, answers, f"import of {source.name}", who)
        event = opened.session.state.n_events if n_new else None
        if json:
            print_json({"imported": n_new, "about_other_items": n_elsewhere, "event": event})
            return
        elsewhere = f"; about items that are not here: {n_elsewhere:,}" if n_elsewhere else ""
        known = len(answers) - n_new
        print_lines(f"{count(n_new, 'answer')} imported; there already: {known:,}{elsewhere}.")
        if event is not None:
            print_lines(f"Take them back: {typed('undo', opened.path, '--event', event)}")
        print_lines(f"{opened.session.progress()}.")


def assign(
    session: SessionFile,
    new: Annotated[str, typer.Argument(help="The new rows, with the columns of the session.")],
    out: Annotated[
        str, typer.Option("-o", "--out", help=".csv, .tsv, .parquet, .jsonl, or - to print.")
    ],
    prefix: Prefix = "",
    raw: Raw = False,
    force: Force = False,
    data: DataFile = None,
    vectors: Vectors = None,
    new_vectors: Annotated[
        Path | None, typer.Option("--new-vectors", metavar="FILE", help="Vectors of the new rows.")
    ] = None,
    json: Json = False,
) -> None:
    """Label new rows by a session's answers; nothing is asked, and the session stays as it is.

    Columns are those of the session, in any order, and are prepared as there. Each row stands by
    itself: in reach of known members it is proven (or inferred, under a guessed margin), otherwise
    predicted, or in no cluster (a blank) if it lies beyond all. A row of the session has its label
    there. Large text and Parquet files are labelled in blocks, if -o is of the same kind.

    Works while somebody else is labelling. To ask about new rows: samecluster update.

    Example: samecluster assign shells.csv.samecluster new.csv -o labelled.csv
    """
    from samecluster.cli.terminal.screen import Screen
    from samecluster.workspace.export import ResultFiles
    from samecluster.workspace.new_rows import label_new_rows

    files = ResultFiles(out, prefix=prefix, raw=raw, force=force)
    if json and is_stdout(out):
        raise InvalidInputError("only one of --json and -o can go to standard output")
    with opened_session(session, data, vectors, read_only=True) as opened:
        with Screen(stderr=True).waiting("labelling the rows"):
            labels = label_new_rows(opened, Request(data=new, vectors=new_vectors), files)
        if json:
            print_json(labels.facts())
        else:
            print_lines(*labels.lines(out), err=is_stdout(out))


def update(
    session: SessionFile,
    data: Annotated[str, typer.Argument(help="The data as it is now.")],
    keep_answers: Annotated[
        bool,
        typer.Option(
            "--keep-answers", help="Answers about changed items hold for what they are now."
        ),
    ] = False,
    confirm: Annotated[bool, typer.Option("--confirm", hidden=True)] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what is added, removed and changed.")
    ] = False,
    who: Who = None,
    vectors: Vectors = None,
    json: Json = False,
) -> None:
    """Go on with other rows: all answers are kept, and new rows are asked about first.

    `samecluster label`, `cluster` or `serve` then ask what the new rows need; nothing about rows
    whose label still follows. Labels without any question: samecluster assign.

    Answers about items that are gone or have changed are set aside until they are back or kept
    (--keep-answers). An audit speaks of the rows before.

    Example: samecluster update shells.csv.samecluster shells.csv --dry-run
    """
    from samecluster.recovery.result.sentences import count
    from samecluster.tables.messages import first_few
    from samecluster.workspace.item_names import ItemNames
    from samecluster.workspace.open import data_changes, named_in_command, reopen

    if confirm:
        raise InvalidInputError(
            "write update --keep-answers: --confirm is about second looks of models (cluster)"
        )
    path = session_file(session)
    request = Request(data=data, vectors=vectors, who=who)
    changes, now = data_changes(path, request)
    names = ItemNames(now)
    facts = asdict(changes)
    lines = [f"{changes}." if changes else "The data is what the session is about."]
    words = ("added", "removed", "changed")
    listed = {word: names.known(facts[word]) for word in words}
    lines += [
        f"  {word}: {first_few(listed[word], _MOST_LISTED)}" for word in words if listed[word]
    ]
    if not dry_run:
        with reopen(path, request, update=True) as opened:
            state = opened.session.state
            outdated = {item for vote in state.set_aside() for item in vote.items}
            present = outdated & state.items.row_of.keys()
            if keep_answers and present:
                opened.session.confirm(sorted(present), who)
            n_aside = len(opened.session.state.set_aside())
            facts |= {"set_aside": n_aside, "questions": opened.session.state.n_questions}
            lines.append(f"{opened.session.progress()}.")
            if n_aside:
                lines.append(
                    f"Set aside: {count(n_aside, 'answer')} about items that changed or are gone; "
                    "--keep-answers takes those about changed items as they are."
                )
            if changes.added and opened.session.ask():
                lines.append(
                    f"To answer what new rows need: {typed('label', *named_in_command(path, data))}"
                )
            if changes and opened.session.state.audited:
                lines.append("The bound of the audit before covers the old rows only.")
    if json:
        print_json(facts)
    else:
        print_lines(*lines)
