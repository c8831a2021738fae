"""What is said about new rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from samecluster._typing import FloatArray, IntArray
from samecluster.recovery.result.how import CodedLabels, How, ways


@dataclass(frozen=True, eq=False)
class Assignment(CodedLabels):
    """Labels for new rows. As text it says how they are known, and under which premise.

    Attributes
    ----------
    labels : (m,) the cluster of each row, by the numbers of the old labels; -1 for none
    how_codes : (m,) `How` of each label; `how` has the words
    probability : (m,) probability that each label is right: 1.0 for asked ones, NaN for those that
        follow from a margin and for rows without a label
    chances : (m, k) probability of each of ``clusters``; a row of zeros for a row without a label
    clusters : (k,) the numbers of the clusters
    margin, guessed : what proven or inferred labels rest on
    refuted : rows in the reach of two clusters: with one of these the margin does not hold
    lift : what the margin is one in, such as "the quadratic lift of columns 0, 1"; empty without
    """

    labels: IntArray
    how_codes: npt.NDArray[np.int8]
    probability: FloatArray
    chances: FloatArray
    clusters: IntArray
    margin: float | None
    guessed: bool
    refuted: IntArray
    lift: str = ""

    @property
    def premise(self) -> str:
        """What proven and inferred labels of new rows rest on; empty where there are none."""
        if self.margin is None or not (self.how_codes >= How.INFERRED).any():
            return ""
        guess = " (a guess)" if self.guessed else ""
        inside = f" in {self.lift}" if self.lift else ""
        return (
            f"if the margin {self.margin:.3g}{inside}{guess} holds for the old rows and the new "
            "row together, and every answer is right"
        )

    def __str__(self) -> str:
        lines = [f"{len(self.labels):,} rows: {ways(self.by_how) or 'nothing'}"]
        if self.premise:
            lines.append(f"proven and inferred {self.premise}")
        if len(self.refuted):
            some = ", ".join(map(str, self.refuted[:5].tolist()))
            lines.append(
                f"{len(self.refuted):,} rows are in reach of two clusters, so that the margin does "
                f"not hold with them; their labels are predicted: rows {some}"
                + (", ..." if len(self.refuted) > 5 else "")
            )
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Assignment of {str(self).splitlines()[0]}>"
