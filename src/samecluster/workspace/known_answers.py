"""What is known before anybody is asked, as answers of a session: labels, pairs, other sessions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

from samecluster._typing import IntArray
from samecluster.questions.given_groups import groups_as_pairs
from samecluster.questions.pair import Verdict
from samecluster.sessions.session import Session
from samecluster.sessions.state.state import State
from samecluster.sessions.state.votes import majority, pair_of
from samecluster.tables import CsvOptions, Table
from samecluster.tables.known_answers import read_labels, read_pairs
from samecluster.workspace.request import Request

Statement: TypeAlias = tuple[str, str, Verdict]


def import_known(
    session: Session, table: Table, rows: IntArray, request: Request, hint_column: str | None
) -> int:
    """Take in the labels and pairs that a request names, once; how many answers were new.

    Labels in the column of hints are answers only if the request says so.
    """
    taken = 0
    is_hint = request.labels == hint_column and request.labels_as != "known"
    if request.labels is not None and not is_hint:
        answers = labels_as_answers(table, rows, request.labels, session.state.items.keys)
        taken += import_new(session, answers, f"labels in column {request.labels}", request.who)
    if request.pairs is not None:
        answers = pairs_as_answers(request.pairs, session.state.items.keys, request.asked())
        taken += import_new(session, answers, f"pairs in {request.pairs.name}", request.who)
    return taken


def import_new(session: Session, answers: Iterable[Statement], source: str, who: str | None) -> int:
    """Import what this source has not said before; AnswerError if it contradicts what was."""
    said = {
        (answer.pair, answer.verdict)
        for answer in session.state.answers()
        if answer.source == source
    }
    new = [(a, b, v) for a, b, v in answers if (pair_of((a, b)), v) not in said]
    if new:
        session.import_answers(new, source, who=who)
    return len(new)


def labels_as_hints(table: Table, rows: IntArray, column: str | None) -> list[str | None] | None:
    """The label of each item, or None; None for all if there is no such column."""
    if column is None or column not in table.names:
        return None
    label_of = dict(read_labels(table, column))
    return [label_of.get(row) for row in rows.tolist()]


def labels_as_answers(
    table: Table, rows: IntArray, column: str, keys: Sequence[str]
) -> list[Statement]:
    """What the labels in a column say about pairs of items."""
    key_of = dict(zip(rows.tolist(), keys, strict=True))
    group_of = [(key_of[row], label) for row, label in read_labels(table, column) if row in key_of]
    return groups_as_pairs(group_of, f"{table.source}: column {column!r}")


def pairs_as_answers(path: Path, keys: Sequence[str], asked: CsvOptions | None) -> list[Statement]:
    """The pairs in a file."""
    return [
        (keys[pair.row], keys[pair.other], Verdict.of(pair.same))
        for pair in read_pairs(path, keys, asked)
    ]


def answers_of(other: State, keys: Iterable[str]) -> tuple[list[Statement], int]:
    """What people said about these items in another session, and how many answers are about others.

    What language models said there stays there: here it would be taken for people's word.
    """
    known = set(keys)
    said = (majority([v for v in other.votes(pair) if v.is_trusted]) for pair in other.facts)
    facts = [fact for fact in said if fact is not None and fact.verdict is not Verdict.UNSURE]
    shared = [fact for fact in facts if known.issuperset(fact.items)]
    return [(*fact.items, fact.verdict) for fact in shared], len(facts) - len(shared)
