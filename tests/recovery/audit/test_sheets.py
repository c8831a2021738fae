"""Audits on sheets: how many they take, what is asked, and that overlooking does not break them."""

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import stats

from samecluster import LookSizes, recover, start
from samecluster.oracles import LabelOracle, NoisyOracle
from samecluster.questions.look import CheckSheet, Choice, Marks, looks_of
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.recovery.audit.audit import Audit
from samecluster.recovery.audit.decoys import Decoys, decoys_shown
from samecluster.recovery.audit.evidence import Urn
from samecluster.recovery.audit.overlooking import Overlooking
from samecluster.recovery.predict.plan import Predict
from samecluster.recovery.result.how import How
from tests.cases.campaign import runs

CELLS = 12


def sheets_until_met(n: int, decoys: int) -> int:
    labels = np.arange(n) % 5
    per_check = decoys / (CELLS - decoys) if decoys else None
    rng = np.random.default_rng(0)
    audit = Audit(np.arange(n), labels, error=0.01, confidence=0.95, rng=rng, decoys=per_check)
    n_sheets = 0
    while not audit.met:
        n_sheets += 1
        for check in audit.next_checks(CELLS - decoys):
            audit.take(check, Verdict.SAME)
        audit.note_decoys(decoys * n_sheets, 0)
    return n_sheets


def test_one_percent_takes_26_sheets_and_30_with_a_decoy_on_each() -> None:
    assert sheets_until_met(20_000, 0) == 26
    assert sheets_until_met(20_000, 1) == 30
    assert sheets_until_met(1_800, 1) == 28


def simulated(seed: int, n: int, wrong: np.ndarray, missed: float, decoys: int) -> bool:
    """Whether somebody who overlooks a share of all wrong cells is ever told a wrong bound."""
    coins = np.random.default_rng([seed, 1])
    rng = np.random.default_rng([seed, 2])
    per_check = decoys / (CELLS - decoys) if decoys else None
    labels = np.zeros(n, dtype=int)
    audit = Audit(np.arange(n), labels, error=0.01, confidence=0.95, rng=rng, decoys=per_check)
    n_missed = 0
    for sheet in range(1, 46):
        for check in audit.next_checks(CELLS - decoys):
            seen = wrong[check.item] and coins.random() >= missed
            audit.take(check, Verdict.of(not seen))
        n_missed += int(np.count_nonzero(coins.random(decoys) < missed))
        audit.note_decoys(decoys * sheet, n_missed)
        left = np.count_nonzero(wrong) - audit._now.n_found
        if sheet % runs(9, 1) == 0 and audit.n_wrong_at_most < left:
            return True
    return False


def false_claims(n_runs: int, n: int, missed: float, decoys: int) -> int:
    wrong = np.arange(n) < n // 100 + 1  # one more than is allowed, all in one place
    return sum(simulated(seed, n, wrong, missed, decoys) for seed in range(n_runs))


@pytest.mark.parametrize("missed", [0.0, 0.1, 0.3])
def test_false_claims_are_as_rare_as_promised_whatever_is_overlooked(missed) -> None:
    n_runs = runs(30, 400)
    most = stats.binom.ppf(0.999, n_runs, 0.05)
    assert false_claims(n_runs, 3_000, missed, decoys=1) <= most


def test_without_decoys_overlooking_breaks_the_bound() -> None:
    """So the test above can fail."""
    n_runs = runs(30, 400)
    assert false_claims(n_runs, 3_000, 0.6, decoys=0) > stats.binom.ppf(0.999, n_runs, 0.05)


def test_the_bound_with_decoys_is_the_largest_number_that_some_share_allows() -> None:
    """Against a fine grid of shares, each with its quantile: never below, and hardly above."""
    n, draws, failures, delta = 600, 320, 1, 0.05
    urn, decoys = Urn(n, 7), Overlooking(delta, 0.1)
    decoys.note(30, 1)
    excluded = [decoys.excludes(urn, wrong, draws, failures, delta, 1) for wrong in range(1, n + 1)]
    first = excluded.index(True) + 1
    assert all(excluded[first - 1 :])

    def is_excluded(wrong: int) -> bool:
        shares = np.linspace(0.0, 1.0, 4_001)[:-1]
        sure = stats.binom.ppf(0.1 * delta / 2, wrong, 1.0 - shares)
        for share, v in zip(shares, sure, strict=True):
            left = max(v, urn.likeliest(draws, failures))
            coin = decoys._evidence
            share = max(share, coin.likeliest(30, 1))
            told = urn.log_strength(left, draws, failures) + coin.log_strength(share, 30, 1)
            if told < -np.log(0.9 * delta):
                return False
        return True

    assert is_excluded(first)
    assert not is_excluded(first - 2)


@pytest.mark.parametrize("n_missed", [0, 2, 10])
def test_more_overlooked_decoys_never_lower_the_bound(n_missed) -> None:
    rng = np.random.default_rng(0)
    audit = Audit(
        np.arange(2_000), np.zeros(2_000, int), error=0.01, confidence=0.95, rng=rng, decoys=0.1
    )
    for check in audit.next_checks(400):
        audit.take(check, Verdict.SAME)
    assert audit.n_wrong_at_most == 2_000, "without decoys nothing is known about overlooking"
    bounds = []
    for missed in (n_missed, n_missed + 1):
        audit.note_decoys(40, missed)
        bounds.append(audit.n_wrong_at_most)
    assert bounds[0] <= bounds[1]
    assert "if they are no easier to overlook than decoys" in str(audit.report())


def outside(item, label):
    """Items above 100 are known to be outside of every label; 0 is a member of it."""
    return ((other, label) for other in range(101, 120))


def test_sheets_hold_the_checks_in_order_and_decoys_somewhere() -> None:
    decoys = Decoys(12, 1, np.random.default_rng(0))
    cells = [Question(item, item % 3) for item in range(20, 80)]
    room = decoys.n_checks
    sheets: list[Any] = [*decoys.sheets(cells, [item % 3 for item in range(20, 80)], outside)]
    assert [q.item for sheet in sheets for q in sorted(sheet.questions, key=lambda q: q.item)] == [
        q.item for q in cells
    ]
    assert len(sheets[0].questions) == room
    assert all(len(sheet.cells) <= 12 for sheet in sheets)
    numbers = {len(sheet.decoys) for sheet in sheets}
    assert len(numbers) > 1
    shown = [cell for sheet in sheets for cell in sheet.cells if cell[0] in sheet.decoys]
    assert len(shown) == len(set(shown)), "nobody sees a decoy twice"
    places = {sheet.items.index(item) for sheet in sheets for item in sheet.decoys}
    assert len(places) > 2


def test_decoys_are_counted_from_the_answers_as_they_were_given() -> None:
    sheet = CheckSheet(((1, 0), (2, 0), (3, 0)), decoys=(2, 3))
    seen = sheet.answered(Marks((2,)))
    answers = [Answer(Question(1, 0), Verdict.SAME, None, seen)]
    assert decoys_shown(answers) == (2, 1)
    unanswered = [Answer(Question(1, 0), Verdict.SAME, None, sheet)]
    assert decoys_shown(unanswered) == (0, 0)


class Given:
    """A method that asks about a few points of each group, and predicts the rest as told."""

    name = "given"

    def __init__(self, truth: np.ndarray, labels: np.ndarray, n_asked: int = 8) -> None:
        self.truth, self.labels, self.n_asked = truth, labels, n_asked

    def plan(self, problem, labelling):
        groups = np.unique(self.truth)
        asked = {g: np.flatnonzero(self.truth == g)[: self.n_asked].tolist() for g in groups}
        firsts = [items[0] for items in asked.values()]
        yield [Question(a, b) for a, b in itertools.combinations(firsts, 2)]
        yield [Question(i, items[0]) for items in asked.values() for i in items[1:]]
        labelling.mark(np.arange(len(self.labels)), self.labels, How.PREDICTED)
        for group, items in asked.items():
            for item in items:
                labelling.confirm(item, int(group))
        return labelling.recovery()


def blobs(seed: int, n: int, n_wrong: int, k: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points, their groups, and labels of which so many are wrong, all of group 0."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(k), n // k)
    X = rng.normal(size=(len(truth), 2)) + 6.0 * np.eye(k, 2)[truth]
    labels = truth.copy()
    labels[rng.choice(np.arange(50, n // k), n_wrong, replace=False)] = 1
    return X, truth, labels


def test_an_audit_on_sheets_of_labels_in_memory() -> None:
    X, truth, labels = blobs(0, 3_000, 3)
    found = recover(
        X,
        LabelOracle(truth),
        method=Given(truth, labels),
        audit=(0.01, 0.95),
        looks="auto",
        random_state=0,
    )
    assert found.audit is not None
    assert found.audit.met
    kinds = [type(look) for look in looks_of(found.answers)]
    sheets = [look for look in looks_of(found.answers) if isinstance(look, CheckSheet)]
    assert kinds.count(CheckSheet) <= 32 + 20 * (found.audit.n_rounds - 1)
    assert found.audit.n_decoys == sum(len(sheet.decoys) for sheet in sheets) > 15
    assert all(truth[i] != truth[beside] for s in sheets for i, beside in s.cells if i in s.decoys)
    asked = {q.item for sheet in sheets for q in sheet.questions}
    moved = [look.item for look in looks_of(found.answers) if isinstance(look, Choice)]
    assert set(moved) == {item for item in asked if labels[item] != truth[item]}
    assert (found.labels[moved] == found.labels[0]).all(), "what was marked is placed at once"


def test_without_decoys_and_without_sheets() -> None:
    X, truth, labels = blobs(0, 3_000, 0)
    common: Any = {"method": Given(truth, labels), "audit": (0.01, 0.95), "random_state": 0}
    bare = recover(X, LabelOracle(truth), looks=LookSizes(decoys=0), **common)
    assert bare.audit is not None
    assert bare.audit.met
    assert bare.audit.n_decoys == 0
    assert sum(isinstance(look, CheckSheet) for look in looks_of(bare.answers)) == 25
    pairs = recover(X, lambda i, j: truth[i] == truth[j], looks="auto", **common)
    assert not any(isinstance(look, CheckSheet) for look in looks_of(pairs.answers))


def test_few_labels_are_checked_one_by_one() -> None:
    """With 1 % of 90 labels no wrong one may be overlooked, which no decoy can show."""
    X, truth, labels = blobs(0, 90, 0)
    found = recover(
        X,
        LabelOracle(truth),
        method=Given(truth, labels),
        audit=(0.01, 0.95),
        looks="auto",
        random_state=0,
    )
    assert found.audit is not None
    assert found.audit.met
    assert not any(isinstance(look, CheckSheet) for look in looks_of(found.answers))


@pytest.mark.parametrize("overlook", [0.0, 0.3])
def test_recoveries_with_too_many_errors_in_one_group_are_seldom_certified(overlook) -> None:
    n_runs, n_false = runs(3, 400), 0
    for seed in range(n_runs):
        X, truth, labels = blobs(seed, 1_500, 23)  # 1.5 % of all
        person = NoisyOracle(LabelOracle(truth), p=0.0, overlook=overlook, random_state=seed)
        found = recover(
            X,
            person,
            method=Given(truth, labels),
            audit=(0.01, 0.95),
            looks="auto",
            max_looks=60,
            random_state=seed,
        )
        assert found.audit is not None
        bound = found.audit.n_wrong_at_most
        unasked = found.how_codes != How.ASKED
        looked_at = {q.item for s in looks_of(found.answers) for q in s.questions}
        # Labels of this audit: not asked by the method. Overlooked ones count as wrong.
        audited = [i for i in range(len(truth)) if unasked[i] or i in looked_at]
        n_false += int(np.count_nonzero(found.labels[audited] != truth[audited])) > bound
    assert n_false <= stats.binom.ppf(0.999, n_runs, 0.05)


def test_whoever_answers_sheets_pair_by_pair_needs_no_decoys() -> None:
    """Sessions and programs that know only pairs are handed the pairs of a sheet."""
    X, truth, labels = blobs(0, 3_000, 0)
    run = start(X, method=Given(truth, labels), audit=(0.01, 0.95), looks="auto", random_state=0)
    while run.pending:
        for question in run.pending:
            if run.awaits(question):
                run.tell(question, same=bool(truth[question.item] == truth[question.comparator]))
    assert run.result.audit is not None
    assert run.result.audit.met
    assert run.result.audit.n_decoys == 0
    assert run.result.audit.n_audits < 330


@pytest.mark.parametrize(
    ("looks", "n_more"), [("auto", 1), ("auto", 2), ("auto", 4), ("pairs", 3), ("pairs", 17)]
)
def test_where_a_budget_ends_what_was_said_counts_and_no_label_that_was_found_wrong_stays(
    looks: Any, n_more: int
) -> None:
    """Several checks at once; the budget may end among them, or while a wrong item is placed."""
    rng = np.random.default_rng(0)
    truth = np.arange(300) % 3
    X = np.column_stack([truth * 4.0, truth**2]) + rng.normal(0, 1.3, (300, 2))
    method = Predict(expected_error=0.2, batch=4)
    settings: Any = {"method": method, "audit": (0.05, 0.9), "looks": looks, "random_state": 0}
    begun = start(X, max_questions=5_000, **settings)
    oracle = LabelOracle(truth)
    while begun.labelling.audit is None:
        look = begun.looks[0]
        begun.tell_look(look, next(reply for _, reply in oracle.reply_many([look])))
    n_looks = begun.labelling.n_looks + n_more
    found = recover(X, oracle, max_questions=5_000, max_looks=n_looks, **settings)
    assert found.n_looks == n_looks
    assert found.audit is not None
    assert found.audit.n_audits >= n_more
    for answer in found.answers:
        if answer.verdict is Verdict.DIFFERENT:
            one, two = found.labels[list(answer.question.pair)]
            assert one != two or one < 0, "an answer says that this label is wrong"
