"""Labels of all rows from those of a sample, on arrays small enough to look at."""

import numpy as np
import pytest

from samecluster import Certify, How, recover
from samecluster.errors import RefutedError
from samecluster.large.follow import CloudShapes, LabelBlock, LabelledSample, SampleLabels
from samecluster.large.other_rows import UNDECIDED, OtherRows
from samecluster.large.replay import replayed
from samecluster.large.sweep import Sweep
from samecluster.oracles import LabelOracle
from samecluster.points.protocol import ArrayPoints
from samecluster.points.survey import Survey
from samecluster.proof.log import ProofLog

PLAIN = Certify(kernel="numpy")
RNG = np.random.default_rng(0)
# Two groups of 40 on a line, the sample, and rows that follow from it or do not.
SAMPLE = np.concatenate([np.linspace(0.0, 1.0, 40), np.linspace(10.0, 11.0, 40)])[:, None]
SAMPLE_LABELS = np.repeat([0, 1], 40)
INSIDE_0, INSIDE_1, BETWEEN, BEYOND = 0.5, 10.5, 5.5, 40.0
X = np.concatenate([SAMPLE, [[INSIDE_0], [INSIDE_1], [BETWEEN], [BEYOND]]])
ROWS = np.arange(80)


def sample(margin: float | None = 1.0, **more: object) -> LabelledSample:
    """All that a recovery of the sample by the truth knows."""
    known = recover(SAMPLE, LabelOracle(SAMPLE_LABELS), margin=1.0, method=PLAIN, random_state=0)
    labels, how = known.labels, known.how_codes
    proof = {"proof": known.proof} | more
    return LabelledSample(SAMPLE, Survey.of(X), known.answers, labels, how, margin, **proof)  # type: ignore[arg-type]


def others() -> OtherRows:
    names, how = np.full(len(X), UNDECIDED, np.int16), np.zeros(len(X), np.int8)
    return OtherRows(ArrayPoints(X), ROWS, names, how, 1, np.random.default_rng(0))


def finished(rest: OtherRows, found: SampleLabels) -> tuple[list[int], list[int]]:
    """Labels and how of the four rows outside the sample."""
    labels = np.zeros(len(X), np.int32)
    rest.finish(found.labels, found.how, labels)
    return labels[80:].tolist(), rest.how[80:].tolist()


def test_rows_in_reach_are_proven_and_others_need_questions() -> None:
    rest = others()
    found = SampleLabels(PLAIN, sample(), rest)
    to_ask = found.prove()
    zero, one = (int(found.labels[at]) for at in (0, 79))
    assert finished(rest, found) == ([zero, one, -1, -1], [3, 3, 0, 0])
    assert sorted(to_ask.rows.tolist()) == [82, 83]
    assert sorted(to_ask.points[:, 0].tolist()) == [BETWEEN, BEYOND]
    assert to_ask.n_more == 0


def test_what_needs_questions_is_predicted_where_none_may_be_asked() -> None:
    rest = others()
    found = SampleLabels(PLAIN, sample(), rest)
    found.predict(found.prove())
    labels, how = finished(rest, found)
    assert how == [How.PROVEN, How.PROVEN, How.UNASSIGNED, How.UNASSIGNED]
    assert labels[2:] == [-1, -1], "both lie beyond the edges of all clouds"


def test_a_guessed_margin_infers_and_predicts() -> None:
    """In reach is inferred; with a smaller margin a row near a cloud is only predicted."""
    rest = others()
    found = SampleLabels(PLAIN, sample(), rest)
    found.infer()
    labels, how = finished(rest, found)
    assert how == [How.INFERRED, How.INFERRED, How.UNASSIGNED, How.UNASSIGNED]
    rest = others()
    found = SampleLabels(PLAIN, sample(margin=None), rest)
    found.infer()
    again, how = finished(rest, found)
    assert how == [How.PREDICTED, How.PREDICTED, How.UNASSIGNED, How.UNASSIGNED]
    assert again == labels


def test_without_prediction_what_is_out_of_reach_has_no_label() -> None:
    rest = others()
    found = SampleLabels(PLAIN, sample(margin=None), rest)
    found.infer(predict=False)
    assert finished(rest, found) == ([-1] * 4, [How.UNASSIGNED] * 4)


def test_a_block_tells_apart_what_is_inferred_and_what_is_predicted() -> None:
    """Half of the second cluster is out of reach of its single member."""
    log = ProofLog("", 1.0, None, np.array([1e-9]))
    log.add_cluster(0)
    log.add_answer(0, 39, "same")
    known = replayed(log, SAMPLE, Survey.of(X), PLAIN)
    sweep = Sweep(known.closure, len(X))
    work = LabelBlock(sweep, np.array([7, -1], np.int16), CloudShapes.of(sample()))
    names, how = work(X, np.packbits(np.arange(len(X)) >= 80))
    assert names.tolist() == [7, int(sample().labels[79]), -1, -1]
    assert how.tolist() == [How.INFERRED, How.PREDICTED, How.UNASSIGNED, How.UNASSIGNED]


def test_a_margin_that_all_rows_refute_is_refuted_by_row() -> None:
    """The sample allows it; a row that is known to differ comes into reach through another."""
    rows = np.array([5, 4, 3, 2])
    points = np.array([[0.0], [1.0], [2.0], [1.4]])
    log = ProofLog("", 3.0, None, np.array([1e-9]))
    log.add_cluster(0)
    log.add_answer(0, 1, "same")
    log.add_answer(0, 3, "different")
    everything = np.array([[9.0], [9.0], [1.4], [2.0], [1.0], [0.0]])
    answers = recover(points, LabelOracle(np.array([0, 0, 1, 1])), method="everything").answers
    known = LabelledSample(
        points,
        Survey.of(everything),
        answers,
        np.array([0, 0, -1, 1]),
        np.array([4, 4, 0, 4], np.int8),
        3.0,
        proof=log,
    )
    names, how = np.full(6, UNDECIDED, np.int16), np.zeros(6, np.int8)
    rest = OtherRows(ArrayPoints(everything), rows, names, how, 1, np.random.default_rng(0))
    with pytest.raises(RefutedError) as caught:
        SampleLabels(PLAIN, known, rest).prove()
    assert caught.value.item == 2
    told = {frozenset(answer.question.pair) for answer in caught.value.answers}
    assert told <= {frozenset({5, 4}), frozenset({5, 2})}


def test_a_replayed_proof_has_the_members_and_waits_with_the_count() -> None:
    """Members by answers, by reach, by elimination and by certificates; names that became one."""
    log = ProofLog("", 1.0, 2, np.array([1e-9]))
    log.add_cluster(0)
    log.add_cluster(39)
    log.add_cluster(79)
    log.add_answer(0, 39, "same")  # names 0 and 1 are one cluster
    log.add_answer(0, 79, "different")
    log.add_inside(0, np.array([20]), np.array([[0, 39]]))
    log.add_last(50, 2)
    log.add_weights(2, True, np.array([60]), [], [], 1.0)
    log.add_weights(2, False, np.array([21]), [], [], 1.0)
    log.add_count()
    known = replayed(log, SAMPLE, Survey.of(X), PLAIN)
    assert known.alive == [0, 2]
    assert known.closure.labels[[0, 39, 20, 79, 50, 60]].tolist() == [0, 0, 0, 2, 2, 2]
    kinds = [record[0] for record in known.log.records]
    assert "count" not in kinds
    assert kinds[:9] == [record[0] for record in log.records][:9]
    assert known.log.resolution[0] == log.resolution[0], "every record stays valid"
    assert (known.closure.labels[:40] == 0).all(), "what is in reach is proven as well"


def test_a_single_labelled_row_claims_nothing_that_is_far() -> None:
    """It has no shape, and may be a stray: as in memory, a row beyond all others has no label."""
    known = LabelledSample(
        np.concatenate([SAMPLE, [[30.0]]]),
        Survey.of(X),
        (),
        np.repeat([0, 1, 2], [40, 40, 1]),
        np.full(81, How.ASKED, np.int8),
        None,
    )
    shapes = CloudShapes.of(known)
    points = np.array([[INSIDE_0], [INSIDE_1], [BETWEEN], [BEYOND]])
    assert shapes.predicted(points).tolist() == [0, 1, -1, -1]
