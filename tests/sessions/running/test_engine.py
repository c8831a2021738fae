"""The engine: parameters of its run, and what it assumes when answers refute a margin."""

from dataclasses import replace

import pytest

from samecluster import start
from samecluster.questions.pair import Question
from samecluster.sessions.running.engine import Engine, audit_share, run_parameters, weaker_margin
from samecluster.sessions.state.state import State
from samecluster.sessions.storage.events import Event
from tests.cases.session_cases import AT, FAST, answer_event, instance, opened_event


def test_the_shares_of_all_audits_of_a_session_add_up_to_one() -> None:
    shares = [audit_share(earlier) for earlier in range(10_000)]
    assert shares == sorted(shares, reverse=True)
    assert 0.9999 < sum(shares) < 1


@pytest.mark.parametrize("margin", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("share", [1e-6, 0.3, 0.99, 0.9995, 1.0, 2.0])
def test_a_weaker_margin_is_below_both_the_old_one_and_the_largest_allowed(margin, share) -> None:
    weaker = weaker_margin(margin, share * margin)
    assert 0 < weaker < margin
    assert weaker < share * margin


def test_an_audit_after_another_draws_other_checks_with_less_confidence(monkeypatch) -> None:
    """Labels may have been chosen by what the checks of the first one found. Within an epoch, that
    is after an undo or a restart, the draws are the same."""
    made, seeds = instance(45), []

    def noted(*data, **parameters):
        seeds.append(parameters["random_state"])
        return start(*data, **parameters)

    monkeypatch.setattr("samecluster.sessions.running.engine.start", noted)
    begun = Event("audit", AT, None, {"error": 0.05, "confidence": 0.9})
    changed = Event("parameters", AT, None, {"parameters": {"margin": 0.5}})
    state, confidences = State(), []
    opened = opened_event(45, method=FAST, margin=1.0, audit=[0.05, 0.9])
    for event in (opened, begun, changed, changed, begun, changed):
        state.apply(replace(event, sequence=state.n_events + 1))
        Engine(made.X).follow(state)
        confidences.append(run_parameters(state)["audit"][1])
    assert seeds == [1, 1, 2, 2, 2, 3]
    assert confidences == pytest.approx([0.92, 0.92, 0.99, 0.99, 0.99, 1 - 0.1 * 0.2 / 6])


def test_a_session_answered_otherwise_than_its_plan_asks_is_opened_by_few_runs(monkeypatch) -> None:
    """As after a plan that ran on another machine: none of the answers is what this one asks."""
    made, seen = instance(60), []
    state = State()
    state.apply(replace(opened_event(60, method=FAST, margin=1.0), sequence=1))
    pairs = [(row, row + 20) for row in range(40)]
    keys = state.items.keys
    for one, two in pairs:
        verdict = "same" if made.labels[one] == made.labels[two] else "different"
        event = answer_event(keys[one], keys[two], verdict)
        state.apply(replace(event, sequence=state.n_events + 1))
    begin = Engine._start

    def counted(engine: Engine) -> None:
        begin(engine)
        seen.append(len(engine.run.ledger))

    monkeypatch.setattr(Engine, "_start", counted)
    engine = Engine(made.X)
    engine.follow(state)
    assert len(seen) <= 6
    assert all(engine.run.ledger.known(Question(*pair)) is not None for pair in pairs)
    engine.follow(state)
    assert len(seen) <= 6
