"""Who answers if not a person: the known truth, a program, or a language model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from samecluster._files import check_input
from samecluster._typing import IntArray
from samecluster.cli.options import LanguageModel, Program
from samecluster.cli.terminal.consent import PICTURES, agree
from samecluster.cli.terminal.screen import Screen
from samecluster.errors import InvalidInputError
from samecluster.oracles import LabelOracle
from samecluster.oracles.command_protocol import ShownItem
from samecluster.oracles.confirmed import ConfirmedOracle
from samecluster.questions.look import Look
from samecluster.questions.pair import Question, Verdict
from samecluster.recovery.result.sentences import count
from samecluster.sessions.parameters import check_people_only
from samecluster.sessions.running.drivers import Answering
from samecluster.tables.column import Column, typed_value
from samecluster.tables.known_answers import read_labels
from samecluster.tables.reading.images import is_image_folder
from samecluster.workspace.answerers import model_name, program_name, simulation_name
from samecluster.workspace.open import OpenSession
from samecluster.workspace.pair_display import checked_columns
from samecluster.workspace.request import Request, listed


@dataclass(frozen=True)
class Answerer:
    """Answers questions about the items of the session that ``follow`` was last given."""

    who: str
    parallel: int
    answering: Answering
    follow: Callable[[OpenSession], None]
    spent: Callable[[], str] = str
    looks: bool = False
    second_looks: Callable[[Look], int] | None = None


@contextmanager
def answerer_for(
    opened: OpenSession,
    request: Request,
    program: Program | None,
    truth: TrueGroups | None,
    console: Screen,
) -> Iterator[Answerer]:
    """The program or the model if there is one, else the truth."""
    if program is None:
        assert truth is not None
        yield Answerer(truth.name, 1, truth.answer, truth.follow)
        return
    columns = checked_columns(opened, listed(program.show, opened.table.names))
    if isinstance(program, LanguageModel) and not program.show:
        # Nothing leaves the machine that is not needed: the texts, or all but the names of items.
        columns = opened.options.texts or tuple(
            name for name in columns if name != opened.options.id_column
        )
        if is_image_folder(opened.table):
            columns = (PICTURES,)
    # A session that was begun without it knows nothing of the truth; the program must not see it.
    shown = ShownItems(opened, [name for name in columns if name != request.truth])

    def follow(opened: OpenSession) -> None:
        shown.follow(opened)
        if truth is not None:
            truth.follow(opened)

    if isinstance(program, LanguageModel):
        name = model_name(program.name)
        check_people_only(opened.session.state.parameters, [name])
        cache = opened.path.with_name(f"{opened.path.name}-llm.jsonl")
        with program.start(shown, cache=cache if program.is_kept else None) as asked:
            agree(console, opened, asked, program, shown.names, cache)
            opened.session.let_models_answer()
            if opened.is_new:
                # Certify takes answers for right: it would search for a margin that fits the wrong.
                method = {"name": "predict", "batch": program.parallel}
                opened.session.set_parameters(method=method)
            opened.session.widen(program.parallel)
            second = ConfirmedOracle(asked, opened.session.state.budgets_left.get("max_looks"))
            try:
                yield Answerer(
                    name,
                    program.parallel,
                    second.reply_many if program.confirm else asked.reply_many,
                    follow,
                    lambda: str(asked.spending),
                    looks=True,
                    second_looks=second.second_looks_at,
                )
            finally:
                console.print(f"{program.name}: {asked.spending}.", soft_wrap=True)
                if program.confirm:
                    back, same = second.n_taken_back, second.n_same
                    n_second = count(second.n_second, "second look")
                    console.print(f'{n_second} took back {back:,} of {same:,} answers "same".')
        return
    with program.start(shown) as oracle:
        opened.session.widen(program.parallel)
        yield Answerer(program_name(request.who), program.parallel, oracle.answer_many, follow)


class TrueGroups:
    """The true group of each item, by a column or by a .npy file with one for each row."""

    groups: IntArray

    def __init__(self, opened: OpenSession, truth: str) -> None:
        self._truth = truth
        self._is_file = opened.blocks is not None and truth.endswith(".npy")
        self.name = simulation_name(truth, self._is_file)
        self.follow(opened)

    def follow(self, opened: OpenSession) -> None:
        """Know the items that there are now."""
        by_truth = _by_file if self._is_file else _by_column
        _, groups = np.unique(by_truth(opened, self._truth), return_inverse=True)
        self.groups = np.asarray(groups, dtype=np.int64)

    def answer(self, questions: Iterable[Question]) -> Iterator[tuple[Question, Verdict]]:
        """Verdicts of somebody who never errs."""
        return LabelOracle(self.groups).answer_many(questions)


def _by_file(opened: OpenSession, path: str) -> Any:
    check_input(path)
    try:
        labels = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"--truth {path} cannot be read: {error}") from None
    blocks = opened.block_data
    if labels.shape != (blocks.survey.n,):
        raise InvalidInputError(
            f"--truth {path} must hold one label for each of {blocks.survey.n:,} rows, got shape "
            f"{labels.shape}"
        )
    return labels[blocks.rows]


def _by_column(opened: OpenSession, column: str) -> list[str]:
    table, rows = opened.table, opened.data.rows
    label_of = dict(read_labels(table, column))
    blank = [row for row in rows.tolist() if row not in label_of]
    if blank:
        raise InvalidInputError(
            f"{table.place(blank[0], column)}: the truth is blank; --truth needs a group for every "
            "item"
        )
    return [label_of[row] for row in rows.tolist()]


class ShownItems:
    """What answers sees of an item: its key, and the cells that are shown, or its picture."""

    def __init__(self, opened: OpenSession, columns: Iterable[str]) -> None:
        self.names = list(columns)
        self.follow(opened)

    def follow(self, opened: OpenSession) -> None:
        """Show the items that there are now."""
        self._opened, self._folder = opened, None
        if self.names == [PICTURES]:
            self._folder = Path(opened.data.files[0])
        names = self.names if self._folder is None else ["name"]
        self._columns = [opened.table.column(name) for name in names]

    def __call__(self, row: int) -> ShownItem:
        at = self._opened.table_row(row)
        fields = {column.name: _value(column, at) for column in self._columns}
        if self._folder is not None:  # not its name, which may tell more than the picture
            fields = {"picture": self._folder / str(self._columns[0].texts[at])}
        return ShownItem(self._opened.data.keys[row], fields)


def _value(column: Column, row: int) -> Any:
    """A number where all of the column are, else the text; None where there is nothing."""
    if column.missing[row]:
        return None
    text, numbers = column.texts[row], column.numbers
    if numbers.has_text or len(numbers.infinite):
        return text
    return typed_value(text, float(numbers.values[row]))
