"""Rows of data in blocks that become items of a session beside those that were drawn."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from samecluster._typing import IntArray
from samecluster.large.answer_log import read_answer_log
from samecluster.large.follow import OpenRows
from samecluster.large.sweep import PIECE
from samecluster.points.survey import surveyed
from samecluster.recovery.result.sentences import count
from samecluster.workspace.in_blocks.sample import joined
from samecluster.workspace.known_answers import import_new
from samecluster.workspace.open import OpenSession


def taken_in(opened: OpenSession, to_ask: OpenRows, who: str | None) -> OpenSession:
    """The session with more rows as items."""
    data = joined(opened.data, to_ask.rows, to_ask.points)
    opened.session.update(data.keys, data.X, preparation=data.preparation.to_json(), who=who)
    return replace(opened, data=data)


def with_rows(opened: OpenSession, rows: IntArray, who: str | None) -> OpenSession:
    """The session with these rows of the data among its items; one pass if some are new."""
    blocks = opened.block_data
    new = np.setdiff1d(rows, blocks.rows)
    if not len(new):
        return opened
    _, points = surveyed(blocks.points, new, PIECE, False, threads=os.cpu_count() or 1)
    return taken_in(opened, OpenRows(new, points, 0), who)


def import_answer_log(opened: OpenSession, who: str | None) -> tuple[OpenSession, str | None]:
    """Take in ``DATA.answers.jsonl`` once, if it is there; what to tell the user of it."""
    blocks = opened.block_data
    path = Path(f"{blocks.path}.answers.jsonl")
    if not path.exists():
        return opened, None
    answers = read_answer_log(path, blocks.survey.n)
    asked = {row for answer in answers for row in answer.question.pair}
    opened = with_rows(opened, np.array(sorted(asked), dtype=np.int64), who)
    key_of = dict(zip(opened.block_data.rows.tolist(), opened.data.keys, strict=True))
    statements = [
        (key_of[answer.question.item], key_of[answer.question.comparator], answer.verdict)
        for answer in answers
    ]
    n_new = import_new(opened.session, statements, path.name, who)
    line = (
        f"{count(n_new, 'answer')} of {path} imported into {opened.path}; new ones go there, too."
    )
    return opened, line if n_new else None
