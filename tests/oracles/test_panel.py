"""A panel's verdicts against exact Bayes, what it learns about people, and what it remembers."""

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import beta, binomtest

from samecluster import Answer, Question, Verdict, clustering_error, recover
from samecluster.errors import InvalidInputError, OracleError, ProtocolError
from samecluster.instances import make_ellipsoids
from samecluster.oracles import FunctionOracle, LabelOracle, NoisyOracle, Oracle, Panel, RowOracle
from samecluster.questions.reliability import Reliability

NAMES = ["ann", "ben", "cem", "dot", "eve"]
WORDS = {"s": Verdict.SAME, "d": Verdict.DIFFERENT, "u": Verdict.UNSURE}

rates = st.lists(st.integers(1, 49).map(lambda e: e / 100), min_size=2, max_size=5)
confidences = st.sampled_from([0.6, 0.8, 0.9, 0.95, 0.99, 0.999])


class Scripted(Oracle):
    """Says what it is told to, and counts how often it was asked about each pair."""

    def __init__(self, says: Verdict) -> None:
        self.says = says
        self.asked: Counter[Question] = Counter()

    def answer(self, question: Question) -> Verdict:
        self.asked[question] += 1
        return self.says


def scripted(words) -> dict[str, Oracle]:
    return {name: Scripted(WORDS[word]) for name, word in zip(NAMES, words, strict=False)}


def known(errors, words, confidence) -> Panel:
    """A panel of people whose error rates are known, who say these words."""
    rates = dict(zip(NAMES, errors, strict=False))
    assume(sum(math.log((1 - e) / e) for e in errors) > math.log(confidence / (1 - confidence)))
    return Panel(scripted(words), confidence, rates, strength=math.inf)


def probability_of_same(errors: dict[str, float], votes) -> float:
    """By Bayes' rule, both verdicts being equally likely before."""
    likelihood = {True: 1.0, False: 1.0}
    for vote in votes:
        if vote.verdict is not Verdict.UNSURE:
            for truth in (True, False):
                right = (vote.verdict is Verdict.SAME) == truth
                likelihood[truth] *= 1 - errors[vote.who] if right else errors[vote.who]
    return likelihood[True] / (likelihood[True] + likelihood[False])


@given(rates, st.lists(st.sampled_from("sdu"), min_size=5, max_size=5), confidences)
def test_a_verdict_comes_as_soon_as_bayes_gives_it_the_confidence(errors, words, confidence):
    panel = known(errors, words[: len(errors)], confidence)
    by_name = dict(zip(NAMES, errors, strict=False))
    verdict = panel.answer(Question(3, 8))
    outcome = panel.outcome(Question(8, 3))
    assert outcome.verdict is verdict
    assert outcome.probability == pytest.approx(probability_of_same(by_name, outcome.votes))
    assert [by_name[str(vote.who)] for vote in outcome.votes] == sorted(errors)[
        : len(outcome.votes)
    ]
    for n in range(len(outcome.votes)):
        before = probability_of_same(by_name, outcome.votes[:n])
        assert max(before, 1 - before) < confidence, "somebody was asked without need"
    certainty = max(outcome.probability, 1 - outcome.probability)
    if verdict is Verdict.UNSURE:
        assert len(outcome.votes) == len(errors)
        assert certainty < confidence
        assert outcome.decisive is None
    else:
        assert certainty >= confidence - 1e-9
        assert (verdict is Verdict.SAME) == (outcome.probability > 0.5)
        assert outcome.decisive == outcome.votes[-1].who


@given(rates, confidences, st.booleans())
def test_with_known_error_rates_the_share_of_wrong_verdicts_is_as_promised(
    errors, confidence, same
):
    """Over all ways in which people may err, each with its probability."""
    settled = wrong = 0.0
    for errs in product([False, True], repeat=len(errors)):
        chance = math.prod(e if err else 1 - e for e, err in zip(errors, errs, strict=True))
        panel = known(errors, ["s" if err != same else "d" for err in errs], confidence)
        verdict = panel.answer(Question(0, 1))
        settled += chance * (verdict is not Verdict.UNSURE)
        wrong += chance * (verdict is Verdict.of(not same))
    assert wrong <= (1 - confidence) * settled + 1e-9


@given(st.floats(0.01, 0.9), st.floats(0.5, 200), st.floats(0, 1))
def test_learning_keeps_mean_and_variance_of_what_bayes_gives(error, strength, wrong) -> None:
    before = Reliability(error, strength)
    after = before.after(wrong)
    a, b = error * strength, (1 - error) * strength
    moments = [
        wrong * beta(a + 1, b).moment(k) + (1 - wrong) * beta(a, b + 1).moment(k) for k in (1, 2)
    ]
    fitted = beta(after.error * after.strength, (1 - after.error) * after.strength)
    assert [fitted.moment(k) for k in (1, 2)] == pytest.approx(moments, rel=1e-6)
    # Nobody else spoke to the answer: it is wrong as often as expected, and teaches nothing.
    same = before.after(before.error)
    assert (same.error, same.strength) == pytest.approx((error, strength))


def test_estimates_are_close_to_exact_bayes_over_all_error_rates() -> None:
    """Three people, forty questions, all asked: against a sum over a grid of error rates."""
    truth = LabelOracle(np.arange(80) % 2)
    people = {
        name: NoisyOracle(truth, p, random_state=seed)
        for seed, (name, p) in enumerate([("ann", 0.05), ("ben", 0.1), ("cem", 0.35)])
    }
    panel = Panel(people, confidence=1 - 1e-9, error=0.2, strength=8)
    panel.ask([Question(2 * i, 2 * i + 1 + i % 2) for i in range(39)])
    rate = (np.arange(60) + 0.5) / 60
    prior = beta(1.6, 6.4).pdf(rate)
    joint = prior[:, None, None] * prior[None, :, None] * prior[None, None, :]
    for outcome in panel.outcomes:
        said = [
            vote.verdict is Verdict.SAME for vote in sorted(outcome.votes, key=lambda v: str(v.who))
        ]
        one, other = (
            [np.where(right, 1 - rate, rate) for right in ([s == t for s in said])]
            for t in (True, False)
        )
        joint = joint * (
            one[0][:, None, None] * one[1][None, :, None] * one[2][None, None, :]
            + other[0][:, None, None] * other[1][None, :, None] * other[2][None, None, :]
        )
    joint /= joint.sum()
    exact = [float((joint.sum(axis=axes) * rate).sum()) for axes in ((1, 2), (0, 2), (0, 1))]
    assert [person.error for person in panel.report()] == pytest.approx(exact, abs=0.03)


def crowd(ps, seed: int, unit="pair", labels=None) -> dict[str, Oracle]:
    truth = LabelOracle(np.arange(300) % 5 if labels is None else labels)
    return {
        f"person {number}": NoisyOracle(truth, p, unit, random_state=1000 * seed + number)
        for number, p in enumerate(ps)
    }


def random_questions(n: int, seed: int) -> list[Question]:
    """Half of them about two items of one cluster."""
    rng = np.random.default_rng(seed)
    questions: dict[Question, None] = {}
    while len(questions) < n:
        i = int(rng.integers(300))
        j = (i + 5 * int(rng.integers(1, 60))) % 300 if rng.random() < 0.5 else rng.integers(300)
        if i != j:
            questions[Question(i, int(j))] = None
    return list(questions)


def right(question: Question) -> Verdict:
    return Verdict.of(question.item % 5 == question.comparator % 5)


def tally(p: float, confidence: float, runs: int, n: int, unit="pair") -> tuple[int, int, int, int]:
    """Questions, settled ones, wrong ones among these, and single answers."""
    n_settled = n_wrong = n_answers = 0
    for seed in range(runs):
        panel = Panel(crowd([p] * 5, seed, unit), confidence)
        for question in random_questions(n, seed):
            verdict = panel.answer(question)
            n_settled += verdict is not Verdict.UNSURE
            n_wrong += verdict not in (Verdict.UNSURE, right(question))
        n_answers += panel.n_answers
    return runs * n, n_settled, n_wrong, n_answers


@pytest.mark.parametrize("p", [0.01, 0.05, 0.1])
@pytest.mark.parametrize(("runs", "n"), [(240, 50), (12, 1000)])
def test_errors_per_pair_leave_fewer_wrong_verdicts_than_promised(p, runs, n) -> None:
    """Also while error rates are still being learned. With 99 % confidence of the test's own."""
    _, n_settled, n_wrong, n_answers = tally(p, 0.99, runs, n)
    upper = binomtest(n_wrong, n_settled).proportion_ci(0.98).high
    assert upper < 0.01
    assert n_settled > 0.9 * runs * n
    assert n_answers < 3.5 * runs * n


def test_a_bad_person_is_found_out_and_decides_little() -> None:
    panel = Panel(crowd([0.05, 0.05, 0.4, 0.05, 0.05], seed=3), confidence=0.999)
    wrong = sum(
        panel.answer(question) not in (Verdict.UNSURE, right(question))
        for question in random_questions(600, seed=3)
    )
    people = panel.report()
    bad, good = people[2], [*people[:2], *people[3:]]
    assert bad.low > 0.15
    assert all(person.high < 0.15 for person in good)
    assert bad.low < 0.4 < bad.high or abs(bad.error - 0.4) < 0.15
    assert bad.n_decisive < 0.2 * np.mean([person.n_decisive for person in good])
    assert bad.n_answers < 0.5 * np.mean([person.n_answers for person in good])
    assert wrong <= 3


def test_a_report_adds_up() -> None:
    panel = Panel(
        {**crowd([0.1, 0.2, 0.3, 0.2, 0.1], seed=1), "shy": Scripted(Verdict.UNSURE)}, 0.9
    )
    panel.ask(random_questions(80, seed=1))
    people = {person.name: person for person in panel.report()}
    assert sum(person.n_answers for person in people.values()) == panel.n_answers
    assert Counter(a.who for a in panel.answers) == {
        name: person.n_answers for name, person in people.items()
    }
    settled = [o for o in panel.outcomes if o.verdict is not Verdict.UNSURE]
    assert sum(person.n_decisive for person in people.values()) == len(settled)
    assert people["shy"].n_unsure == people["shy"].n_answers > 0
    assert people["shy"].error == pytest.approx(0.15), "unsure teaches nothing"
    outvoted = sum(
        vote.verdict not in (o.verdict, Verdict.UNSURE) for o in settled for vote in o.votes
    )
    assert sum(person.n_outvoted for person in people.values()) == outvoted > 0
    assert "decisive" in str(people["shy"])


def test_nobody_is_asked_about_a_pair_twice() -> None:
    people = {name: Scripted(WORDS[word]) for name, word in zip(NAMES, "ssdsd", strict=True)}
    panel = Panel(people, confidence=0.99)
    for _ in range(3):
        first = panel.answer(Question(4, 9))
        assert panel.ask([Question(9, 4), Question(4, 9)]) == [first, first]
    panel.again(Question(9, 4))
    panel.again(Question(9, 4), confidence=0.9999)
    assert [person.asked[Question(4, 9)] for person in people.values()] == [1] * 5
    assert panel.n_answers == 5


def test_again_asks_the_others_and_may_change_the_verdict() -> None:
    people = scripted("ssddd")
    panel = Panel(people, confidence=0.85, error=0.15, strength=math.inf)
    question = Question(0, 1)
    assert panel.answer(question) is Verdict.SAME
    assert panel.n_answers == 1
    assert panel.again(question, confidence=0.95) is Verdict.SAME
    assert panel.n_answers == 2
    assert panel.again(question) is Verdict.DIFFERENT
    assert [vote.who for vote in panel.outcome(question).votes] == NAMES
    assert panel.outcome(question).decisive == "eve"
    assert panel.weight(question) == pytest.approx(math.log(0.85 / 0.15))


def test_a_verdict_of_somebody_who_turned_out_bad_becomes_doubtful() -> None:
    """Eve's word was enough once, and then she is against everybody."""
    checked, early = Question(100, 105), Question(200, 201)
    turned = FunctionOracle(lambda i, j: i in (100, 200) or i % 5 != j % 5)
    people: dict[str, Oracle] = {"eve": turned, **crowd([0.02] * 3, seed=0)}
    panel = Panel(people, confidence=0.9, error={**dict.fromkeys(people, 0.15), "eve": 0.1})
    assert panel.ask([checked, early]) == [Verdict.SAME, Verdict.SAME]
    assert [vote.who for vote in panel.outcome(early).votes] == ["eve"]
    panel.ask(random_questions(40, seed=2))
    assert early in panel.doubtful()
    assert panel.outcome(early).verdict is Verdict.SAME, "a verdict stands until it is asked again"
    assert panel.again(early) is Verdict.DIFFERENT
    assert early not in panel.doubtful()


def test_a_person_whose_word_is_enough_is_checked_every_so_often() -> None:
    people = {"ann": Scripted(Verdict.SAME), "ben": Scripted(Verdict.SAME)}
    panel = Panel(people, confidence=0.9, error={"ann": 0.05, "ben": 0.1}, check_every=10)
    panel.ask([Question(0, i) for i in range(1, 101)])
    assert people["ann"].asked.total() == 100
    assert people["ben"].asked.total() == 10
    sure = Panel(people, confidence=0.9, error={"ann": 0.05, "ben": 0.1}, strength=math.inf)
    sure.ask([Question(0, i) for i in range(1, 101)])
    assert people["ben"].asked.total() == 10, "known error rates need no checks"


@given(st.integers(0, 50))
def test_a_panel_is_resumed_from_its_answers_without_asking_anybody(seed) -> None:
    def nobody(i: int, j: int) -> bool:
        raise AssertionError("was asked again")

    questions = random_questions(30, seed)
    panel = Panel(crowd([0.1, 0.2, 0.1], seed))
    verdicts = panel.ask(questions)
    resumed = Panel(dict.fromkeys(crowd([0] * 3, seed), nobody), answers=panel.answers)
    assert resumed.ask(questions) == verdicts
    assert resumed.outcomes == panel.outcomes
    assert resumed.report() == panel.report()
    assert resumed.n_answers == panel.n_answers


def test_when_somebody_fails_the_others_are_not_asked_again() -> None:
    class Late(Oracle):
        here = False

        def answer(self, question: Question) -> Verdict:
            if not self.here:
                raise TimeoutError(f"out for lunch when asked about {question}")
            return Verdict.SAME

    ann = Scripted(Verdict.SAME)
    panel = Panel({"ann": ann, "ben": Late()}, confidence=0.95)
    with pytest.raises(OracleError, match="out for lunch"):
        panel.answer(Question(0, 1))
    with pytest.raises(ProtocolError, match="not asked about 0 and 1"):
        panel.outcome(Question(0, 1))
    Late.here = True
    assert panel.answer(Question(0, 1)) is Verdict.SAME
    assert ann.asked.total() == 1
    assert all(person.error < 0.15 for person in panel.report()), "both agreed, and both count"


def test_a_panel_for_rows_shares_its_memory_and_refuses_other_data() -> None:
    X = np.array([[1.0], [2.0], [-1.0]])
    rows = RowOracle(lambda x, y: (x[0] > 0) == (y[0] > 0))
    panel = Panel({"ann": rows, "ben": rows, "cem": rows})
    bound = panel.bound_to(X)
    assert bound.ask([Question(0, 1), Question(1, 2)]) == [Verdict.SAME, Verdict.DIFFERENT]
    assert panel.n_answers == bound.n_answers == panel.bound_to(X).n_answers == 6
    with pytest.raises(InvalidInputError, match="other data"):
        panel.bound_to(X + 1)


def test_a_recovery_by_a_noisy_panel_is_exact_and_reported_to_the_panel() -> None:
    made = make_ellipsoids(n=2000, d=2, k=3, random_state=0)
    panel = Panel(crowd([0.05] * 5, seed=0, labels=made.labels), confidence=0.999)
    found = recover(made.X, panel, n_clusters=3, margin=1.0, random_state=0)
    assert clustering_error(found.labels, made.labels) == 0
    assert len(panel.outcomes) >= found.n_questions
    assert panel.n_answers > 2 * found.n_questions


def test_errors_that_all_share_stay_wrong_whatever_is_asked() -> None:
    """Everybody misjudges item 0: no vote, no comparator and no confidence helps."""
    labels = np.arange(60) % 3
    misled = labels.copy()
    misled[0] = 1
    panel = Panel(crowd([0.05] * 5, seed=0, labels=misled), confidence=0.999)
    verdicts = [panel.answer(Question(0, j)) for j in range(1, 60)]
    settled = [(j, v) for j, v in enumerate(verdicts, start=1) if v is not Verdict.UNSURE]
    wrong = [j for j, v in settled if v is not Verdict.of(bool(labels[j] == labels[0]))]
    assert len(settled) > 45
    assert {labels[j] for j in wrong} == {0, 1}


def test_errors_per_item_are_outvoted_by_others_and_not_by_other_comparators() -> None:
    """One person's items stay misjudged with every comparator; three others outvote them."""
    alone = NoisyOracle(LabelOracle(np.arange(300) % 5), 0.1, "item", random_state=7)
    per_item = [
        np.mean([alone.answer(q) is not right(q) for j in range(300) if (q := ask(i, j))])
        for i in range(300)
    ]
    assert set(np.round(per_item, 1)) <= {0.1, 0.9}, "an item is wrong with nearly all or few"
    _, n_settled, n_wrong, _ = tally(0.05, 0.99, runs=6, n=500, unit="item")
    assert binomtest(n_wrong, n_settled).proportion_ci(0.98).high < 0.015


def ask(i: int, j: int) -> Question | None:
    return Question(i, j) if i != j else None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"people": {}}, "at least one"),
        ({"confidence": 0.5}, "confidence must be"),
        ({"confidence": 1.0}, "confidence must be"),
        ({"error": 0.5}, "error must be"),
        ({"error": {"ann": 0.1}}, "no entry for 'ben'"),
        ({"strength": 0.0}, "strength must be"),
        ({"check_every": 0}, "check_every must be"),
        ({"strength": math.inf, "confidence": 0.99}, "out of reach: .* 0.9698"),
        ({"people": {"ann": LabelOracle([0, 0])}}, "out of reach"),
        ({"answers": [Answer(Question(0, 1), Verdict.SAME, "zoe")]}, "'zoe', who is not"),
        (
            {
                "answers": [
                    Answer(Question(0, 1), Verdict.SAME, "ann"),
                    Answer(Question(1, 0), Verdict.DIFFERENT, "ann"),
                ]
            },
            "two verdicts on",
        ),
    ],
)
def test_impossible_panels_are_refused(settings, message) -> None:
    usual = {"people": scripted("ss"), "confidence": 0.9}
    with pytest.raises(InvalidInputError, match=message):
        Panel(**{**usual, **settings})
    with pytest.raises(InvalidInputError, match="confidence must be"):
        Panel(scripted("ss")).again(Question(0, 1), confidence=1.5)
