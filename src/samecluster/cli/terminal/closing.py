"""How `samecluster cluster` ends: files, what is known, what it rests on, what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from samecluster._files import is_stdout
from samecluster._typing import IntArray
from samecluster.cli.terminal.all_rows import check_folder, written_lines
from samecluster.recovery.result.clustering_error import clustering_error
from samecluster.recovery.result.sentences import count
from samecluster.workspace.export import (
    ResultFiles,
    Snapshot,
    write_labels,
    write_proof,
    write_session_report,
)
from samecluster.workspace.next_steps import choices
from samecluster.workspace.open import OpenSession, named_in_command
from samecluster.workspace.status import session_facts
from samecluster.workspace.typed_command import typed


def check_files(opened: OpenSession, files: ResultFiles) -> None:
    """InvalidInputError now for what would fail after all questions were asked."""
    if opened.blocks is None:
        files.check(opened)
    else:
        check_folder(opened, files)


def write_files(opened: OpenSession, files: ResultFiles) -> list[str]:
    """Write what was asked for, and say so; labels of data in blocks are there already."""
    told, known = [], Snapshot.of(opened.session)
    if opened.blocks is not None:
        told += written_lines(opened, files)
    else:
        if files.out is not None:
            write_labels(opened, known, files)
            told += [] if is_stdout(files.out) else [f"Labels are in {files.out}."]
        if files.proof is not None:
            told.append(write_proof(opened, known, files.proof, force=files.force))
    if files.report is not None:
        write_session_report(opened, known, files.report, force=files.force)
        told.append(f"The report is in {files.report}; its picture shows where points lie.")
    return told


def facts(opened: OpenSession, truth: IntArray | None) -> dict[str, Any]:
    """What is known of the session, and how much of it is wrong where the truth is known."""
    labels = opened.session.snapshot().labels
    error = None if truth is None else clustering_error(labels, truth)
    return {**session_facts(opened), "error": error}


def summary(told: dict[str, Any]) -> Iterator[str]:
    """The facts for people."""
    if "points" in told:
        ways = ", ".join(f"{count:,} {how}" for how, count in told["labels"].items())
        yield f"All {told['points']:,} rows: {ways}."
    ended = f"; {told['ended']}" if told["ended"] else ""
    yield (
        f"{told['labelled']:,} of {told['items']:,} items have a label, in "
        f"{count(len(told['clusters']), 'cluster')}, after {count(told['questions'], 'question')}"
        f"{ended}."
    )
    yield from told["rests_on"]
    if told["margin_search"] is not None:
        yield f"Nobody declared a margin: {told['margin_search']}."
    for one in told["trouble"]:
        yield f"Does not fit: {one['text']}."
        yield from (f"  possible: {remedy}" for remedy in one["remedies"])
    if told["error"] is not None:
        yield f"Error against the truth: {told['error']:.2%} of the labels are wrong."


def next_steps(opened: OpenSession, has_output: bool, is_kept: bool) -> Iterator[str]:
    """What can be done now, with its price where there is one."""
    if not has_output:
        out = "a file, run the same command with -o labels.csv"
        if opened.blocks is not None:
            out = "files, run the same command with -o FOLDER"
        yield f"To have the labels in {out}."
    if not is_kept:
        return
    session = opened.session
    spent = [f"--{name.replace('_', '-')}" for name in session.state.spent_budgets]
    if spent:
        yield f"To ask more, run the same command with a larger {' and '.join(spent)}, or none."
    known = session.snapshot()
    if known.models:
        data = str(opened.data.files[0]) if opened.data.files else "DATA"
        yield (
            f"Nobody has checked what {known.models[0]} said. People can, in the same session: "
            f"{typed('serve', *named_in_command(opened.path, data), '--audit', '0.05')}"
        )
    for choice in [] if known.models else choices(known, session.state.parameters):
        audit = (choice.parameters or {}).get("audit")
        if audit is not None:
            also = "".join(f" {option} none" for option in spent)
            yield f"--audit {audit[0]:g}{also}: {choice.text.removeprefix('audit: ')}."
    quoted = shlex.quote(str(opened.path))
    yield f"Answers are in {quoted}; to look at them: samecluster status {quoted}"
    if session.trouble:
        yield f"To take an answer back by its number: samecluster undo {quoted} --event NUMBER"
