"""The faults: each makes a promise of the product false, or loses an answer.

Add one where a mistake would be bad and easy to make. It must change what a user can see or what a
claim rests on; whether a test notices is what the script finds out.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A mistake.

    Parameters
    ----------
    name : short, for the command line
    old : text that occurs exactly once in all of src/samecluster, in whatever file
    new : what stands there instead
    why : the promise that breaks
    tests : arguments of pytest for the tests that are likely to notice, which are tried first
    """

    name: str
    old: str
    new: str
    why: str
    tests: str


_ENGINE = (
    Fault(
        "eliminated-too-early",
        "        if not self.all_known:\n            return\n",
        "        if len(self.alive) < 2:\n            return\n",
        "a point outside all clusters but one is proven there although more clusters may exist",
        "tests/recovery/certify/test_knowledge.py tests/recovery/certify/test_certify.py",
    ),
    Fault(
        "unsure-counts-as-different",
        "self.all_found and len(open_) == 1 and not one.unsure",
        "self.all_found and len(open_) == 1",
        "'unsure' concludes nothing",
        "tests/recovery/test_placement.py tests/recovery/paper/test_recur.py "
        "tests/recovery/auto/test_margin_search.py tests/recovery/certify/test_certify.py "
        "-k unsure",
    ),
    Fault(
        "conflict-in-first-cluster-only",
        "for cluster in closure.alive:",
        "for cluster in closure.alive[:1]:",
        "answers that the margin forbids are refuted, whatever cluster they are about",
        "tests/recovery/certify/test_refutation.py tests/recovery/certify/test_knowledge.py "
        "tests/recovery/certify/test_certify.py -k 'refuted or margin or odd or conflict'",
    ),
    Fault(
        "conclusion-with-wrong-sign",
        "self.known.take_weights(self.cluster, not inside, items",
        "self.known.take_weights(self.cluster, inside, items",
        "the complete test says outside where it has shown inside",
        "tests/recovery/certify/test_complete_test.py tests/recovery/certify/test_certify.py",
    ),
    Fault(
        "columns-named-after-pruning",
        "self.log.add_inside(c, points[which], cluster.ids[found.solved.basis[which]])",
        "if learn and len(cluster.ids) > 256:\n            cluster.prune()\n"
        "        self.log.add_inside(c, points[which], cluster.ids[found.solved.basis[which]])",
        "a proof names the columns that show a label",
        "tests/recovery/certify/test_closure.py tests/geometry/test_reach.py "
        "tests/recovery/certify/test_certify.py",
    ),
    Fault(
        "guessed-called-proven",
        "ground = How.INFERRED if self.guessed else How.PROVEN",
        "ground = How.PROVEN",
        "labels under a guessed margin are never called proven",
        "tests/recovery/auto/test_margin_search.py -k proven",
    ),
    Fault(
        "failed-probe-ignored",
        "elif (yield from self._searching(self._stands(asking))):",
        "elif (yield from self._searching(self._stands(asking))) or True:",
        "a guessed margin that an answer refutes is lowered, and labels agree with the answers",
        "tests/recovery/auto/test_margin_search.py",
    ),
    Fault(
        "expected-error-too-small",
        "doubts = 1.0 - self.core.right(self.core.chances())",
        "doubts = 1.0 - self.core.chances().sum(axis=1)",
        "prediction stops asking only where few labels are expected to be wrong",
        "tests/recovery/predict/test_predict.py tests/recovery/auto/test_margin_search.py "
        "-k 'real_data or exact or right or calibrated'",
    ),
    Fault(
        "merge-forgets-ruled-out",
        "                groups.remove(gone)\n                groups.add(kept)\n",
        "                groups.remove(gone)\n",
        "an item is not predicted in a cluster that an answer put it outside of",
        "tests/recovery/predict/test_model.py",
    ),
    Fault(
        "predicted-rows-called-inferred",
        "how[open_] = np.where(names[open_] >= 0, How.PREDICTED",
        "how[open_] = np.where(names[open_] >= 0, How.INFERRED",
        "what is only predicted says so, also in data that is read in blocks",
        "tests/large/test_follow.py",
    ),
    Fault(
        "unsure-takes-a-cell",
        "if verdict is Verdict.SAME:\n                    self._take_cell",
        "if verdict is not Verdict.DIFFERENT:\n                    self._take_cell",
        "a cell about which nobody is sure gets no label",
        "tests/recovery/paper/test_recur.py -k sure",
    ),
    Fault(
        "rounds-cost-no-confidence",
        "self._capital *= before.left()",
        "before.left()",
        "the confidence of an audit holds over all its rounds",
        "tests/recovery/audit/test_audit.py",
    ),
    Fault(
        "unsure-is-no-failure",
        "self._n_failures += verdict is not Verdict.SAME",
        "self._n_failures += verdict is Verdict.DIFFERENT",
        "an audit counts 'unsure' as a failure",
        "tests/recovery/audit/test_audit.py tests/sessions/test_audit.py",
    ),
    Fault(
        "budget-plus-one",
        "max_questions - labelling.n_questions",
        "max_questions + 1 - labelling.n_questions",
        "never more questions than max_questions",
        "tests/recovery/auto/test_margin_search.py -k budget",
    ),
)

_GEOMETRY = (
    Fault(
        "widened-by-rounding-up",
        "(np.ceil, 1 + 2.0**-50) if inside else (np.floor, 1 - 2.0**-50)",
        "(np.floor, 1 - 2.0**-50) if inside else (np.ceil, 1 + 2.0**-50)",
        "a certificate that is given its slack still holds without rounding",
        "tests/geometry/test_semidefinite.py tests/proof/test_checker_weights.py",
    ),
    Fault(
        "certificate-weighs-too-much",
        "if total[0] > (1 + Fraction(margin)) * total[1]:",
        "if total[0] > (1 + Fraction(margin)) ** 2 * total[1]:",
        "the sum of a certificate's weights is within the margin",
        "tests/geometry/test_semidefinite.py",
    ),
    Fault(
        "zero-pivot-passes",
        "if pivot < 0 or (pivot == 0 and any(row[k:])):",
        "if pivot < 0:",
        "a certificate's matrix is positive semidefinite",
        "tests/geometry/test_exact.py tests/geometry/test_semidefinite.py",
    ),
    Fault(
        "exact-check-without-square",
        "return total * total <= 1 + Fraction(float(margin))",
        "return total <= 1 + Fraction(float(margin))",
        "the exact check proves a label only within the root of 1 + margin",
        "tests/geometry/reach/test_checks.py",
    ),
    Fault(
        "inverse-not-checked",
        "if near < 0.5:",
        "if near != 1.0:",
        "a compiled check accepts columns only if they are certainly independent",
        "tests/geometry/reach/test_checks.py",
    ),
    Fault(
        "margin-rounded-up",
        "float(high[members].max())",
        "float(low[members].max())",
        "a true margin is a lower bound in exact arithmetic",
        "tests/geometry/test_margin.py",
    ),
    Fault(
        "pairs-exclude-too-much",
        "chance = min(wrong, self._limit) / self._total",
        "chance = wrong / self._total",
        "a pair audit says nothing beyond its limit, as one group may be all wrong",
        "tests/recovery/audit/test_pair_checks.py",
    ),
)

_QUESTIONS = (
    Fault(
        "join-forgets-differences",
        "self._differs.setdefault(keep, {}).setdefault(other, edge)",
        "",
        "what differs from one of two items that are the same differs from both",
        "tests/questions/test_ledger.py",
    ),
    Fault(
        "late-contradiction-dropped",
        "raise ContradictionError((*self.ledger.reasons(answer.question), answer))",
        "return",
        "an answer that contradicts earlier ones is refused aloud",
        "tests/questions/test_run.py",
    ),
    Fault(
        "said-twice-is-a-bridge",
        "if low[here] == order[here] and len(said) == 1:",
        "if low[here] == order[here]:",
        "a suspect is an answer whose retraction alone ends contradictions",
        "tests/questions/test_contradictions.py",
    ),
    Fault(
        "tie-is-outvoted",
        "if facts[other] <= facts[f] + _ROUNDING}",
        "if facts[other] < facts[f] - _ROUNDING}",
        "an answer is outvoted only if nothing as light could go instead",
        "tests/questions/test_contradictions.py",
    ),
    Fault(
        "retraction-loses-refused",
        "self._build([answer for answer in self._said if answer not in gone])",
        "self._build([answer for answer in self.ledger if answer not in gone])",
        "taking one answer back loses no other",
        "tests/questions/test_contradictions.py",
    ),
    Fault(
        "longest-cycle-missed",
        "for length in range(1, longest + 1):",
        "for length in range(1, longest):",
        "every minimal contradiction is found",
        "tests/questions/test_contradictions.py",
    ),
)

_SESSIONS = (
    Fault(
        "taken-in-before-stored",
        "            for event in self._stored(events):\n                self.state.apply(event)\n",
        "            for event in events:\n"
        "                self.state.apply(replace(event, sequence=self.state.n_events + 1))\n"
        "            self._stored(events)\n",
        "an answer is stored before anything rests on it",
        "tests/sessions/test_event_log.py tests/sessions/reliability/test_damage.py",
    ),
    Fault(
        "judged-on-old-news",
        "if is_judged and is_overtaken:",
        "if is_judged and is_overtaken and not events:",
        "an answer that comes twice at the same moment is kept once",
        "tests/sessions/test_intake.py",
    ),
    Fault(
        "not-on-the-disk",
        "PRAGMA synchronous = FULL",
        "PRAGMA synchronous = OFF",
        "an answer that was acknowledged has reached the disk",
        "tests/sessions/storage tests/sessions/reliability/test_damage.py",
    ),
    Fault(
        "tie-is-same",
        "Verdict.UNSURE if same == different else Verdict.of(same > different)",
        "Verdict.UNSURE if same == different == 0 else Verdict.of(same >= different)",
        "as many for as against is 'unsure'",
        "tests/sessions/state/test_votes.py tests/sessions/test_people.py -k 'sure or majority'",
    ),
    Fault(
        "retraction-loses-import",
        "self._by_event[sequence] = [vote for vote in gone if vote.pair != pair]",
        "",
        "taking back one answer of an import keeps the others",
        "tests/sessions/state/test_vote_book.py tests/sessions/test_imports.py",
    ),
    Fault(
        "lease-without-end",
        "lease is not None and lease[0] != who and lease[1] > now",
        "lease is not None and lease[0] != who",
        "nobody waits for somebody who left",
        "tests/sessions/running/test_leases.py tests/sessions/test_people.py",
    ),
    Fault(
        "number-given-twice",
        "following = max(state.numbers.values(), default=-1) + 1",
        "following = max(anchors, default=-1) + 1",
        "the number of a cluster that is gone is never given to another",
        "tests/sessions/state/test_numbering.py tests/sessions/test_numbers.py",
    ),
    Fault(
        "audit-draws-again",
        "self._seed = state.seed + len(state.audited - {state.epoch})",
        "self._seed = state.seed",
        "an audit that begins anew draws checks that nobody has seen",
        "tests/sessions/running/test_engine.py tests/sessions/test_audit.py",
    ),
    Fault(
        "answers-about-changed-rows-count",
        "self._outdated[key] = sequence",
        "",
        "answers about rows that changed are set aside until confirmed",
        "tests/sessions/state/test_vote_book.py tests/sessions/test_updates.py",
    ),
)

_CHECKER = (
    Fault(
        "row-rests-on-itself",
        "(shown_by[columns] < turn[:, None])",
        "(shown_by[columns] <= turn[:, None])",
        "'in' records rest only on what was shown before",
        "tests/proof/test_checker.py",
    ),
    Fault(
        "last-of-clusters-that-may-be-one",
        'self.need(self.all_different(), "the k clusters are not known to be different")',
        "",
        "a 'last' record needs k clusters that are known to differ",
        "tests/proof/test_checker.py",
    ),
    Fault(
        "anything-is-a-non-member",
        "any(self.cluster(item) in self.apart[cluster] for cluster in clusters)",
        "any(self.cluster(item) != cluster for cluster in clusters)",
        "'out', 'sdp' and 'differ' records rest on items that are known to be outside",
        "tests/proof/test_checker.py tests/proof/test_checker_weights.py",
    ),
    Fault(
        "counted-without-names",
        'self.need(bool((self.cluster_of >= 0).all()), "an item has no name")',
        "",
        "a 'count' record needs a name for every item",
        "tests/proof/test_checker.py",
    ),
    Fault(
        "contradictory-answers-accepted",
        'self.need(gone not in self.apart[kept], "they are known to be different clusters")',
        "",
        "a proof from 'answer' records that contradict each other is refused",
        "tests/proof/test_checker.py",
    ),
)

FAULTS = (*_ENGINE, *_GEOMETRY, *_QUESTIONS, *_SESSIONS, *_CHECKER)
"""All of them."""
