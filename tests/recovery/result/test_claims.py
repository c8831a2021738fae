"""What a result claims: as data, in words, and for programs."""

import json
from dataclasses import replace

import numpy as np
import pytest

from samecluster import (
    Answer,
    How,
    MarginSearch,
    Predict,
    Question,
    Recovery,
    Recur,
    Verdict,
    recover,
    recover_large,
)
from samecluster.instances import make_ellipsoids
from samecluster.oracles import LabelOracle
from samecluster.recovery.result.audit_report import AuditReport
from samecluster.recovery.result.claims import Certainty, Claim
from samecluster.recovery.result.premises import (
    AnswersRight,
    ClusterCount,
    GivenLabelsRight,
    MarginHolds,
    Premise,
    PreparedFeatures,
    SeparateClusters,
    UnknownPremise,
)

MADE = make_ellipsoids(n=300, d=2, k=3, random_state=0)


def found(**declared) -> Recovery:
    return recover(MADE.X, LabelOracle(MADE.labels), random_state=0, **declared)


def by_kind(recovery) -> dict[str, Claim]:
    return {claim.kind: claim for claim in recovery.claims}


def kinds(claim: Claim) -> list[type]:
    return [type(premise) for premise in claim.premises]


def by_hand(labels: list[int], how: How, answers: list[tuple[int, int, str]], **more) -> Recovery:
    n = len(labels)
    given = tuple(Answer(Question(i, j), Verdict(word)) for i, j, word in answers)
    codes = np.full(n, how, dtype=np.int8)
    codes[[i for answer in given for i in answer.question.pair]] = How.ASKED
    told = {"method": "certify", "margin": 1.0, "n_clusters": None, **more}
    nowhere = np.full(n, -1, np.int32)
    points = np.zeros((n, 1))
    return Recovery(np.array(labels), codes, len(given), (), nowhere, given, points, **told)


def test_labels_that_follow_from_a_declared_margin_rest_on_it_at_its_resolution() -> None:
    recovery = found(margin=1.0)
    proven = by_kind(recovery)["proven"]
    assert proven.certainty is Certainty.CERTAIN
    assert kinds(proven) == [MarginHolds, AnswersRight]
    (margin, _) = proven.premises
    assert recovery.proof is not None
    assert margin == MarginHolds(1.0, False, tuple(recovery.proof.resolution.tolist()), ())
    assert np.array_equal(proven.items, np.flatnonzero(recovery.how_codes == How.PROVEN))
    assert proven.n_items == recovery.count(How.PROVEN)


def test_the_number_of_clusters_is_a_premise_where_it_was_used() -> None:
    by_count = found(margin=1.0, n_clusters=3)
    assert ClusterCount in kinds(by_kind(by_count)["proven"])
    assert ClusterCount not in kinds(by_kind(found(margin=1.0))["proven"])
    without_log = found(method=Recur(), margin=1.0, n_clusters=3)
    assert ClusterCount in kinds(by_kind(without_log)["proven"])


def test_labels_of_a_method_that_goes_beyond_its_guarantee_rest_on_more_than_the_margin() -> None:
    recovery = found(method=Recur(capped=False, expansion="paper"), margin=1.0, n_clusters=3)
    assert UnknownPremise in kinds(by_kind(recovery)["inferred"])


def test_answers_alone_do_not_bear_labels_that_only_a_proof_tells_apart() -> None:
    told = by_hand([0, 0, 1, 1], How.PROVEN, [(0, 1, "same"), (2, 3, "same")])
    assert SeparateClusters in kinds(by_kind(told)["asked"])
    assert by_kind(told)["uncompared"].number == 1
    compared = by_hand(
        [0, 0, 1, 1], How.PROVEN, [(0, 1, "same"), (2, 3, "same"), (1, 2, "different")]
    )
    assert kinds(by_kind(compared)["asked"]) == [AnswersRight]
    assert "uncompared" not in by_kind(compared)


def test_an_asked_item_that_no_answer_joins_to_its_cluster_rests_on_more_than_answers() -> None:
    """Item 2 was only found to differ from cluster 1: with three clusters it could be in any."""
    said = [(0, 1, "different"), (2, 1, "different"), (0, 3, "same")]
    told = by_hand([0, 1, 0, 0], How.PROVEN, said, n_clusters=2)
    assert kinds(by_kind(told)["asked"]) == [MarginHolds, ClusterCount, AnswersRight]


def test_a_budget_leaves_clusters_that_nobody_compared() -> None:
    recovery = found(margin=1.0, max_questions=3)
    told = by_kind(recovery)["uncompared"]
    assert told.separate is not None
    assert told.number == told.separate.n_pairs == len(list(told.separate.pairs()))
    assert str(told).startswith("Nobody has told")


def test_a_prediction_is_an_estimate_and_an_audit_is_at_its_confidence() -> None:
    recovery = found(method=Predict(), max_questions=40, audit=(0.1, 0.9))
    told = by_kind(recovery)
    assert told["predicted"].certainty is Certainty.ESTIMATED
    assert recovery.probability is not None
    predicted = recovery.how_codes == How.PREDICTED
    wrong = float(np.mean(1 - recovery.probability[predicted]))
    assert recovery.foresight is not None
    assert not recovery.foresight.tells, "too few answers to compare with"
    assert told["predicted"].number is None
    tells = replace(recovery, foresight=recovery.foresight._replace(n_records=50))
    assert by_kind(tells)["predicted"].number == pytest.approx(wrong)
    assert told["audit"].certainty is Certainty.CONFIDENT
    assert told["audit"].confidence == 0.9
    assert recovery.audit is not None
    assert told["audit"].number == recovery.audit.n_wrong_at_most


def test_the_bound_of_an_audit_does_not_count_what_only_a_proof_tells_apart() -> None:
    report = AuditReport(300, 3, 0.95, 300, 0, 1, True)
    told = by_hand([0, 0, 1, 1], How.PROVEN, [(0, 1, "same"), (2, 3, "same")], audit=report)
    audit = by_kind(told)["audit"]
    assert kinds(audit) == [SeparateClusters, AnswersRight]
    assert "nobody compared 2 labels" in str(audit)
    assert audit.as_dict()["details"]["n_more_wrong"] == 2


def test_claims_are_plain_values_for_programs() -> None:
    for recovery in (found(margin=1.0), found(max_questions=4), found(audit=(0.1, 0.9))):
        read = json.loads(json.dumps([claim.as_dict() for claim in recovery.claims]))
        assert [claim["text"] for claim in read] == list(recovery.assumptions)
        for claim in read:
            assert [p["kind"] in PREMISES for p in claim["premises"]] == [True] * len(
                claim["premises"]
            )


PREMISES: dict[str, Premise] = {
    premise.kind: premise
    for premise in (
        AnswersRight(),
        GivenLabelsRight(("model tiny",)),
        MarginHolds(0.5, resolution=(1e-9, 2e-9), exceptions=(3,)),
        PreparedFeatures(3, ("price",)),
        ClusterCount(3),
        SeparateClusters((0, 1, 2), frozenset({(0, 1)})),
        UnknownPremise(),
    )
}


def test_each_kind_of_premise_has_a_clause() -> None:
    assert {cls.kind for cls in Premise.__subclasses__()} == set(PREMISES)
    assert [str(premise) for premise in PREMISES.values()] == [
        "the answers are right",
        "the labels that model tiny gave are right",
        "every cluster has margin 0.5 (resolution up to 2e-09) but for 1 exception",
        "that is so with 3 missing cells filled in by medians and with logarithms of price",
        "there are exactly 3 clusters",
        "the 2 pairs of clusters that no answer separates are different",
        "a premise holds that nobody vouches for",
    ]
    assert str(MarginHolds(0.418, guessed=True)) == "every cluster has the guessed margin of 0.418"


def test_words_are_the_same_wherever_they_are_shown(tmp_path) -> None:
    recovery = found(margin=1.0)
    assert recovery.assumptions == tuple(str(claim) for claim in recovery.claims)
    for line in recovery.assumptions:
        assert line in recovery._repr_html_()
    large = recover_large(MADE.X, LabelOracle(MADE.labels), margin=1.0, random_state=0)
    assert large.assumptions == recovery.assumptions


def test_a_guessed_margin_is_called_so() -> None:
    told = by_hand(
        [0, 0, 0], How.INFERRED, [(0, 1, "same")], margin=0.42, search=MarginSearch(0.42, (), 3)
    )
    assert str(by_kind(told)["inferred"]) == (
        "1 label is inferred, right if every cluster has the guessed margin of 0.42 and the "
        "answers are right."
    )


def test_claims_about_a_run_without_answers_promise_nothing_of_labels() -> None:
    told = by_hand([-1, -1], How.UNASSIGNED, [])
    assert told.assumptions == ("2 points have no label.",)
