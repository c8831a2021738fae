"""Looks: what a person sees on one screen and answers as a whole.

A pair (`Question`) is the smallest look. A `Choice` shows an item and some groups, a `Sheet` some
items beside a reference, a `Board` one representative per group. Ledger, proofs and checker know
pairs only: a look says which pairs it can settle (`questions`), and turns a reply into verdicts on
them (`verdicts`). What a reply does not say about a pair stays open.

A `CheckSheet` is the sheet of an audit: cells of an item and a reference of its own, so that it
mixes groups. A screen shows ``cells``, pairs (item, reference) in their order, all alike, and is
answered with `Marks`: the items that do not belong with what is beside them. ``decoys`` are items
whose cells are known to be wrong. They must not be recognised on the screen; they settle no pair,
and whether they were marked only says how much is overlooked. That is kept in ``overlooked`` of the
look that the answers carry (`answers_of`); None means that nobody has answered it yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeAlias

from samecluster.errors import InvalidInputError
from samecluster.questions.look_sizes import PAIRS as PAIRS  # passed on, as they were here once
from samecluster.questions.look_sizes import LookSeconds as LookSeconds
from samecluster.questions.look_sizes import LookSizes as LookSizes
from samecluster.questions.pair import Answer, Question, Verdict

Known: TypeAlias = Callable[[Question], Verdict | None]
"""What the answers so far say about a pair; None where they say nothing."""


@dataclass(frozen=True)
class Picks:
    """The reply to a choice: the groups chosen, by their places; none of these, if empty.

    Several groups chosen are one cluster, with the item in it. ``unsure``: cannot be told.
    """

    groups: tuple[int, ...] = ()
    unsure: bool = False


@dataclass(frozen=True)
class Marks:
    """The reply to a sheet: the items that do not belong, and those that cannot be told.

    ``odd_reference``: it is the reference that does not belong to the items left unmarked.
    ``skipped`` items were not answered: they stay open.
    """

    marked: tuple[int, ...] = ()
    unsure: tuple[int, ...] = ()
    odd_reference: bool = False
    skipped: tuple[int, ...] = ()


@dataclass(frozen=True)
class Unions:
    """The reply to a board: the sets of items that are one cluster; all differ, if empty.

    ``unsure``: items that cannot be compared with the others. ``skipped``: those not answered.
    """

    joined: tuple[tuple[int, ...], ...] = ()
    unsure: tuple[int, ...] = ()
    skipped: tuple[int, ...] = ()


@dataclass(frozen=True)
class Choice:
    """To which of these groups does the item belong, if to any?

    The first member of a group stands for it: the answer is about the item and this member. The
    others only help to recognise the group.

    Examples
    --------
    >>> choice = Choice(7, ((1, 11), (2,), (3,)))
    >>> [(str(q), v.value) for q, v in choice.verdicts(Picks((1,)))]
    [('7 and 2', 'same')]
    >>> [(str(q), v.value) for q, v in choice.verdicts(Picks())]
    [('7 and 1', 'different'), ('7 and 2', 'different'), ('7 and 3', 'different')]
    """

    item: int
    groups: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        _check_distinct((self.item, *(item for group in self.groups for item in group)))
        if not all(self.groups) or not self.groups:
            raise InvalidInputError("a choice shows at least one group, each by at least one item")

    @classmethod
    def of(cls, item: int, groups: Iterable[tuple[int, ...]]) -> Choice | Question:
        """A choice, or a pair if there is one group only."""
        shown = tuple(groups)
        return Question(item, shown[0][0]) if len(shown) == 1 else cls(item, shown)

    @property
    def questions(self) -> tuple[Question, ...]:
        """The pairs that it can settle."""
        return tuple(Question(self.item, group[0]) for group in self.groups)

    @property
    def shown(self) -> tuple[int, ...]:
        """All items on the screen."""
        return (self.item, *(item for group in self.groups for item in group))

    def left(self, known: Known) -> Choice | Question | None:
        """What is still to be asked of it; None once the group is known, or all are ruled out."""
        verdicts = [known(question) for question in self.questions]
        open_ones = [g for g, said in zip(self.groups, verdicts, strict=True) if said is None]
        if Verdict.SAME in verdicts or not open_ones:
            return None
        return self if len(open_ones) == len(self.groups) else Choice.of(self.item, open_ones)

    def verdicts(self, reply: Picks) -> Iterator[tuple[Question, Verdict]]:
        """What a reply says, pair by pair. One group chosen says nothing about the others."""
        if strange := [place for place in reply.groups if not 0 <= place < len(self.groups)]:
            raise InvalidInputError(
                f"a choice of {len(self.groups)} groups has no group {strange[0]}"
            )
        if reply.unsure and reply.groups:
            raise InvalidInputError(
                "a choice is answered with groups or with unsure, not with both"
            )
        questions = self.questions
        if reply.groups:
            return iter([(questions[place], Verdict.SAME) for place in reply.groups])
        verdict = Verdict.UNSURE if reply.unsure else Verdict.DIFFERENT
        return iter([(question, verdict) for question in questions])


@dataclass(frozen=True)
class Sheet:
    """Which of these items do not belong with the reference?

    Examples
    --------
    >>> sheet = Sheet(4, (5, 6, 7))
    >>> [(str(q), v.value) for q, v in sheet.verdicts(Marks((6,)))]
    [('5 and 4', 'same'), ('6 and 4', 'different'), ('7 and 4', 'same')]
    """

    reference: int
    items: tuple[int, ...]

    def __post_init__(self) -> None:
        _check_distinct(self.shown)
        if not self.items:
            raise InvalidInputError("a sheet shows at least one item beside its reference")

    @classmethod
    def of(cls, reference: int, items: Iterable[int]) -> Sheet | Question:
        """A sheet, or a pair if there is one item only."""
        shown = tuple(items)
        return Question(shown[0], reference) if len(shown) == 1 else cls(reference, shown)

    @property
    def cells(self) -> tuple[tuple[int, int], ...]:
        """Each item with what it is compared with."""
        return tuple((item, self.reference) for item in self.items)

    @property
    def questions(self) -> tuple[Question, ...]:
        """The pairs that it can settle."""
        return tuple(Question(item, self.reference) for item in self.items)

    @property
    def shown(self) -> tuple[int, ...]:
        """All items on the screen."""
        return (self.reference, *self.items)

    def left(self, known: Known) -> Sheet | Question | None:
        """What is still to be asked of it."""
        open_ones = [item for item in self.items if known(Question(item, self.reference)) is None]
        if len(open_ones) == len(self.items):
            return self
        return Sheet.of(self.reference, open_ones) if open_ones else None

    def verdicts(self, reply: Marks) -> Iterator[tuple[Question, Verdict]]:
        """What a reply says, pair by pair.

        With an odd reference the unmarked items are the same among each other and different from
        it; how the marked ones compare with it was not said.
        """
        marked, unsure = _checked_marks(reply, self.items)
        answered = [item for item in self.items if item not in reply.skipped]
        fitting = [item for item in answered if item not in marked | unsure]
        if reply.odd_reference:
            if not fitting:
                raise InvalidInputError("an odd reference needs items that belong together")
            for item in fitting[1:]:
                yield Question(item, fitting[0]), Verdict.SAME
            unsure |= marked
        for item in answered:
            if item in unsure:
                verdict = Verdict.UNSURE
            else:
                verdict = Verdict.of(item not in marked and not reply.odd_reference)
            yield Question(item, self.reference), verdict


@dataclass(frozen=True)
class CheckSheet:
    """Which of these items do not belong with the reference beside them? (For random checks.)

    Examples
    --------
    >>> sheet = CheckSheet(((5, 1), (6, 2), (7, 1)), decoys=(6,))
    >>> [(a.question.pair, a.verdict.value) for a in answers_of(sheet, Marks((5,)))]
    [((1, 5), 'different'), ((1, 7), 'same')]
    >>> sheet.answered(Marks((5,))).overlooked
    (6,)
    """

    cells: tuple[tuple[int, int], ...]
    decoys: tuple[int, ...] = ()
    overlooked: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        _check_distinct(self.items)
        if any(item == reference for item, reference in self.cells) or not self.questions:
            raise InvalidInputError("a sheet shows at least one item beside another one")
        _check_known((*self.decoys, *(self.overlooked or ())), self.items, "sheet")

    @classmethod
    def of(
        cls, cells: Iterable[tuple[int, int]], decoys: Iterable[int] = ()
    ) -> CheckSheet | Question:
        """A sheet, or a pair if there is one cell only."""
        shown = tuple(cells)
        return Question(*shown[0]) if len(shown) == 1 else cls(shown, tuple(decoys))

    @property
    def items(self) -> tuple[int, ...]:
        """The items that can be marked."""
        return tuple(item for item, _ in self.cells)

    @property
    def questions(self) -> tuple[Question, ...]:
        """The pairs that it can settle; what decoys say is known."""
        return tuple(Question(*cell) for cell in self.cells if cell[0] not in self.decoys)

    @property
    def shown(self) -> tuple[int, ...]:
        """All items on the screen."""
        return tuple(item for cell in self.cells for item in cell)

    def left(self, known: Known) -> CheckSheet | Question | None:
        """What is still to be asked of it; a part of it goes without decoys."""
        questions = self.questions
        open_ones = [question for question in questions if known(question) is None]
        if len(open_ones) == len(questions):
            return self
        cells = [(question.item, question.comparator) for question in open_ones]
        return CheckSheet.of(cells) if cells else None

    def verdicts(self, reply: Marks) -> Iterator[tuple[Question, Verdict]]:
        """What a reply says of the pairs that it can settle."""
        marked, unsure = _checked_marks(reply, self.items)
        if reply.odd_reference:
            raise InvalidInputError("each item of this sheet has a reference of its own")
        for question in (q for q in self.questions if q.item not in reply.skipped):
            in_doubt = question.item in unsure
            said = Verdict.UNSURE if in_doubt else Verdict.of(question.item not in marked)
            yield question, said

    def answered(self, reply: Marks) -> CheckSheet:
        """This sheet with the decoys that were overlooked: taken for right without a doubt."""
        noticed, left_out = {*reply.marked, *reply.unsure}, set(reply.skipped)
        decoys = tuple(i for i in self.decoys if i not in left_out)
        return replace(
            self,
            cells=tuple(c for c in self.cells if c[0] not in left_out.intersection(self.decoys)),
            decoys=decoys,
            overlooked=tuple(item for item in decoys if item not in noticed),
        )


@dataclass(frozen=True)
class Board:
    """Which of these items, each standing for a group, are in one cluster?

    Examples
    --------
    >>> board = Board((1, 2, 3))
    >>> [(str(q), v.value) for q, v in board.verdicts(Unions(((1, 3),)))]
    [('1 and 3', 'same'), ('1 and 2', 'different'), ('2 and 3', 'different')]
    """

    items: tuple[int, ...]

    def __post_init__(self) -> None:
        _check_distinct(self.items)
        if len(self.items) < 2:
            raise InvalidInputError("a board shows at least two items")

    @classmethod
    def of(cls, items: Iterable[int]) -> Board | Question:
        """A board, or a pair if there are two items only."""
        shown = tuple(items)
        return Question(*shown) if len(shown) == 2 else cls(shown)

    @property
    def questions(self) -> tuple[Question, ...]:
        """The pairs that it can settle."""
        return tuple(Question(a, b) for a, b in combinations(self.items, 2))

    @property
    def shown(self) -> tuple[int, ...]:
        """All items on the screen."""
        return self.items

    def left(self, known: Known) -> Board | Question | None:
        """What is still to be asked of it: items that are in an open pair."""
        open_ones = {i for q in self.questions if known(q) is None for i in q.pair}
        if len(open_ones) == len(self.items):
            return self
        return Board.of(item for item in self.items if item in open_ones) if open_ones else None

    def verdicts(self, reply: Unions) -> Iterator[tuple[Question, Verdict]]:
        """What a reply says, pair by pair: "same" first, so that the rest may follow from it."""
        replied = (*(i for group in reply.joined for i in group), *reply.unsure, *reply.skipped)
        _check_known(replied, self.items, "board")
        cluster = {item: place for place, group in enumerate(reply.joined) for item in group}
        if both := cluster.keys() & {*reply.unsure, *reply.skipped}:
            raise InvalidInputError(f"item {min(both)} is both joined and unsure")
        if len(cluster) != sum(map(len, reply.joined)):
            raise InvalidInputError(
                "an item of a board is joined twice: join all that are one at once"
            )
        apart = []
        for question in self.questions:
            a, b = question.pair
            if not {a, b}.isdisjoint(reply.skipped):
                continue
            if a in cluster and cluster.get(a) == cluster.get(b):
                yield question, Verdict.SAME
            else:
                told = {a, b}.isdisjoint(reply.unsure)
                apart.append((question, Verdict.DIFFERENT if told else Verdict.UNSURE))
        yield from apart


Look: TypeAlias = Question | Choice | Sheet | CheckSheet | Board
Reply: TypeAlias = Verdict | Picks | Marks | Unions


def verdicts_of(look: Look, reply: Reply) -> list[tuple[Question, Verdict]]:
    """What a reply to a look says, pair by pair; InvalidInputError if it does not fit the look."""
    match look, reply:
        case Question(), Verdict():
            return [(look, reply)]
        case Choice(), Picks():
            return list(look.verdicts(reply))
        case Sheet() | CheckSheet(), Marks():
            return list(look.verdicts(reply))
        case Board(), Unions():
            return list(look.verdicts(reply))
    raise InvalidInputError(f"a {type(look).__name__.lower()} cannot be answered with {reply!r}")


def unsure_of(look: Look) -> Reply:
    """The reply that nothing about a look can be told."""
    match look:
        case Question():
            return Verdict.UNSURE
        case Choice():
            return Picks(unsure=True)
        case Sheet() | CheckSheet():
            return Marks(unsure=look.items)
        case Board():
            return Unions(unsure=look.items)


def answers_of(look: Look, reply: Reply, who: str | None = None) -> list[Answer]:
    """What a reply says as answers to pairs, which carry the look as it was answered."""
    whole = None if isinstance(look, Question) else look
    if isinstance(whole, CheckSheet) and isinstance(reply, Marks):
        whole = whole.answered(reply)
    return [Answer(question, said, who, whole) for question, said in verdicts_of(look, reply)]


def pairs_of(looks: Iterable[Look]) -> list[Question]:
    """All pairs that these looks can settle, in order."""
    return [question for look in looks for question in look.questions]


def n_looks_of(answers: Iterable[Answer]) -> int:
    """How many looks these answers came from; their order is that in which they were given."""
    return sum(1 for _ in looks_of(answers))


def n_shown_of(answers: Iterable[Answer]) -> int:
    """How many items were on all these screens together."""
    return sum(len(look.shown) for look in looks_of(answers))


def looks_of(answers: Iterable[Answer]) -> Iterator[Look]:
    """The looks that these answers came from, as they were answered."""
    before: Look | None = None
    for answer in answers:
        if answer.look is None or answer.look is not before:
            yield answer.look or answer.question
        before = answer.look


def _check_distinct(items: tuple[int, ...]) -> None:
    if len(set(items)) != len(items):
        raise InvalidInputError("a look shows each item once")


def _checked_marks(reply: Marks, items: tuple[int, ...]) -> tuple[set[int], set[int]]:
    """The items of a sheet that were marked, and those left unsure."""
    _check_known((*reply.marked, *reply.unsure, *reply.skipped), items, "sheet")
    marked, unsure, skipped = set(reply.marked), set(reply.unsure), set(reply.skipped)
    if both := (marked & unsure) | (skipped & (marked | unsure)):
        raise InvalidInputError(f"item {min(both)} is both marked and unsure")
    return marked, unsure


def _check_known(said: Iterable[int], items: tuple[int, ...], kind: str) -> None:
    if strange := set(said).difference(items):
        raise InvalidInputError(f"item {min(strange)} is not on the {kind}")
