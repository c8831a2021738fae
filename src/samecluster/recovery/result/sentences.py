"""The text of every claim and every premise: the one place where results are put into words.

Shells print these texts as they are; what they add is about commands and files, never about what is
known. Imports nothing of the package, so that everything may import it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any, TypeAlias

_Words: TypeAlias = Callable[[Any], str]
_LISTED = 5  # pairs of clusters named in a sentence before it gets too long


def count(number: int, noun: str) -> str:
    """
    >>> count(1, "question"), count(2000, "question")
    ('1 question', '2,000 questions')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def sentence(claim: Any) -> str:
    """A claim (`samecluster.recovery.result.claims.Claim`) as a sentence."""
    return _SENTENCES[claim.kind](claim)


def brief(claim: Any) -> str:
    """The same in a few words, for a list of choices; empty where there is nothing to say."""
    return _BRIEF[claim.kind](claim) if claim.kind in _BRIEF else ""


def clause(premise: Any) -> str:
    """A premise (`samecluster.recovery.result.premises`) as what comes after "if"."""
    return _CLAUSES[premise.kind](premise)


def goal_reached(share: float) -> str:
    """Why nothing more is asked where prediction was to stop at a share of wrong labels.

    >>> goal_reached(0.02)
    'at most about 2 % of the labels may be wrong, as was asked for'
    """
    return f"at most about {100 * share:.2g} % of the labels may be wrong, as was asked for"


def audit_sentence(report: Any) -> str:
    """What an audit has shown (`samecluster.recovery.result.audit_report.AuditReport`)."""
    unsure = f", {report.n_unsure:,} of them unsure" if report.n_unsure else ""
    told = (
        f"{100 * report.confidence:.10g} % confidence, {count(report.n_audits, 'audit')}{unsure}, "
        f"{count(report.n_rounds, 'round')}{_checked_by(report)}{_decoys(report)}"
    )
    percent = _percent_rounded_up(report.n_wrong_at_most, report.n_labels or 1)
    if not report.n_labels:
        shown = "every label was asked about"
    elif percent == "100":
        shown = f"nothing can be said yet about wrong labels ({told})"
    elif report.gap.n_pairs:
        shown = f"at most {percent} % of the labels are not in the cluster they stand for ({told})"
    else:
        shown = f"at most {percent} % of the labels are wrong ({told})"
    return f"{shown}{_gap(report)}{_not_counted(report)}"


def _checked_by(report: Any) -> str:
    """Who answered, where not everybody's answers count."""
    people = ", ".join(f"{who} ({count(n, 'answer')})" for who, n in report.checked_by)
    return f", checked by {people}" if people else ""


def _decoys(report: Any) -> str:
    """What the bound assumes where checks were put on sheets."""
    if not report.n_decoys:
        return ""
    most = math.ceil(100 * report.overlooked_at_most)
    return (
        f"; {report.n_overlooked:,} of {count(report.n_decoys, 'decoy')} overlooked, so at most "
        f"{most} % of wrong labels, if they are no easier to overlook than decoys"
    )


def _gap(report: Any) -> str:
    """What the bound is worth if labels that no answer separates are one cluster."""
    if not (n_pairs := report.gap.n_pairs):
        return ""
    wrong = min(report.n_wrong_at_most + report.gap.n_more_wrong, report.n_labelled)
    percent = _percent_rounded_up(wrong, report.n_labelled)
    pairs, them = (
        (f"{n_pairs:,} pairs of labels", "each is") if n_pairs > 1 else ("2 labels", "they are")
    )
    return (
        f"; nobody compared {pairs}: if {them} one cluster, at most {percent} % are wrong; "
        f"{count(n_pairs, 'question')} would tell"
    )


def _not_counted(report: Any) -> str:
    if not report.n_unlabelled:
        return ""
    return f"; {count(report.n_unlabelled, 'item')} without a label not counted"


def _found(claim: Any) -> str:
    were = "cluster was" if claim.number == 1 else "clusters were"
    apart = f", and {count(claim.n_items, 'point')} in none of them" if claim.n_items else ""
    return f"{claim.number:,} {were} found where {claim.declared:,} were declared{apart}."


def _given(claim: Any) -> str:
    by = f" of {', '.join(claim.given.by)}" if claim.given.by else " that were given"
    if not claim.n_items:
        return f"The labels{by} do not tell groups apart, and were put aside."
    were = "was" if claim.number == 1 else "were"
    aside = "" if claim.given.is_used else ": they were put aside, and no label rests on them"
    seen = count(claim.n_items, "label")
    return f"People saw {seen}{by}, and {claim.number:,} {were} wrong{aside}."


def _asked(claim: Any) -> str:
    return f"{_labels_are(claim)} by answers about these points, right{_if(claim)}."


def _proven(claim: Any) -> str:
    return f"{_labels_are(claim)} proven{_if(claim)}."


def _inferred(claim: Any) -> str:
    models = [name for one in claim.premises for name in getattr(one, "models", ())]
    by = f", by {', '.join(models)}" if models else ""
    return f"{_labels_are(claim)} inferred{by}, right{_if(claim)}."


def _predicted(claim: Any) -> str:
    if claim.number is None:
        return f"{_labels_are(claim)} predicted by a model; {_NOT_KNOWN}.{_of_sample(claim)}"
    expects = f"which expects about {100 * claim.number:.2g} % of them to be wrong"
    if claim.unseen is not None:
        expects += f" among known groups; {_unseen(claim)}"
    return f"{_labels_are(claim)} predicted by a model, {expects}.{_of_sample(claim)}"


def _of_sample(claim: Any) -> str:
    if claim.n_modelled is None:
        return ""
    return (
        f" The model is of a sample of {count(claim.n_modelled, 'row')}, and the others go with "
        "the nearest of these: a small group may be missed, and labels between groups are worse. "
        "After the first questions all rows are modelled if faiss is installed: "
        "pip install samecluster[neighbours]."
    )


_NOT_KNOWN = "how many of them are wrong is not known yet"


def _unseen(claim: Any) -> str:
    return f"up to {100 * claim.unseen:.2g} % may be in groups that nobody has met"


def _unassigned(claim: Any) -> str:
    apart = f", {claim.number:,} of them by answers" if claim.number else ""
    have = "point has" if claim.n_items == 1 else "points have"
    return f"{claim.n_items:,} {have} no label{apart}."


def _uncompared(claim: Any) -> str:
    separate = claim.separate
    named = ", ".join(f"{one} and {other}" for one, other in islice(separate.pairs(), _LISTED))
    more = ", ..." if separate.n_pairs > _LISTED else ""
    if separate.n_pairs == 1:
        return f"Nobody has told clusters {named} apart: they may be one."
    return (
        f"Nobody has told {separate.n_pairs:,} pairs of clusters apart, each of which may be one: "
        f"{named}{more}."
    )


def _audit(claim: Any) -> str:
    # It says itself what it is worth without the premise that labels are different clusters.
    return f"Audit, whatever the labels rest on: {audit_sentence(claim.report)}."


def _forecast(claim: Any) -> str:
    low, high = claim.interval
    left = f"{low:,} to " if low < high else ""
    are = "is" if high == 1 else "are"
    interval = f"{100 * claim.confidence:.10g} % interval"
    return f"{left}{count(high, 'question')} {are} left ({interval})."


_SENTENCES: dict[str, _Words] = {
    "found": _found,
    "given": _given,
    "asked": _asked,
    "proven": _proven,
    "inferred": _inferred,
    "predicted": _predicted,
    "unassigned": _unassigned,
    "uncompared": _uncompared,
    "audit": _audit,
    "forecast": _forecast,
}


def _predicted_briefly(claim: Any) -> str:
    labels = f"{claim.n_items:,} predicted labels"
    if claim.number is None:
        return f"{labels}, and {_NOT_KNOWN}"
    if claim.unseen is None:
        return f"about {100 * claim.number:.2g} % wrong of {labels}"
    wrong = f"about {100 * claim.number:.2g} % wrong among known groups"
    return f"{wrong}; {_unseen(claim)} ({labels})"


def _unassigned_briefly(claim: Any) -> str:
    return f"{count(claim.n_items, 'item')} {'has' if claim.n_items == 1 else 'have'} no label"


_BRIEF: dict[str, _Words] = {
    "proven": lambda _: "proven labels are right if the margin is",
    "inferred": lambda claim: (
        f"nothing is known of the error of {count(claim.n_items, 'inferred label')}"
    ),
    "predicted": _predicted_briefly,
    "unassigned": _unassigned_briefly,
}


def _answers_right(premise: Any) -> str:
    by = f" that {', '.join(premise.models)} gave" if premise.models else ""
    if not premise.confirmed:
        return f"the answers{by} are right"
    return f"the answers{by} are right, also these: {'; '.join(map(str, premise.confirmed))}"


def _given_right(premise: Any) -> str:
    return f"the labels that {', '.join(premise.models)} gave are right"


def _margin_holds(premise: Any) -> str:
    margin = (
        f"the guessed margin of {premise.margin:.3g}"
        if premise.guessed
        else f"margin {premise.margin:g}"
    )
    excepted = len(premise.exceptions)
    but = f" but for {count(excepted, 'exception')}" if excepted else ""
    inside = f" in {premise.lift}" if premise.lift else ""
    return f"every cluster has {margin}{inside}{_at_resolution(premise.resolution)}{but}"


def _at_resolution(lengths: Sequence[float]) -> str:
    if not any(lengths):
        return ""
    up_to = "up to " if min(lengths) < max(lengths) else ""
    return f" (resolution {up_to}{max(lengths):.2g})"


def _cluster_count(premise: Any) -> str:
    return (
        f"there {'is' if premise.number == 1 else 'are'} exactly {count(premise.number, 'cluster')}"
    )


def _separate_clusters(premise: Any) -> str:
    if premise.n_pairs == 1:
        ((one, other),) = premise.pairs()
        return f"clusters {one} and {other}, which no answer separates, are different"
    return f"the {premise.n_pairs:,} pairs of clusters that no answer separates are different"


def _prepared_features(premise: Any) -> str:
    parts = []
    if premise.n_filled:
        parts.append(f"with {count(premise.n_filled, 'missing cell')} filled in by medians")
    if premise.logarithms:
        more = ", ..." if len(premise.logarithms) > _LISTED else ""
        parts.append(f"with logarithms of {', '.join(premise.logarithms[:_LISTED])}{more}")
    return f"that is so {' and '.join(parts)}"


_CLAUSES: dict[str, _Words] = {
    "answers": _answers_right,
    "given": _given_right,
    "margin": _margin_holds,
    "count": _cluster_count,
    "prepared": _prepared_features,
    "separate": _separate_clusters,
    "unknown": lambda _: "a premise holds that nobody vouches for",
}


def _labels_are(claim: Any) -> str:
    return f"{claim.n_items:,} labels are" if claim.n_items != 1 else "1 label is"


def _if(claim: Any) -> str:
    clauses = [clause(premise) for premise in claim.premises]
    if not clauses:
        return ""
    return " if " + " and ".join([*([", ".join(clauses[:-1])] if clauses[1:] else []), clauses[-1]])


def _percent_rounded_up(part: int, whole: int) -> str:
    """A percentage with one decimal, or one digit if it is below 0.1; never too small."""
    percent = Fraction(100 * part, whole)
    decimals = 1
    while 0 < percent * 10**decimals < 1:
        decimals += 1
    rounded = math.ceil(percent * 10**decimals) / 10**decimals
    return f"{rounded:.{decimals}f}".rstrip("0").rstrip(".")
