"""When a run under a guessed margin stops asking although points are open."""

from __future__ import annotations

# In each window of questions: enough to span a cluster twice, and 10 for answers that surprise.
_PATIENCE = 10
# Share of the points that a question must prove, and two points at least: else a person would do
# about as well by labelling points one by one, and prediction takes over.
_WORTH_ASKING = 2e-4


class StallWatch:
    """Notices when questions prove too little to go on; what is left is then predicted.

    ``d`` is the number of columns of the data. Nothing is noticed before `start`.
    """

    def __init__(self, d: int) -> None:
        self.stopped = False
        self._window = 2 * (d + 1) + _PATIENCE
        # Questions asked and points labelled, after each step since the reach stalled.
        self._progress_history: list[tuple[int, int]] = []

    def start(self, n_questions: int, n_labelled: int) -> None:
        """The reach has stalled; only the first call counts."""
        if not self._progress_history:
            self._progress_history.append((n_questions, n_labelled))

    def look(self, n_questions: int, n_labelled: int, level_size: int) -> bool:
        """Whether to stop, for good: the latest questions labelled too few of the points."""
        if self._progress_history and not self.stopped:
            self._progress_history.append((n_questions, n_labelled))
            worth = self._window * max(2.0, _WORTH_ASKING * level_size)
            begin = n_questions - self._window
            earlier = [labelled for asked, labelled in self._progress_history if asked <= begin]
            self.stopped = bool(earlier) and n_labelled - earlier[-1] < worth
        return self.stopped
