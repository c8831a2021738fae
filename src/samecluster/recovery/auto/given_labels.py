"""Labels that somebody gives and nobody vouches for, such as a language model's: people check them.

Every claim rests on people's answers alone. What they look at before an audit is in `mistakes`, and
what is believed of labels between looks in `checked_labels`. The audit then draws from all that
people have not seen. Labels that are mostly wrong are put aside, and people label as they would
have without.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from samecluster._typing import Array
from samecluster.errors import InvalidInputError
from samecluster.questions.run import Plan
from samecluster.recovery.auto.checked_labels import CheckedLabels
from samecluster.recovery.auto.margin_search import CertifyWithoutMargin
from samecluster.recovery.auto.mistakes import (
    are_splinters,
    look_at,
    members_hold,
    tell_apart,
    worth_a_look,
)
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.predict.fill import predict_unlabelled
from samecluster.recovery.problem import BudgetSpent, Method, Problem
from samecluster.recovery.result.claims import GivenCheck
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery

_WRONG_AFTER_AUDIT, _NO_DOUBT = 0.08, 0.1
"""Share of wrong labels beyond which people do better without them, among those that answers given
before (of an audit that failed, for instance) are about and that nothing spoke against; and the
doubt up to which nothing speaks."""


@dataclass(frozen=True, eq=False)
class GivenLabels:
    """A method that begins with labels by somebody else, and trusts what people say of them.

    Parameters
    ----------
    labels : (n,) whole numbers; -1 where there is none
    otherwise : the method if the given labels turn out to be mostly wrong; certify if None
    by : the language models that gave them, for claims; labels that people left as they were are
        then inferred, by these, and else predicted
    batch : for several people at once, as that of other methods
    """

    labels: Array
    otherwise: Method | str | None = None
    by: tuple[str, ...] = ()
    batch: int = 1
    name: str = "given"

    def plan(self, problem: Problem, labelling: Labelling) -> Plan[Recovery]:
        if self.labels.shape != (len(problem.X),):
            raise InvalidInputError(
                f"there must be one label for each of {len(problem.X):,} points, got shape "
                f"{self.labels.shape}"
            )
        checked = CheckedLabels(np.asarray(self.labels, dtype=np.int64), problem, labelling)
        told = checked.wrong_beyond_doubt(_NO_DOUBT)
        is_in_use = labelling.given is None or labelling.given.is_used
        if is_in_use and told[1] <= _WRONG_AFTER_AUDIT * told[0]:
            if (yield from self._check(checked, labelling)):
                self._write(checked, labelling)
                return labelling.recovery()
            told = checked.seen()
        labelling.reset()
        labelling.given = GivenCheck(self.by, *told, is_used=False)
        return (yield from self._without_them(problem, labelling))

    def _without_them(self, problem: Problem, labelling: Labelling) -> Plan[Recovery]:
        """As if nobody had been asked yet, and at last with what people said of the given labels.

        Most of that is which items are strangers to which anchors. A method that began with it
        would look for their places one by one, and for groups that no anchor stands for last.
        """
        otherwise = self.otherwise
        if otherwise is None or isinstance(otherwise, str):
            otherwise = CertifyWithoutMargin()
        # Not the problem's draws: begun again with more answers, it asks what is known by then.
        anew = replace(problem, answers=(), rng=np.random.default_rng(len(problem.X)))
        if labelling.answers:  # there are labels to see, whenever people stop
            rng = np.random.default_rng(len(problem.X))
            predict_unlabelled(replace(problem, answers=labelling.answers, rng=rng), labelling)
            labelling.number_clusters()
        with labelling.kept_back():
            yield from otherwise.plan(anew, labelling)
        if labelling.cut_short:  # its labels know nothing of what people said before
            raise BudgetSpent
        labelling.reset()
        answered = replace(problem, answers=labelling.answers)
        return (yield from otherwise.plan(answered, labelling))

    def _check(self, checked: CheckedLabels, labelling: Labelling) -> Plan[bool]:
        """All looks before an audit; False if the labels are mostly wrong."""
        if len(checked.anchors) < 2:
            return False
        self._write(checked, labelling)  # there are labels to see, whenever people stop
        if (yield from are_splinters(checked)):
            return False
        yield from tell_apart(checked)
        if len(checked.anchors) < 2 or not (yield from members_hold(checked)):
            return False
        while items := worth_a_look(checked):
            self._write(checked, labelling)
            yield from look_at(checked, items)
        return True

    def _write(self, checked: CheckedLabels, labelling: Labelling) -> None:
        checked.write(How.INFERRED if self.by else How.PREDICTED)
        labelling.given = GivenCheck(self.by, *checked.seen(), is_used=True)
