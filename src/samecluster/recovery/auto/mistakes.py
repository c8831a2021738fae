"""The looks of people that find what a liar got wrong: one plan for each kind of mistake.

- labels that are one cluster: all anchors on boards;
- labels that are several, or worth nothing: random members beside their anchors;
- items that were misread: a sheet of those that are likeliest wrong, while it is worth a look.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from samecluster.questions.look import Board, Sheet
from samecluster.questions.pair import Question, Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.auto.checked_labels import CheckedLabels, spread

_DRAWN, _LEAST_DRAWN = 2, 12  # random members per label beside its anchor, and in all, at least
_BELIEVED, _LEVEL = 0.1, 0.05
"""Share of wrong labels that is put up with, and the level at which more are shown: of labels with
no more wrong ones at most one set in twenty is ever put aside for what random members show."""
_SHARES = np.linspace(_BELIEVED, 0.9, 17)[1:]  # of wrong ones that are weighed against it
_WRONG_AT_FIRST = 0.3
"""Share of wrong labels among random members of labels that were divided beyond which people do
better without them."""

_MIXED = 0.25  # of a sheet of one label are strangers: it is more than one cluster
_MOST_DIVIDED = 4  # labels, and at most one in four: what each costs people label a group in
_MOST_SHEETS = 8  # of doubtful items; what is left the audit shows
_WORTH_A_LOOK = 0.5
"""Labels that a sheet is expected to correct. An audit that meets one wrong label takes several
looks more, and an item on a doubtful sheet is met by an audit of 2 % one time in ten or so."""


# -- labels that are one cluster -----------------------------------------------------------------


def are_splinters(checked: CheckedLabels) -> Plan[bool]:
    """Whether on one board of random anchors more than a third are twins of others.

    Then all boards would be many, and hardly a label would be left.
    """
    size = checked.problem.looks.board
    if len(checked.anchors) <= size:
        return False
    shown = checked.rng.permutation(list(checked.anchors.values()))[:size].tolist()
    yield [Board.of(shown)]
    twins = [
        item
        for at, item in enumerate(shown)
        if any(checked.same(item, other) is Verdict.SAME for other in shown[:at])
    ]
    return len(twins) > size / 3


def tell_apart(checked: CheckedLabels) -> Plan[None]:
    """Every two anchors on one board at least; labels whose anchors are one become one."""
    anchors = list(checked.anchors.values())
    size = checked.problem.looks.board
    half = max(size // 2, 1)
    blocks = [anchors[first : first + half] for first in range(0, len(anchors), half)]
    boards = [(*one, *two) for one, two in combinations(blocks, 2)] or [tuple(anchors)]
    yield [Board.of(items) for items in boards if len(set(items)) > 1]
    kept: dict[int, int] = {}
    for label, anchor in checked.anchors.items():
        same = (of for of, a in kept.items() if checked.same(a, anchor) is Verdict.SAME)
        twin = next(same, None)
        if twin is None:
            kept[label] = anchor
        else:
            checked.relabel(checked.said == label, twin)
    checked.anchors = kept


# -- labels that are several clusters, or none ---------------------------------------------------


def members_hold(checked: CheckedLabels) -> Plan[bool]:
    """Random members beside their anchors; what is several clusters is divided."""
    shown, n_divided = list(checked.anchors), 0
    most = min(_MOST_DIVIDED, max(len(shown) // 4, 1))
    while True:
        n_shown, wrong = yield from _draw_members(checked, shown)
        n_wrong = sum(wrong.values())
        if not n_divided and too_many_wrong(n_shown, n_wrong):
            return False
        mixed = list[int]()
        for label in wrong:
            if n_divided + len(mixed) <= most and (yield from _is_mixed(checked, label)):
                mixed.append(label)
        if not mixed:
            return n_wrong <= _WRONG_AT_FIRST * n_shown
        n_divided += len(mixed)
        if n_divided > most:
            return False
        divided = list(mixed)
        for label in mixed:
            home = yield from _divide(checked, label)
            divided.append(home)
        shown = list(dict.fromkeys(label for label in divided if label in checked.anchors))


def too_many_wrong(n_seen: int, n_wrong: int) -> bool:
    """Whether random members show that more labels are wrong than is put up with.

    The mean over larger shares of their likelihood ratios is a martingale if the share is the one
    believed, and falls if it is smaller: it ever reaches 1/level with a chance of at most the
    level, whenever one looks (Ville's inequality).
    """
    right = np.log((1.0 - _SHARES) / (1.0 - _BELIEVED))
    logs = n_wrong * np.log(_SHARES / _BELIEVED) + (n_seen - n_wrong) * right
    return bool(np.exp(logs).mean() >= 1.0 / _LEVEL)


def _draw_members(
    checked: CheckedLabels, labels: Sequence[int]
) -> Plan[tuple[int, dict[int, int]]]:
    """Show members drawn by the sizes of labels, and some of each; the wrong ones of each."""
    cells = list[Question]()
    n_labelled = np.count_nonzero(np.isin(checked.said, labels))
    total = max(_DRAWN * len(labels), _LEAST_DRAWN)
    for label in labels:
        n_drawn = round(total * np.count_nonzero(checked.said == label) / n_labelled)
        drawn = checked.members(label, max(n_drawn, 1))
        cells += [Question(item, checked.anchors[label]) for item in drawn]
    checked.drawn |= {question.item for question in cells}
    yield checked.sheets(cells)
    wrong = [q.item for q in cells if checked.same(*q.pair) is not Verdict.SAME]
    return len(cells), Counter(checked.said[wrong].tolist())


def _is_mixed(checked: CheckedLabels, label: int) -> Plan[bool]:
    """Whether a sheet of members of one label has more strangers than slips would make."""
    anchor, looks = checked.anchors[label], checked.problem.looks
    drawn = checked.members(label, max(looks.sheet, 3))
    if looks.sheet > 1 and drawn:
        yield [Sheet.of(anchor, drawn)]
    else:
        yield [Question(item, anchor) for item in drawn]
    strangers = [item for item in drawn if checked.same(item, anchor) is Verdict.DIFFERENT]
    return len(strangers) > _MIXED * len(drawn)


def _divide(checked: CheckedLabels, label: int) -> Plan[int]:
    """Find out where the strangers of a label belong; its other items follow the nearest."""
    anchor = checked.anchors[label]
    members = np.flatnonzero(checked.said == label)
    said = {int(i): checked.same(int(i), anchor) for i in members[~checked.unasked()[members]]}
    strangers = [item for item, verdict in said.items() if verdict is Verdict.DIFFERENT]
    one = strangers[int(np.argmin(spread(checked.points[strangers])))]
    checked.anchors[max(checked.anchors) + 1] = one
    yield from tell_apart(checked)
    anchors = checked.anchors.items()
    home = next(of for of, a in anchors if checked.same(a, one) is Verdict.SAME)
    others = [item for item in strangers if item != one]
    if others:
        yield checked.sheets([Question(item, checked.anchors[home]) for item in others])
    own = [anchor, *(item for item, v in said.items() if v is Verdict.SAME)]
    theirs = [i for i in strangers if checked.same(i, checked.anchors[home]) is Verdict.SAME]
    checked.relabel(checked.nearer(members, theirs, own), home)
    return home


# -- items that were misread ---------------------------------------------------------------------


def worth_a_look(checked: CheckedLabels) -> list[int]:
    """The items for one sheet that are likeliest wrong; none if too few of them would be.

    Also once that many sheets were shown, whatever is found; an audit that fails begins again.
    """
    checked.weigh()
    size = max(checked.problem.looks.sheet, _LEAST_DRAWN)
    doubt = np.where(checked.unasked(), checked.doubt, 0.0)
    items = np.argsort(-doubt, kind="stable")[:size]
    items = items[doubt[items] > 0]
    expected = doubt[items].sum() * checked.surprise
    is_worth = expected >= _WORTH_A_LOOK and checked.n_sheets < _MOST_SHEETS
    return [int(item) for item in items] if is_worth else []


def look_at(checked: CheckedLabels, items: Sequence[int]) -> Plan[None]:
    """Items beside the anchors of their labels."""
    checked.n_sheets += 1
    yield checked.sheets(
        [Question(item, checked.anchors[int(checked.labels[item])]) for item in items]
    )
