"""What every method keeps to: in what it asks, in what it calls proven, and when it is stopped."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from samecluster.api import recover
from samecluster.errors import InvalidInputError
from samecluster.instances.ellipsoids import Instance, make_ellipsoids
from samecluster.oracles.labels import LabelOracle
from samecluster.proof.checker import BadProof, check
from samecluster.questions.ledger import Ledger
from samecluster.questions.look import Look, pairs_of
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.problem import BudgetSpent, Method, Problem
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery

_UNSURE_OF = 4  # one pair in 4 gets no answer from the oracle that is often unsure
_MOST_BATCHES = 100  # per point; a plan that goes on asking for so long does not end

_Answering = Callable[[Question], Verdict]


def check_method(
    method: Method, *, instances: Iterable[Instance] | None = None, writes_proof: bool = True
) -> None:
    """Check that a method keeps the promises of `samecluster.recovery.problem.Method`.

    It is run on small instances whose margin holds, with an oracle that is right, with one that is
    often unsure, and with fewer questions than it wants. That it does not read the truth is not
    checked: it is not given any.

    Parameters
    ----------
    method : such as ``samecluster.Certify()``; run many times
    instances : by default some with two or three clusters in one to three dimensions
    writes_proof : whether the labels that it calls proven have records in the proof; False if
        they rest on a theorem alone, as those of RECUR

    >>> from samecluster import AskEverything
    >>> check_method(AskEverything())
    """
    assert isinstance(method.name, str), "the name of a method is a text"
    assert method.name, "the name of a method is not empty"
    for made in _instances() if instances is None else instances:
        found = _check_repeatable(method, made, LabelOracle(made.labels).answer)
        _check_result(found)
        _check_right(found.recovery, made, all_said=True)
        unsure = _played(method, made, _often_unsure(made))
        _check_result(unsure)
        _check_right(unsure.recovery, made, all_said=False)
        for one in (found, unsure):
            if writes_proof:
                _check_proof(one.recovery)
        for limit in sorted({0, 1, len(found.questions) // 2}):
            _check_budget(method, made, limit)
        _check_without_margin(method, made)


def _instances() -> Iterable[Instance]:
    yield make_ellipsoids(n=70, d=2, k=3, random_state=0)
    yield make_ellipsoids(n=50, d=3, k=2, fill="shell", random_state=1)
    yield make_ellipsoids(n=40, d=1, k=3, sizes=[5, 2, 1], random_state=2)


def _often_unsure(made: Instance) -> _Answering:
    knows = LabelOracle(made.labels).answer

    def answer(question: Question) -> Verdict:
        return Verdict.UNSURE if sum(question.pair) % _UNSURE_OF == 0 else knows(question)

    return answer


@dataclass(frozen=True, eq=False)
class _Played:
    """A plan that was played to its end, and all that it asked and was not known."""

    recovery: Recovery
    questions: list[Question]


def _played(
    method: Method, made: Instance, answer: _Answering, *, limit: int | None = None, seed: int = 0
) -> _Played:
    """Play the method's own plan, without what `recover` puts around it."""
    ledger = Ledger()
    problem = Problem(made.X, made.n_clusters, made.margin, np.random.default_rng(seed))
    labelling = Labelling(problem, method.name, ledger)
    plan = method.plan(problem, labelling)
    asked: list[Question] = []
    try:
        batch = _checked_pairs(next(plan), len(made.X))
        for _ in range(_MOST_BATCHES * len(made.X)):
            new = [question for question in batch if ledger.known(question) is None]
            if limit is not None and len(asked) + len(new) > limit:
                plan.throw(BudgetSpent())
                raise AssertionError("a plan that is told BudgetSpent asks nothing more")
            for question in new:
                if ledger.known(question) is None:
                    ledger.record(Answer(question, answer(question)))
                    asked.append(question)
            verdicts = [_known(ledger, question) for question in batch]
            batch = _checked_pairs(plan.send(verdicts), len(made.X))
        raise AssertionError("a plan comes to an end")
    except StopIteration as stop:
        result: Any = stop.value
        assert isinstance(result, Recovery), f"a plan returns a Recovery, not {result!r}"
        return _Played(result, asked)
    except BudgetSpent:
        return _Played(labelling.recovery(), asked)


def _known(ledger: Ledger, question: Question) -> Verdict:
    verdict = ledger.known(question)
    assert verdict is not None
    return verdict


def _checked_pairs(batch: Any, n: int) -> list[Question]:
    """The pairs of a batch, which must be one."""
    assert len(batch), "a batch has a question"
    for look in batch:
        assert isinstance(look, Look), f"a batch has Questions, not {look!r}"
    pairs = pairs_of(batch)
    for question in pairs:
        first, last = question.pair
        assert 0 <= first < last < n, f"questions are about rows of X, not {question}"
    assert len(set(pairs)) == len(pairs), "a batch does not have a pair twice"
    return pairs


def _check_repeatable(method: Method, made: Instance, answer: _Answering) -> _Played:
    before = made.X.copy()
    numpy_state, python_state = _global_state(), random.getstate()
    one = _played(method, made, answer)
    _played(method, made, answer, seed=1)  # so that a method which keeps something has kept it
    two = _played(method, made, answer)
    assert (before == made.X).all(), "the rows of X stay as they are"
    assert _global_state() == numpy_state, "a method draws from problem.rng, not from np.random"
    assert random.getstate() == python_state, "a method draws from problem.rng, not from random"
    assert one.questions == two.questions, "the same seed gives the same questions"
    same = (one.recovery.labels == two.recovery.labels).all()
    same &= (one.recovery.how_codes == two.recovery.how_codes).all()
    assert same, "the same seed gives the same labels"
    return one


def _global_state() -> list[Any]:
    state: Any = np.random.get_state()  # noqa: NPY002 - to see that nothing draws from it
    return [state[0], state[1].tolist(), *state[2:]]


def _check_result(played: _Played) -> None:
    found = played.recovery
    n = len(found.points)
    assert found.labels.shape == found.how_codes.shape == (n,), "every row has a label, or -1"
    assert found.n_questions == len(played.questions), "n_questions counts what was asked"
    unlabelled = found.how_codes == How.UNASSIGNED
    assert ((found.labels == -1) == unlabelled).all(), "a label is -1 where it is unassigned"
    names = np.unique(found.labels[~unlabelled])
    assert (names == np.arange(len(names))).all(), "clusters are numbered from 0 without gaps"
    spoken_of = {item for answer in found.answers for item in answer.question.pair}
    for item in np.flatnonzero(found.how_codes == How.ASKED).tolist():
        assert item in spoken_of, f"a label is called asked if an answer is about it, not {item}"
    for answer in found.answers:
        _check_agrees(found, answer)


def _check_agrees(found: Recovery, answer: Answer) -> None:
    """An answer about two items, where both labels are said to follow from answers or rules."""
    pair = list(answer.question.pair)
    if answer.verdict is not Verdict.UNSURE and (found.how_codes[pair] >= How.INFERRED).all():
        same = bool(found.labels[pair[0]] == found.labels[pair[1]])
        assert answer.verdict is Verdict.of(same), f"labels agree with the answer: {answer}"


def _check_right(found: Recovery, made: Instance, *, all_said: bool) -> None:
    """Where pairs are unsure two names may be left of one cluster, but none is ever of two."""
    sure = found.how_codes >= How.PROVEN
    pairs = set(zip(found.labels[sure].tolist(), made.labels[sure].tolist(), strict=True))
    names, truths = [name for name, _ in pairs], [truth for _, truth in pairs]
    assert len(names) == len(set(names)), "labels called asked or proven are right"
    if all_said:
        assert len(truths) == len(set(truths)), "a cluster has one number once all is answered"


def _check_proof(found: Recovery) -> None:
    proven = np.flatnonzero(found.how_codes == How.PROVEN)
    if not len(proven):
        return
    assert found.proof is not None, "a label is called proven if there is a proof"
    try:
        shown = check(found.points, found.proof.lines()).labels
    except BadProof as error:
        raise AssertionError(f"the checker accepts the proof: {error}") from error
    assert (shown[proven] >= 0).all(), "the proof is about every label that is called proven"
    pairs = set(zip(shown[proven].tolist(), found.labels[proven].tolist(), strict=True))
    for side in zip(*pairs, strict=True):
        assert len(side) == len(set(side)), "the proof shows the labels that are called proven"


def _check_budget(method: Method, made: Instance, limit: int) -> None:
    stopped = _played(method, made, LabelOracle(made.labels).answer, limit=limit)
    _check_right(stopped.recovery, made, all_said=False)
    if limit:
        declared = {"n_clusters": made.n_clusters, "margin": made.margin}
        found = _recovered(method, made, max_questions=limit, **declared)
        assert found.n_questions <= limit, "no more than max_questions are asked"
        assert (found.labels >= 0).all(), "with max_questions every row gets the best label"


def _check_without_margin(method: Method, made: Instance) -> None:
    for n_clusters in (made.n_clusters, None):
        try:
            found = _recovered(method, made, n_clusters=n_clusters)
        except InvalidInputError:
            continue  # it may say that it needs a margin, or the number of clusters
        assert not found.count(How.PROVEN), "nothing is called proven if no margin is declared"


def _recovered(method: Method, made: Instance, **options: Any) -> Recovery:
    return recover(made.X, LabelOracle(made.labels), method=method, random_state=0, **options)
