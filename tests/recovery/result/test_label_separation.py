"""Which labels answers hold and separate, and what labels that nobody compared may cost."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from samecluster import clustering_error
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.recovery.result.audit_report import AuditReport
from samecluster.recovery.result.how import How
from samecluster.recovery.result.label_separation import AnsweredLabels, LabelGap


def answered(labels, asked, said) -> AnsweredLabels:
    how = np.full(len(labels), How.INFERRED)
    how[asked] = How.ASKED
    ledger = Ledger(Answer(Question(i, j), Verdict(verdict)) for i, j, verdict in said)
    return AnsweredLabels(np.array(labels), how, ledger)


def test_holders_are_one_group_of_same_answers_the_largest() -> None:
    said = [(4, 5, "same"), (0, 1, "same"), (1, 2, "same"), (0, 6, "different")]
    found = answered([0, 0, 0, 0, 0, 0, 1, 1], [0, 1, 2, 4, 5, 6], said)
    assert found.holders(0) == [0, 1, 2]
    assert found.holders(1) == [6]
    assert found.are_separated(0, 1)
    assert not found.joined
    assert found.gap() == LabelGap(0, 0)


def test_an_unsure_answer_holds_and_separates_nothing() -> None:
    found = answered([0, 1], [0, 1], [(0, 1, "unsure")])
    assert found.holders(0) == []
    assert found.gap() == LabelGap(1, 1)


def test_an_answer_about_items_that_do_not_hold_their_label_separates_nothing() -> None:
    """Items 1 and 3 are inferred: whether they belong to their labels is not known by answers."""
    found = answered([0, 0, 1, 1], [0, 2], [(1, 3, "different"), (0, 5, "same")][:1])
    assert found.gap() == LabelGap(1, 2)


def test_each_component_of_uncompared_labels_costs_all_but_its_largest() -> None:
    """Labels of 5, 3, 2 and 4 items; only 0 and 1, and 2 and 3, were not compared."""
    labels = np.repeat([0, 1, 2, 3], [5, 3, 2, 4])
    first = [0, 5, 8, 10]
    said = [(first[a], first[b], "different") for a, b in [(0, 2), (0, 3), (1, 2), (1, 3)]]
    found = answered(labels, first, said)
    assert found.gap() == LabelGap(2, 3 + 2)
    assert list(found.open_pairs()) == [(0, 1), (3, 2)], "most at stake first"
    assert found.gap([(0, 1)]) == LabelGap(1, 2)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_the_error_is_at_most_wrong_members_and_what_the_gap_adds(data) -> None:
    """Audits: clustering error ≤ items outside their label's cluster + gap, always."""
    n, n_labels = data.draw(st.integers(2, 14)), data.draw(st.integers(1, 6))
    truth = np.array(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
    labels = np.array(data.draw(st.lists(st.integers(0, n_labels - 1), min_size=n, max_size=n)))
    first = {label: int(np.argmax(labels == label)) for label in np.unique(labels).tolist()}
    pairs = [(a, b) for a in first for b in first if a < b]
    compared = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    said = [
        (first[a], first[b], "different") for a, b in compared if truth[first[a]] != truth[first[b]]
    ]
    found = answered(labels, list(first.values()), said)
    wrong = sum(int(truth[i] != truth[first[int(labels[i])]]) for i in range(n))
    at_most = wrong + found.gap().n_more_wrong
    assert round(clustering_error(labels, truth) * n) <= at_most


def test_a_report_is_not_met_while_labels_may_be_one_cluster() -> None:
    report = AuditReport(98, 0, 0.95, 60, 0, 1, True, error=0.05)
    split = answered(np.repeat([0, 1, -1], [50, 50, 10]), [0, 50], [])
    told = report.about(split, 110)
    assert not told.met
    assert str(told) == (
        "at most 0 % of the labels are not in the cluster they stand for (95 % confidence, 60 "
        "audits, 1 round); nobody compared 2 labels: if they are one cluster, at most 50 % are "
        "wrong; 1 question would tell; 10 items without a label not counted"
    )
    said = [(0, 50, "different")]
    apart = answered(np.repeat([0, 1, -1], [50, 50, 10]), [0, 50], said)
    assert report.about(apart, 110).met
    assert str(report.about(apart, 100)).startswith("at most 0 % of the labels are wrong (95 %")
