"""A "same" is believed only if a second look says it too: for oracles that err, such as models."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Sequence

from samecluster.oracles.base import Oracle, OverOracle, checked_reply
from samecluster.oracles.several_at_once import in_threads
from samecluster.questions.look import (
    Board,
    CheckSheet,
    Choice,
    Look,
    Marks,
    Picks,
    Reply,
    Sheet,
    Unions,
    verdicts_of,
)
from samecluster.questions.pair import Question, Verdict

_CONTROLS = 4  # other groups that a second look shows beside that of an item

Cell = tuple[int, int]


class ConfirmedOracle(OverOracle):
    """Asks another oracle, and whatever that calls the same once more, from another side.

    The second look shows an item beside another member of its group, and, if it is about one item,
    members of other groups: who misreads an item takes it for anything. As long as there is no
    other member the two are shown in the other order. What is not confirmed is "unsure". One wrong
    "same" puts two clusters under one label; one wrong "different" makes two labels of one, which
    is seen later: so "different" is taken as it is.

    Parameters
    ----------
    oracle : a model or a program that answers looks and errs; up to ``oracle.parallel`` at a time
    max_looks : once so many were put, second ones too, there are no more second looks: what is
        called the same then is "unsure". First ones are for who puts them to count

    Attributes
    ----------
    n_looks, n_second : looks put to the oracle, second ones too, and the second ones
    n_same, n_taken_back : answers "same", and those of them that were not confirmed

    Examples
    --------
    >>> from samecluster.oracles import LabelOracle
    >>> oracle = ConfirmedOracle(LabelOracle([0, 0, 1]))
    >>> oracle.answer(Question(0, 1)), oracle.n_looks
    (<Verdict.SAME: 'same'>, 2)
    """

    def __init__(self, oracle: Oracle, max_looks: int | None = None) -> None:
        super().__init__(oracle)
        self._max_looks = max_looks
        self._mates: dict[int, list[int]] = {}  # what was confirmed to be the same
        self._second: dict[Look, int] = {}  # how many each first look took
        self._counting = threading.Lock()
        self.n_looks = self.n_second = self.n_same = self.n_taken_back = 0

    def reply_many(self, looks: Iterable[Look]) -> Generator[tuple[Look, Reply], None, None]:
        parallel = getattr(self._oracle, "parallel", 1)
        yield from in_threads(lambda look: checked_reply(self, look), looks, parallel)

    def second_looks_at(self, look: Look) -> int:
        """How many second looks it took to confirm the last reply to this one."""
        return self._second.pop(look, 0)

    def answer(self, question: Question) -> Verdict:
        said = self._ask(question)
        assert isinstance(said, Verdict)
        if said is Verdict.SAME and not self._confirmed(question, [question.pair]):
            return Verdict.UNSURE
        return said

    def choose(self, choice: Choice) -> Picks:
        said = self._ask(choice)
        assert isinstance(said, Picks)
        if not said.groups:
            return said
        cells = [(choice.item, choice.groups[place][0]) for place in said.groups]
        kept = self._confirmed(choice, cells)
        places = tuple(p for p, cell in zip(said.groups, cells, strict=True) if cell in kept)
        return Picks(places, unsure=not places)

    def sort(self, sheet: Sheet | CheckSheet) -> Marks:
        said = self._ask(sheet)
        assert isinstance(said, Marks)
        out = {*said.marked, *said.unsure, *said.skipped}
        cells = [] if said.odd_reference else [c for c in sheet.cells if c[0] not in out]
        kept = self._confirmed(sheet, cells)
        doubted = tuple(item for item, beside in cells if (item, beside) not in kept)
        return Marks(said.marked, (*said.unsure, *doubted), said.odd_reference, said.skipped)

    check = sort

    def join(self, board: Board) -> Unions:
        said = self._ask(board)
        assert isinstance(said, Unions)
        cells = [(item, group[0]) for group in said.joined for item in group[1:]]
        kept = self._confirmed(board, cells)
        doubted = tuple(item for item, beside in cells if (item, beside) not in kept)
        joined = (tuple(i for i in group if i not in doubted) for group in said.joined)
        unsure = (*said.unsure, *doubted)
        return Unions(tuple(g for g in joined if len(g) > 1), unsure, said.skipped)

    def _ask(self, look: Look) -> Reply:
        with self._counting:
            self.n_looks += 1
        return checked_reply(self._oracle, look)

    def _ask_again(self, first: Look, look: Look) -> Reply | None:
        """The reply to a second look; None if there may be no more."""
        with self._counting:
            if self._max_looks is not None and self.n_looks >= self._max_looks:
                return None
            self.n_looks += 1
            self.n_second += 1
        self._second[first] += 1
        return checked_reply(self._oracle, look)

    def _confirmed(self, first: Look, cells: Sequence[Cell]) -> set[Cell]:
        """Those of some pairs that were called the same that are so on a second look, too."""
        self._second[first] = 0
        turned = {cell: self._other_side(cell, cells) for cell in cells}
        said: dict[Cell, Verdict] = {}
        if len(cells) == 1 and (groups := self._apart(*cells[0])):
            ((item, beside),) = turned.values()
            picked = self._ask_again(first, Choice(item, ((beside,), *groups)))
            is_same = isinstance(picked, Picks) and 0 in picked.groups
            said[item, beside] = Verdict.of(is_same)
        while left := [shown for shown in turned.values() if shown not in said]:
            shown_now = {shown[0]: shown for shown in reversed(left)}.values()
            look = CheckSheet.of(shown_now)
            reply = self._ask_again(first, look)
            # What is passed over is not confirmed either, and is not put for ever.
            said |= dict.fromkeys(shown_now, Verdict.UNSURE)
            told = () if reply is None else verdicts_of(look, reply)
            said |= {(q.item, q.comparator): verdict for q, verdict in told}
        kept = {cell for cell in cells if said[turned[cell]] is Verdict.SAME}
        self.n_same += len(cells)
        self.n_taken_back += len(cells) - len(kept)
        for one, other in kept:
            self._mates.setdefault(one, []).append(other)
            self._mates.setdefault(other, []).append(one)
        return kept

    def _other_side(self, cell: Cell, cells: Sequence[Cell]) -> Cell:
        """An item beside another member of its group, or of what is put into it at a time."""
        item, beside = cell
        members = [one for one in self._mates.get(beside, ()) if one != item]
        if members:
            return item, members[self.n_looks % len(members)]  # one that was misread denies all
        others = [one for one, reference in cells if reference == beside]
        other = others[(others.index(item) + 1) % len(others)]
        return (beside, item) if other == item else (item, other)

    def _apart(self, item: int, beside: int) -> list[tuple[int]]:
        """Members of some other groups: who misreads an item takes it for anything."""
        near = {item, beside, *self._mates.get(item, ()), *self._mates.get(beside, ())}
        found: list[int] = []
        for one in reversed(list(self._mates)):  # others may add some meanwhile
            if one not in near:
                found.append(one)
                near.update((one, *self._mates[one]))
            if len(found) == _CONTROLS:
                break
        return [(one,) for one in found]
