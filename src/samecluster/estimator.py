"""The third door: a scikit-learn estimator over `samecluster.api`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from samecluster._typing import FloatArray, IntArray
from samecluster.api import recover
from samecluster.assignment.result import Assignment
from samecluster.errors import InvalidInputError
from samecluster.lifts.lift import Lift
from samecluster.lifts.polynomial import Polynomial
from samecluster.questions.ledger import Ledger
from samecluster.questions.look_sizes import LookSizes
from samecluster.questions.pair import Answer
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.problem import Method, Problem
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery
from samecluster.tables.frame_points import ColumnChoice, is_frame, points_of


class SameCluster(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Clustering by same-or-different questions, as a scikit-learn estimator.

    Parameters
    ----------
    n_clusters, margin, method, audit, expected_error, max_questions, looks, max_looks : as in
        `samecluster.recover`, with the same defaults and the same results, but that one cluster is
        allowed here, as everywhere in scikit-learn; it asks nothing
    answers, known, hint, first, lift : as in `samecluster.recover`
    features, text, categories, ignore, missing, gives : as in `samecluster.recover`
    error_rate, random_state, on_progress, concurrency, retry, progress : as in
        `samecluster.recover`
    oracle : an `samecluster.oracles.Oracle`, or a function of two row numbers. `fit` asks it.

    Attributes
    ----------
    labels_ : cluster of each point
    how_ : how each label is known
    n_questions_ : pairs put to the oracle
    recovery_ : the `samecluster.Recovery` with everything else

    Examples
    --------
    >>> from samecluster.instances import make_ellipsoids
    >>> from samecluster.oracles import LabelOracle
    >>> made = make_ellipsoids(n=500, d=2, k=2, random_state=0)
    >>> model = SameCluster(oracle=LabelOracle(made.labels), random_state=0)
    >>> model.fit(made.X).labels_.shape
    (500,)
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        margin: float | Literal["auto"] = "auto",
        method: str | Method = "certify",
        audit: tuple[float, float] | None = None,
        expected_error: float | None = None,
        max_questions: int | None = None,
        looks: Literal["pairs", "auto"] | LookSizes = "pairs",
        max_looks: int | None = None,
        answers: Iterable[Answer] = (),
        known: Any = None,
        hint: Any = None,
        first: Any = None,
        features: Any = None,
        text: Any = None,
        categories: Any = None,
        ignore: Any = None,
        missing: str | None = None,
        lift: str | Polynomial | Lift | None = None,
        gives: Literal["numbers", "rows"] = "numbers",
        error_rate: float = 0.0,
        oracle: Any = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        on_progress: Callable[[Labelling], None] | None = None,
        concurrency: int = 1,
        retry: Any = (),
        progress: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.margin = margin
        self.method = method
        self.audit = audit
        self.expected_error = expected_error
        self.max_questions = max_questions
        self.looks = looks
        self.max_looks = max_looks
        self.answers = answers
        self.known = known
        self.hint = hint
        self.first = first
        self.features = features
        self.text = text
        self.categories = categories
        self.ignore = ignore
        self.missing = missing
        self.lift = lift
        self.gives = gives
        self.error_rate = error_rate
        self.oracle = oracle
        self.random_state = random_state
        self.on_progress = on_progress
        self.concurrency = concurrency
        self.retry = retry
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> SameCluster:
        """Recover the clusters of X, an array or a data frame; y is ignored."""
        del y
        X = self._checked(X, reset=True)
        self.recovery_ = self._one_cluster(X) if self.n_clusters == 1 else self._recover(X)
        self.labels_ = self.recovery_.labels
        self.how_ = self.recovery_.how
        self.n_questions_ = self.recovery_.n_questions
        return self

    def predict(self, X: Any) -> IntArray:
        """The cluster of each row of X, also of new ones; -1 for none. See `Recovery.predict`."""
        return self._assigned(X).labels

    def predict_proba(self, X: Any) -> FloatArray:
        """(m, k) the probability of each cluster; a row of zeros for rows in none of them."""
        return self._assigned(X).chances

    def _assigned(self, X: Any) -> Assignment:
        check_is_fitted(self)
        found: Assignment = self.recovery_.predict(self._checked(X, reset=False))
        return found

    def _checked(self, X: Any, reset: bool) -> Any:
        """A frame with the names of its columns checked, which `recover` prepares; or an array."""
        if is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        least = 2 if reset else 1
        return validate_data(self, X, dtype=np.float64, reset=reset, ensure_min_samples=least)

    def _recover(self, X: FloatArray) -> Recovery:
        if self.oracle is None:
            raise InvalidInputError(
                "SameCluster needs an oracle to ask: SameCluster(oracle=...), see "
                "samecluster.oracles"
            )
        return recover(X, **self.get_params(deep=False))

    def _one_cluster(self, X: Any) -> Recovery:
        """What one cluster leaves to find out: nothing."""
        columns = (self.features, self.text, self.categories, self.ignore, self.missing)
        points, frame = points_of(X, ColumnChoice(*columns), logarithms=self.margin == "auto")
        rng = np.random.default_rng(0)
        problem = Problem(points, n_clusters=1, margin=None, rng=rng, frame=frame)
        labelling = Labelling(problem, "one cluster", Ledger())
        labelling.mark(np.arange(len(points)), 0, How.PROVEN)
        return labelling.recovery()
