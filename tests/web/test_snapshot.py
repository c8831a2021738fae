"""Summaries of a session: what they count, and that they never change."""

from samecluster.questions.pair import Verdict
from samecluster.web.snapshot import SessionSummary, nothing_known
from tests.cases.session_cases import instance, new_session

N = 40


def test_the_first_summary_needs_no_work() -> None:
    session = new_session(instance(N), method="everything")
    blank = SessionSummary.blank(session)
    assert blank.is_blank
    assert (blank.recovery.labels == -1).all()
    assert blank.label(3) == -1
    assert blank.progress["by_how"]["unassigned"] == blank.progress["n_items"] == N
    assert blank.progress["ended"] == ""


def test_a_summary_counts_every_item_once_and_stays_as_it_is() -> None:
    made = instance(N)
    session = new_session(made, method="everything")
    before = SessionSummary.of(session, 0)
    for _ in range(12):
        (question,) = session.ask()
        one, two = made.labels[list(question.rows)].tolist()
        session.tell(question.id, Verdict.of(one == two))
    after = SessionSummary.of(session, 1)
    assert before.progress["n_questions"] == 0
    assert after.progress["n_questions"] == 12
    assert after.sequence == session.state.n_events > before.sequence
    assert not after.is_blank
    counted = [after.counted_group(n)["by_how"] for n in after.anchors]
    labelled = sum(sum(by_how.values()) for by_how in counted)
    assert labelled == sum(after.recovery.labels >= 0)
    total = sum(after.progress["by_how"].values())
    assert total == N


def test_a_group_goes_by_its_number_and_its_name() -> None:
    anchors = {number: f"item {number}" for number in range(3)}
    summary = SessionSummary(0, 0, nothing_known(9), anchors, {1: "shells"}, {}, {})
    assert summary.group(1) == {"number": 1, "name": "shells"}
    assert summary.group(2) == {"number": 2, "name": None}
    assert summary.group(-1) is None
