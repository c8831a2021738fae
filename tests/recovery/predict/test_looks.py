"""Prediction by looks: few of them, none that asks what is known, and people who are unsure."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

from samecluster import clustering_error, recover, start
from samecluster.oracles import LabelOracle, NoisyOracle
from samecluster.oracles.base import Oracle
from samecluster.questions.ledger import Ledger
from samecluster.questions.look import (
    Board,
    CheckSheet,
    Choice,
    LookSizes,
    Marks,
    Picks,
    Sheet,
    Unions,
)
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.recovery.cluster_names import ClusterNames
from samecluster.recovery.predict.looks.look_choice import LookChoice
from samecluster.recovery.predict.looks.look_play import LookPlay
from samecluster.recovery.predict.model import Predictor
from samecluster.recovery.predict.placing import ModelPlacement
from samecluster.recovery.predict.plan import Predict


def some_digits(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    X, labels = load_digits(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(labels))[:n]
    return X[rows], labels[rows]


class Watching(LabelOracle):
    """Answers, and keeps the looks that it was shown."""

    def __init__(self, labels) -> None:
        super().__init__(labels)
        self.seen: list = []

    def bound_to(self, X):
        return self

    def choose(self, choice):
        self.seen.append(choice)
        return super().choose(choice)

    def sort(self, sheet):
        self.seen.append(sheet)
        return super().sort(sheet)

    def join(self, board):
        self.seen.append(board)
        return super().join(board)

    def check(self, sheet):
        self.seen.append(sheet)
        return super().check(sheet)


@pytest.fixture(scope="module")
def watched():
    X, labels = some_digits()
    oracle = Watching(labels)
    found = recover(X, oracle, method=Predict(0.0), looks="auto", max_looks=30, random_state=0)
    return labels, oracle.seen, found


def test_thirty_looks_label_what_takes_hundreds_of_pairs(watched) -> None:
    labels, seen, found = watched
    assert clustering_error(found.labels, labels) <= 0.02
    assert found.n_looks == 30
    assert len(seen) >= 28, "few of them are pairs"
    assert {type(look) for look in seen} == {Board, CheckSheet, Choice, Sheet}


def test_no_look_asks_what_is_known_and_no_sheet_shows_members_of_other_groups(watched) -> None:
    labels, seen, _ = watched
    ledger = Ledger()
    asked: set[int] = set()
    joined: set[int] = set()
    for look in seen:
        news = [ledger.known(question) is None for question in look.questions]
        assert any(news) if isinstance(look, Board) else all(news)
        if isinstance(look, Sheet):
            assert look.reference in asked
        if isinstance(look, CheckSheet):
            assert asked.issuperset(reference for _, reference in look.cells)
        if isinstance(look, Sheet | CheckSheet):
            items = {question.item for question in look.questions}
            assert joined.isdisjoint(items), "what answers put into a group is on no sheet"
        for question in look.questions:
            same = bool(labels[question.item] == labels[question.comparator])
            joined |= set(question.pair) if same else set()
            if same or not isinstance(look, Choice):
                ledger.record(_answer(question, same))
        if isinstance(look, Choice) and not any(
            labels[q.item] == labels[q.comparator] for q in look.questions
        ):
            for question in look.questions:
                ledger.record(_answer(question, False))
        asked |= set(look.shown)


def _answer(question: Question, same: bool) -> Answer:
    return Answer(question, Verdict.of(same))


def test_a_run_that_goes_on_from_its_answers_asks_none_of_them_again() -> None:
    X, labels = some_digits(120)
    first = recover(
        X, LabelOracle(labels), method=Predict(0.0), looks="auto", max_looks=8, random_state=0
    )
    oracle = Watching(labels)
    second = recover(
        X,
        oracle,
        method=Predict(0.0),
        looks="auto",
        max_looks=8,
        answers=first.answers,
        random_state=0,
    )
    known = Ledger(first.answers)
    assert all(known.known(q) is None for look in oracle.seen for q in look.questions)
    assert second.n_looks == first.n_looks == 8


class Unsure(Oracle):
    def answer(self, question: Question) -> Verdict:
        return Verdict.UNSURE

    def choose(self, choice: Choice) -> Picks:
        return Picks(unsure=True)

    def sort(self, sheet: Sheet) -> Marks:
        return Marks(unsure=sheet.items)

    def join(self, board: Board) -> Unions:
        return Unions(unsure=board.items)


def test_it_ends_with_somebody_who_is_never_sure() -> None:
    X, _ = load_iris(return_X_y=True)
    found = recover(X[::5], Unsure(), method=Predict(0.0), looks="auto", random_state=0)
    assert found.n_looks < 200


def test_it_ends_with_everything_known_and_survives_errors() -> None:
    X, labels = load_iris(return_X_y=True)
    found = recover(X, LabelOracle(labels), method="predict", looks="auto", random_state=0)
    assert clustering_error(found.labels, labels) <= 0.02
    assert found.n_looks <= 20
    noisy = NoisyOracle(LabelOracle(labels), p=0.02, random_state=1)
    kept = recover(X, noisy, method="predict", looks="auto", error_rate=0.02, random_state=0)
    assert clustering_error(kept.labels, labels) <= 0.1


class Two:
    """A model of two groups on a line: items 0 to 9 are near, 10 to 19 far; nobody is sure."""

    def __init__(self, unseen: float, same: float = 0.0) -> None:
        self._unseen, self._same = unseen, same
        self.out: dict[int, set[int]] = {}

    def chances(self):
        near = np.linspace(0.95, 0.05, 20)
        return np.column_stack([near, 1.0 - near])

    def alike(self, items, others):
        return np.exp(-np.abs(np.subtract.outer(np.array(items), np.array(others)) / 2.0))

    def same_groups(self):
        return np.array([[0.0, self._same], [self._same, 0.0]])

    def sizes(self):
        return {0: 10.0, 1: 10.0}

    def unseen(self):
        return self._unseen

    def outside(self, item):
        return self.out.get(item, set())

    def next_item(self, skip):
        return 9

    def drawn_items(self, count, skip):
        return [9][:count]

    def foretell(self, items):
        pass


def two_groups() -> ClusterNames:
    names = ClusterNames()
    for item in (0, 19):
        names.found(item)
    for item in (1, 2):
        names.add(item, 0)
    for item in (18, 17):
        names.add(item, 1)
    return names


def test_sheets_once_groups_are_known_choices_for_what_was_marked_boards_for_twins() -> None:
    names = two_groups()
    sheet = LookChoice(Two(0.0), names, LookSizes(sheet=4)).best(())
    assert sheet is not None
    assert sheet.kind == "sheet"
    assert len(sheet.items) == 4
    assert not set(sheet.items) & names.name_of.keys()
    gaps = np.diff(sorted(sheet.items))
    assert gaps.max() > 1, "not four neighbours"
    choosing = LookChoice(Two(0.2), names, LookSizes(sheet=4))
    choosing.mark(12, 0.9)
    marked = choosing.best(())
    assert marked is not None
    assert (marked.kind, marked.items) == ("choice", (12,))
    twins = LookChoice(Two(0.0, same=0.9), names, LookSizes()).best(())
    assert twins is not None
    assert (twins.kind, twins.groups) == ("board", (0, 1))


def test_what_was_ruled_out_is_on_no_sheet_of_that_group() -> None:
    names, model = two_groups(), Two(0.0)
    for item in range(3, 17):
        model.out[item] = {0 if item < 10 else 1}
    offer = LookChoice(model, names, LookSizes(sheet=4)).best(())
    assert offer is not None
    assert offer.kind != "sheet"


def test_points_like_those_that_were_marked_again_are_shown_on_no_sheet() -> None:
    """Points that were marked stay likely on paper: what became of others like them counts."""
    names = two_groups()
    choosing = LookChoice(Two(0.0), names, LookSizes(sheet=4))
    for item in (7, 8, 11, 12):
        choosing.mark(item, 0.1)
    before = choosing.best(())
    assert before is not None
    assert before.kind == "sheet"
    assert set(before.items) & set(choosing.waiting)
    said, marked = np.full(80, 0.6), np.arange(80) % 2 == 0
    some = ~marked & (np.arange(80) % 3 > 0)
    choosing.left.heard(said, marked, some)
    choosing.hit.heard(said, marked, some)
    after = choosing.best(())
    assert after is not None
    assert after.kind == "choice" or not set(after.items) & set(choosing.waiting)


def test_what_waits_speaks_for_groups_that_nobody_has_met() -> None:
    """Nobody found a group for long, and many points are out of all that were likely for them."""
    names = two_groups()
    choosing = LookChoice(Two(0.0), names, LookSizes(sheet=4))
    for item in (8, 9, 10, 11):
        choosing.mark(item, 0.95)
    few = choosing.best(())
    for item in range(3, 17):
        choosing.mark(item, 0.95)
        choosing.mark(item, 0.95)
    many = choosing.best(())
    assert few is not None
    assert many is not None
    assert many.kind == "choice"
    assert many.value > few.value


def test_a_point_that_is_out_of_all_groups_founds_one_without_a_look() -> None:
    X, _ = load_iris(return_X_y=True)
    names = ClusterNames()
    model = Predictor(X, names, np.random.default_rng(0))
    placing = ModelPlacement(None, names, model, LookSizes())
    for item in (0, 50):
        placing.found(item)
    for item, group in ((120, 0), (120, 1), (140, 0)):
        model.rule_out(item, group)
    looks = LookPlay(model, names, placing, LookSizes(), set(), waiting=(120, 140)).next()
    next(looks)
    assert names.representative(names.name_of[120]) == 120
    assert 140 not in names.name_of


@pytest.mark.parametrize("most", [12, 40, 65])
def test_a_budget_that_is_smaller_than_a_whole_board_is_used(most) -> None:
    """The first board of twelve is 66 pairs."""
    X, labels = some_digits()
    found = recover(
        X, LabelOracle(labels), method=Predict(), looks="auto", max_questions=most, random_state=0
    )
    assert 3 * most // 4 <= found.n_questions <= most
    assert (found.labels >= 0).all()


def many_groups(seed: int, n: int = 400, k: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """Round groups that overlap, the largest thirty times as large as the smallest."""
    rng = np.random.default_rng(seed)
    sizes = np.arange(k, 0, -1)
    truth = rng.choice(k, size=n, p=sizes / sizes.sum())
    return 1.6 * rng.normal(size=(k, 4))[truth] + rng.normal(size=(n, 4)), truth


def test_what_is_said_of_errors_and_unmet_groups_counts_what_was_marked() -> None:
    """Half of what sheets show does not belong there, and waits: that is no silence.

    Without these points a third of what was wrong was not said, and the bound on groups that nobody
    has met was too low in 2 of 18 moments, where 1 in 20 is promised.
    """
    close, below = [], []
    for seed in range(4):
        X, truth = many_groups(seed)
        oracle, n = LabelOracle(truth), 0
        run = start(X, method=Predict(0.0), looks="auto", max_looks=49, random_state=seed)
        while run.looks:
            look = run.looks[0]
            run.tell_look(look, next(reply for _, reply in oracle.reply_many([look])))
            n += 1
            if n not in (34, 49):
                continue
            known = run.snapshot() if run.looks else run.result
            foresight, met = known.foresight, np.unique(truth[known.how == "asked"])
            assert foresight is not None
            assert foresight.unseen is not None
            assert known.probability is not None
            below.append(foresight.unseen < np.mean(~np.isin(truth, met)))
            if foresight.tells:
                wrong = clustering_error(known.labels, truth)
                close.append(0.5 * wrong <= np.mean(1.0 - known.probability) <= 1.5 * wrong)
    assert len(below) == 8
    assert len(close) >= 5
    assert not any(below)
    assert all(close)


def test_copies_of_asked_points_leave_no_share_below_nothing() -> None:
    """Every row is there twice: in the end both were asked, and nothing is unseen."""
    rng = np.random.default_rng(0)
    truth = np.tile(rng.integers(0, 6, size=40), 2)
    X = np.tile(rng.normal(size=(40, 2)), (2, 1))
    found = recover(X, LabelOracle(truth), method=Predict(0.0), looks="auto", random_state=0)
    assert found.foresight is not None
    assert found.foresight.unseen is None or found.foresight.unseen >= 0.0
