"""Answers that were kept in a file ``DATA.answers.jsonl`` before there were sessions on blocks."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from samecluster.large.answer_log import read_answer_log
from samecluster.recovery.result.sentences import count
from samecluster.workspace.in_blocks.all_rows import with_rows
from samecluster.workspace.known_answers import import_new
from samecluster.workspace.open import OpenSession


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
