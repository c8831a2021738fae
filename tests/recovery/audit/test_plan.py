"""The questions of an audit, played by hand: what is asked, confirmed, moved and set apart."""

import numpy as np
import pytest

from samecluster.errors import RefutedError
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.recovery.audit.audit import Audit
from samecluster.recovery.audit.label_checks import Check
from samecluster.recovery.audit.plan import LabellingUnderAudit
from samecluster.recovery.audit.stored_labels import audited
from samecluster.recovery.distances import ScaledDistances
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.problem import Problem
from samecluster.recovery.result.how import How

SAME, DIFFERENT, UNSURE = Verdict.SAME, Verdict.DIFFERENT, Verdict.UNSURE


def play(plan, answer):
    """Drive a plan by a function of a question; what was asked, and what came back."""
    asked = []
    try:
        batch = next(plan)
        while True:
            asked += batch
            batch = plan.send([answer(question) for question in batch])
    except StopIteration as end:
        return asked, end.value


def by(truth):
    return lambda question: Verdict.of(truth[question.item] == truth[question.comparator])


def checks_of(audit: Audit, count: int) -> list[Check]:
    return audit.next_checks(count)


@pytest.fixture
def line():
    """Twelve items on a line, two clusters of six; the ends of each are asked."""
    X = np.array([[float(at)] for at in range(6)] + [[20.0 + at] for at in range(6)])
    truth = np.repeat([0, 1], 6)
    problem = Problem(X, n_clusters=None, margin=None, rng=np.random.default_rng(0))
    labelling = Labelling(problem, "test", Ledger())
    labelling.mark(np.arange(12), truth, How.PREDICTED)
    labelling.note_probability(np.full(12, 0.9))
    for item in (0, 5, 6, 11):
        labelling.confirm(item, int(truth[item]))
    return X, truth, labelling, LabellingUnderAudit(labelling, ScaledDistances(X))


def audit_of(under: LabellingUnderAudit, *, pairs: bool = False) -> Audit:
    rng = np.random.default_rng(1)
    return Audit(*under.unasked(), error=0.0, confidence=0.9, rng=rng, pairs=pairs)


def test_only_labels_that_nobody_was_asked_about_are_drawn(line) -> None:
    _, truth, labelling, under = line
    labelling.set_apart([2])
    items, labels = under.unasked()
    assert items.tolist() == [1, 3, 4, 7, 8, 9, 10]
    assert labels.tolist() == truth[items].tolist()


def test_an_item_that_answers_have_settled_is_not_compared_with_itself(line) -> None:
    """Pairs are drawn again and again: one of them may have been asked about meanwhile."""
    _, truth, labelling, under = line
    audit = audit_of(under, pairs=True)
    check = next(check for check in checks_of(audit, 12) if check.partner is not None)
    assert check.partner is not None
    labelling.confirm(check.item, int(truth[check.item]))
    asked, _ = play(under.take(audit, check), lambda _: Verdict.UNSURE)
    assert asked[0] == Question(check.item, check.partner)
    assert all(check.partner in question.pair for question in asked)


def test_a_right_label_takes_one_question_at_the_nearest_asked_member(line) -> None:
    X, truth, labelling, under = line
    audit = audit_of(under)
    (check,) = checks_of(audit, 1)
    asked, verdict = play(under.take(audit, check), by(truth))
    nearest = min((0, 5, 6, 11), key=lambda member: abs(X[member, 0] - X[check.item, 0]))
    assert (asked, verdict) == ([Question(check.item, nearest)], SAME)
    assert labelling.how[check.item] == How.ASKED
    assert labelling.probability[check.item] == 1.0


def test_a_wrong_label_is_moved_to_the_cluster_that_answers_name(line) -> None:
    _, truth, labelling, under = line
    labelling.labels[:] = truth
    labelling.labels[3] = 1
    audit = audit_of(under)
    check = next(c for c in checks_of(audit, 8) if c.item == 3)
    _, verdict = play(under.take(audit, check), by(truth))
    assert verdict is DIFFERENT
    assert (labelling.labels[3], labelling.how[3]) == (0, How.ASKED)
    assert audit.report().n_wrong_at_most <= 8


def test_an_item_of_no_cluster_becomes_an_exception(line) -> None:
    _, truth, labelling, under = line
    alone = truth.copy()
    alone[3] = 2
    audit = audit_of(under)
    check = next(c for c in checks_of(audit, 8) if c.item == 3)
    asked, _ = play(under.take(audit, check), by(alone))
    assert (labelling.labels[3], labelling.how[3]) == (-1, How.UNASSIGNED)
    assert labelling.exceptions == (3,)
    assert {q.comparator for q in asked} & {6, 11}, "it was compared with the other cluster, too"


def test_unsure_is_asked_at_further_members_and_then_leaves_the_label(line) -> None:
    _, _, labelling, under = line
    audit = audit_of(under)
    (check,) = checks_of(audit, 1)
    asked, verdict = play(under.take(audit, check), lambda _: UNSURE)
    assert verdict is UNSURE
    assert len({question.comparator for question in asked}) == 2, "both asked members were tried"
    assert labelling.how[check.item] == How.PREDICTED


def test_a_pair_that_differs_is_followed_up_item_by_item(line) -> None:
    _, truth, labelling, under = line
    wrong = 4
    labelling.labels[wrong] = 1
    audit = audit_of(under, pairs=True)
    check = next(c for c in checks_of(audit, 60) if c.partner and wrong in (c.item, c.partner))
    play(under.take(audit, check), by(truth))
    assert (labelling.labels[wrong], labelling.how[wrong]) == (0, How.ASKED)


def test_stored_labels_are_audited_and_corrected_in_place() -> None:
    truth = np.repeat([0, 1, 2], 40)
    labels, how = truth.copy(), np.full(120, How.INFERRED, dtype=np.int8)
    asked = [0, 40, 80]
    how[asked] = How.ASKED
    labels[[5, 50]] = [2, 0]
    answers = [Answer(Question(0, 40), DIFFERENT), Answer(Question(40, 80), DIFFERENT)]
    plan = audited(labels, how, answers, 0.0, 0.95, np.random.default_rng(0))
    _, report = play(plan, by(truth))
    assert np.array_equal(labels, truth), "an audit to zero error asks about every label"
    assert (how == How.ASKED).all()
    assert report.met
    assert report.n_wrong_at_most == 0


def test_stored_labels_that_are_all_wrong_end_without_a_bound() -> None:
    n = 3_000
    truth = np.arange(n)
    labels, how = np.zeros(n, np.int64), np.full(n, How.INFERRED, dtype=np.int8)
    how[0] = How.ASKED
    answers = [Answer(Question(0, 1), DIFFERENT)]
    plan = audited(labels, how, answers, 0.4, 0.9, np.random.default_rng(0))
    asked, report = play(plan, by(truth))
    assert not report.met
    assert len(asked) < n, "it gives up before all is asked"


def test_stored_labels_of_one_cluster_are_compared_and_joined_before_the_checks() -> None:
    truth = np.repeat([0, 1], [80, 40])
    labels, how = np.repeat([0, 2, 1], 40), np.full(120, How.PREDICTED, dtype=np.int8)
    how[[0, 40, 80]] = How.ASKED
    answers = [Answer(Question(0, 80), DIFFERENT), Answer(Question(40, 80), DIFFERENT)]
    plan = audited(labels, how, answers, 0.05, 0.9, np.random.default_rng(0))
    asked, report = play(plan, by(truth))
    assert asked[0] in (Question(0, 40), Question(40, 0))
    assert len(set(labels[:80].tolist())) == 1
    assert report.met
    assert report.gap.n_pairs == 0


def test_stored_labels_that_are_not_proven_after_all_are_not_called_so() -> None:
    truth = np.repeat([0, 1], 40)
    truth[5] = 1

    def stored():
        labels, how = np.repeat([0, 1], 40), np.full(80, How.PROVEN, dtype=np.int8)
        how[[0, 40]] = How.ASKED
        return labels, how

    answers, rng = [Answer(Question(0, 40), DIFFERENT)], np.random.default_rng(0)
    labels, how = stored()
    truth[6:15] = 1
    play(audited(labels, how, answers, 0.3, 0.9, rng), by(truth))
    assert (how == How.INFERRED).any(), "not everything was asked"
    assert not (how == How.PROVEN).any()
    labels, how = stored()
    with pytest.raises(RefutedError, match="margin 1"):
        play(audited(labels, how, answers, 0.0, 0.95, rng, margin=1.0), by(truth))


def test_a_label_that_nobody_was_asked_about_stands_for_its_first_item() -> None:
    truth = np.repeat([0, 1], 20)
    labels, how = truth.copy(), np.full(40, How.INFERRED, dtype=np.int8)
    labels[37] = 0
    plan = audited(labels, how, [], 0.0, 0.95, np.random.default_rng(0))
    _, report = play(plan, by(truth))
    assert np.array_equal(labels, truth)
    assert report.met
