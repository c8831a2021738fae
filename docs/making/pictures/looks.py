"""Handwritten digits labelled by looks: one of the sheets, and the error after each look."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FuncFormatter
from sklearn.datasets import load_digits

from samecluster import clustering_error, recover
from samecluster.oracles import LabelOracle
from samecluster.plots.style import LIGHT
from samecluster.questions.look import Sheet
from samecluster.recovery.labelling import Labelling

_SEED = 0


@dataclass(frozen=True)
class LookedAt:
    """A run: (looks, % wrong) after each batch, its sheets, and the labels wrong at the end."""

    errors: tuple[tuple[int, float], ...]
    sheets: tuple[Sheet, ...]
    n_looks: int
    n_wrong: int

    @property
    def told(self) -> str:
        wrong = {0: "no label is", 1: "1 label is"}.get(self.n_wrong, f"{self.n_wrong} labels are")
        return f"after {self.n_looks} looks {wrong} wrong"


@functools.cache
def run() -> LookedAt:
    """Nothing is declared, and a simulated person answers each look as a whole."""
    X, truth = load_digits(return_X_y=True)
    errors = [(0, 100.0)]

    def note(now: Labelling) -> None:
        known = np.where(now.labels < 0, len(X) + np.arange(len(X)), now.labels)
        errors.append((now.n_looks, 100.0 * clustering_error(known, truth)))

    found = recover(
        X, LabelOracle(truth), method="predict", looks="auto", random_state=_SEED, on_progress=note
    )
    looks = dict.fromkeys(answer.look for answer in found.answers)
    sheets = tuple(look for look in looks if isinstance(look, Sheet))
    n_wrong = round(len(X) * clustering_error(found.labels, truth))
    return LookedAt(tuple(errors), sheets, found.n_looks, n_wrong)


def shown_sheet() -> tuple[Sheet, list[int]]:
    """A full sheet of the run with two or more odd ones, and which these are."""
    truth = load_digits(return_X_y=True)[1]
    for sheet in run().sheets:
        odd = [item for item in sheet.items if truth[item] != truth[sheet.reference]]
        if len(sheet.items) == 12 and 2 <= len(odd) <= 4:
            return sheet, odd
    raise AssertionError("no sheet of the run is fit to be shown")


def picture() -> Figure:
    figure = Figure(figsize=(9.2, 3.4), layout="constrained")
    left, right = np.ravel(figure.subfigures(1, 2, squeeze=False, width_ratios=(1.15, 1.0)))
    _draw_sheet(left)
    _draw_errors(right)
    return figure


def _draw_sheet(part: SubFigure) -> None:
    images, (sheet, odd) = load_digits().images, shown_sheet()
    part.suptitle("Which of these do not belong with the first?", fontsize=10)
    panels = part.subplots(3, 5).ravel().tolist()
    for at, panel in enumerate(panels):
        panel.set(xticks=[], yticks=[])
        row, column = divmod(at, 5)
        item = sheet.reference if at == 0 else None
        if column:
            item = sheet.items[4 * row + column - 1]
        if item is None:
            panel.set_axis_off()
            continue
        panel.imshow(images[item], cmap="gray_r")
        colour = LIGHT.clusters[1] if item in odd else LIGHT.clusters[0] if at == 0 else "#cccccc"
        for side in panel.spines.values():
            side.set(edgecolor=colour, linewidth=3 if item in odd or at == 0 else 1, visible=True)


def _draw_errors(part: SubFigure) -> None:
    panel = part.subplots()
    looks, errors = (np.array(column) for column in zip(*run().errors, strict=True))
    panel.step(looks, errors, where="post", color=LIGHT.clusters[0], linewidth=2)
    last = run().errors[-1]
    panel.plot(*last, "o", color=LIGHT.clusters[0], markersize=6, clip_on=False)
    panel.annotate(
        run().told.replace(" looks ", " looks\n"),
        last,
        (0, 32),  # above the steps before the last ones
        textcoords="offset points",
        ha="right",
        color=LIGHT.clusters[0],
        fontweight="bold",
    )
    panel.set(
        yticks=range(0, 21, 5),
        ylim=(0, 20),
        xlim=(0, run().n_looks),
        xlabel="looks",
        ylabel="labels wrong",
    )
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f} %"))
    panel.grid(axis="y")
    panel.set_axisbelow(True)
