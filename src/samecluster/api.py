"""Two of the three doors: `recover` with an oracle, `start` for ask and tell.

(The third, `samecluster.SameCluster`, is the scikit-learn shell over these.) Beside them is
`learn_cluster`, for one cluster up to an error. What a user passes is checked here and trusted
below.
"""

from __future__ import annotations

import copy
import numbers
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from samecluster._typing import FloatArray
from samecluster.asking import all_answers, asked_at_once, in_batches, refuse_async, shown_progress
from samecluster.errors import (
    AnswerError,
    ContradictionError,
    InvalidInputError,
    OracleError,
    RecoveryInterrupted,
    RefutedError,
)
from samecluster.lifts.lift import ColumnMap, Lift
from samecluster.lifts.polynomial import Polynomial
from samecluster.oracles.base import (
    Oracle,
    VerdictReader,
    as_oracle,
    checked_answer,
    checked_answers,
    checked_replies,
)
from samecluster.oracles.panel.panel import Panel
from samecluster.oracles.several_at_once import SeveralAtOnce
from samecluster.points.array import validated
from samecluster.questions.drive import drive_looks
from samecluster.questions.ledger import Ledger
from samecluster.questions.look import n_looks_of, n_shown_of
from samecluster.questions.look_sizes import LookSizes
from samecluster.questions.pair import Answer
from samecluster.questions.run import Run
from samecluster.recovery.auto.given_labels import GivenLabels
from samecluster.recovery.auto.margin_search import CertifyWithoutMargin
from samecluster.recovery.auto.repair import AnswerRepair
from samecluster.recovery.auto.whole_run import Budget, complete_plan, prediction_goal
from samecluster.recovery.certify.plan import Certify
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.paper.ask_everything import AskEverything
from samecluster.recovery.paper.one_cluster import LearnedCluster, plan_cluster
from samecluster.recovery.paper.recur import Recur
from samecluster.recovery.paper.scq_kmeans import ScqKMeans
from samecluster.recovery.predict.plan import Predict
from samecluster.recovery.problem import Method, Problem
from samecluster.recovery.result.premises import Premise, PreparedFeatures
from samecluster.recovery.result.result import Recovery
from samecluster.tables.frame_points import ColumnChoice, FrameFeatures, asked_with_rows, points_of
from samecluster.validation import (
    checked_audit,
    checked_error_rate,
    checked_expected_error,
    checked_first,
    checked_given,
    checked_hint,
    checked_known,
    checked_lift,
    checked_limit,
    checked_looks,
    checked_margin,
    checked_n_clusters,
    generator,
    warn_of_far_values,
)

_MOST_REFUTATIONS = 20
_MOST_IN_VAIN = 3  # times that mending changes nothing: nobody says anything new

METHODS: dict[str, Callable[..., Method]] = {
    "certify": Certify,
    "recur": Recur,
    "scq-k-means": ScqKMeans,
    "everything": AskEverything,
    "predict": Predict,
}
"""Methods by their names; `register_method` adds to them."""


def register_method(name: str, factory: Callable[..., Method]) -> None:
    """Let ``method=name`` stand for ``factory()``, in `recover`, `start` and sessions.

    A session keeps the name and the settings, and calls ``factory(**settings)``: register the
    method again before such a session is opened in another process. A name that is taken is
    refused. `samecluster.testing.check_method` checks a method.

    Parameters
    ----------
    name : what users write
    factory : makes the method, such as its class; settings are keyword arguments with defaults

    Examples
    --------
    >>> register_method("certify", AskEverything)
    Traceback (most recent call last):
        ...
    samecluster.errors.InvalidInputError: there is a method 'certify' already; register another name
    """
    if not isinstance(name, str) or not name.strip():
        raise InvalidInputError(f"the name of a method must be a text, got {name!r}")
    if name in METHODS:
        raise InvalidInputError(f"there is a method {name!r} already; register another name")
    if not callable(factory):
        raise InvalidInputError(
            f"factory must be a class or a function that makes a method, got {factory!r}"
        )
    METHODS[name] = factory


class RecoveryRun(Run[Recovery]):
    """A recovery under way: a `Run` that can also say what is known so far."""

    def __init__(
        self,
        method: Method,
        problem: Problem,
        ledger: Ledger,
        audit: tuple[float, float] | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.labelling = Labelling(problem, method.name, ledger)
        plan = complete_plan(method, problem, self.labelling, audit, budget or Budget())
        super().__init__(plan, ledger)

    def snapshot(self) -> Recovery:
        """What is known now, as a Recovery with labels of -1 where nothing is known yet."""
        return self.labelling.recovery()


def start(
    X: Any,
    *,
    n_clusters: int | None = None,
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
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
) -> RecoveryRun:
    """Begin a recovery whose questions you answer yourself.

    Parameters
    ----------
    X : (n, d) points, one a row; or a data frame (pandas, polars, pyarrow) with numbers, text and
        categories, which is prepared as the command line does it unless all of it is numbers
    n_clusters : number of clusters k, from 2 to n; None if unknown (not for "recur" and
        "scq-k-means"). Where it is given, labels may rest on it.
    margin : γ > 0: every cluster C has an ellipsoidal distance in which each other point is more
        than √(1+γ) times as far from some centre as the points of C, and no sharper boundary than
        the resolution (see `Certify`). Labels are then proven. With "auto" a margin is guessed and
        lowered to what the answers allow; labels are inferred or predicted.
    method : "certify", "recur", "scq-k-means", "everything" or "predict", a name given to
        `register_method`, or an object with settings such as ``samecluster.Certify(batch=8)``
    audit : (error, confidence), such as (0.01, 0.95): go on with questions about random labels
        until at most this share of those not asked is wrong, at this confidence
    expected_error : prediction stops once about this share of the labels may be wrong, among groups
        that were met; 0.001 unless said otherwise. An estimate: ``audit`` is a bound. Not for
        methods that predict nothing, such as certify with a margin.
    max_questions : stop there, with the best labels for all points; ``answers=run.result.answers``
        goes on later
    looks : "pairs" asks one pair at a time. "auto" also puts larger looks, each a screen that is
        answered as a whole: a choice (which of these groups?), a sheet (which of these items do not
        belong?), a board (which of these groups are one?); see `docs/looks.md`. A `LookSizes`
        says how large each may be. An oracle that cannot answer a kind is asked pairs.
    max_looks : like ``max_questions``, for looks
    answers : answers given before, such as ``recovery.answers`` of another run on the same rows;
        they are not asked again, and certify begins with what follows from them
    known : (n,) the group of each row where it is known already, as a number or a text; None, NaN,
        "" or -1 where it is not. Becomes answers that are not asked and not counted: rows of a
        group are the same, rows of different groups are different.
    hint : like ``known``, for groups that may be wrong: they only say where to ask first. Wrong
        ones cost questions, and no proof rests on them.
    first : numbers of rows to ask about before others, such as new ones after those that
        ``answers`` are about; it only chooses questions
    features, text, categories, ignore : names of columns of a frame: numbers, words by their
        meaning, categories, and what is left out. Without them all columns of numbers that look
        like measurements are used, and those whose type says that they are categories.
    missing : "median" fills missing cells of a frame and marks them; "error" stops
    lift : "quadratic", "cubic", ``Polynomial(degree)`` or a function of points (n, d) to numbers
        (n, D): the margin, and what is proven, are about these columns. Rings, moons, spirals and
        groups inside others have a margin there; see `docs/lifts.md`. With "auto", and no margin
        declared, lifts are tried where the columns as they are have none. For certify only.
    random_state : seed; the same seed gives the same questions

    Examples
    --------
    >>> from samecluster.instances import make_ellipsoids
    >>> made = make_ellipsoids(n=300, d=2, k=3, random_state=0)
    >>> run = start(made.X, n_clusters=3, margin=made.margin, random_state=0)
    >>> while run.pending:
    ...     for question in run.pending:
    ...         i, j = question.pair
    ...         run.tell(question, same=bool(made.labels[i] == made.labels[j]))
    >>> len(run.result.labels)
    300
    """
    choice = ColumnChoice(features, text, categories, ignore, missing)
    points, frame = points_of(X, choice, logarithms=margin == "auto")
    fitted = checked_lift(lift, _names_of(points, frame), points)
    problem = _problem(points, frame, n_clusters, margin, looks, hint, first, random_state)
    parameters = RecoveryParameters.checked(
        problem, method, fitted, audit, expected_error, max_questions, max_looks
    )
    return parameters.run(Ledger(_given(known, answers, len(points))))


def _names_of(points: FloatArray, frame: FrameFeatures | None) -> tuple[str, ...]:
    """The names of the columns of points; far values are named, unless the preparation does it."""
    names = () if frame is None else frame.names
    if frame is None or frame.preparation is None:
        warn_of_far_values(points, names)
    return names


def premises_of(frame: FrameFeatures | None) -> tuple[Premise, ...]:
    """What a margin of the points is about that it would not be of the frame."""
    logarithms = () if frame is None or frame.preparation is None else frame.preparation.logarithms
    n_filled = 0 if frame is None else frame.n_filled
    return (PreparedFeatures(n_filled, logarithms),) if n_filled or logarithms else ()


def _given_what(oracle: Any, gives: Any, X: Any) -> Any:
    """The oracle as one of row numbers."""
    if gives not in ("numbers", "rows"):
        raise InvalidInputError(f"gives must be 'numbers' or 'rows', got {gives!r}")
    if gives == "numbers":
        return oracle
    if isinstance(oracle, Oracle) or not callable(oracle):
        raise InvalidInputError("gives='rows' is for an oracle that is a function of two rows")
    return asked_with_rows(oracle, X)


def _given(known: Any, answers: Iterable[Any], n: int) -> tuple[Answer, ...]:
    """All that is said before the first question."""
    return (*checked_known(known, n), *checked_given(answers, n))


def _problem(
    points: FloatArray,
    frame: FrameFeatures | None,
    n_clusters: Any,
    margin: Any,
    looks: Any,
    hint: Any,
    first: Any,
    random_state: Any,
) -> Problem:
    """What is declared about the points, checked."""
    return Problem(
        X=points,
        n_clusters=checked_n_clusters(n_clusters, len(points)),
        margin=checked_margin(margin),
        rng=generator(random_state),
        hints=checked_hint(hint, len(points)),
        first=checked_first(first, len(points)),
        looks=checked_looks(looks),
        prepared=premises_of(frame),
        frame=frame,
    )


@dataclass(frozen=True)
class RecoveryParameters:
    """What a user wants, checked. Each of its runs draws the same random numbers."""

    problem: Problem
    method: Method
    audit: tuple[float, float] | None
    budget: Budget

    @classmethod
    def checked(
        cls,
        problem: Problem,
        method: Any,
        lift: ColumnMap | Literal["auto"] | None,
        audit: Any,
        expected_error: Any,
        max_questions: Any,
        max_looks: Any,
    ) -> RecoveryParameters:
        goal, most = checked_audit(audit), checked_limit("max_questions", max_questions)
        chosen = _checked_method(method)
        given = chosen if isinstance(chosen, GivenLabels) else None
        if given is not None:
            chosen = _checked_method(given.otherwise or "certify")
        if lift not in (None, "auto") and not isinstance(chosen, Certify):
            raise InvalidInputError(f'lift goes with method "certify", got {chosen.name!r}')
        if problem.margin is None and isinstance(chosen, Certify):
            chosen = CertifyWithoutMargin(
                chosen, prediction_goal(goal), lift == "auto", is_audited=goal is not None
            )
        elif lift == "auto":
            raise InvalidInputError(
                'lift="auto" goes with certify and margin="auto"; a declared margin is one in a '
                "declared lift"
            )
        if expected_error is not None:
            chosen = _stopping_at(expected_error, chosen)
        found, looks = None if lift == "auto" else lift, problem.looks.within(most)
        return cls(
            replace(problem, lift=found, looks=looks),
            chosen if given is None else replace(given, otherwise=chosen),
            goal,
            Budget(most, checked_limit("max_looks", max_looks)),
        )

    def run(
        self, ledger: Ledger, spent: tuple[int, int] = (0, 0), **despite_errors: Any
    ) -> RecoveryRun:
        """A run from the answers in a ledger, after questions and looks that were spent before.

        ``despite_errors`` are what a `Problem` has if answers may be wrong.
        """
        answers, rng = tuple(ledger), copy.deepcopy(self.problem.rng)
        problem = replace(self.problem, answers=answers, rng=rng, **despite_errors)
        return RecoveryRun(self.method, problem, ledger, self.audit, self.budget.after(*spent))


def _stopping_at(expected_error: Any, method: Method) -> Method:
    """The method, which stops predicting once this share of the labels may be wrong."""
    share = checked_expected_error(expected_error)
    if not isinstance(method, CertifyWithoutMargin | Predict):
        raise InvalidInputError(
            "expected_error is about predicted labels, and "
            f"{method.name} with what was declared predicts none: leave it out; audit= gives a "
            "bound for any labels"
        )
    return replace(method, expected_error=share)


def recover(
    X: Any,
    oracle: Any,
    *,
    n_clusters: int | None = None,
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
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
    on_progress: Callable[[Labelling], None] | None = None,
    concurrency: int = 1,
    retry: Any = (),
    progress: bool = False,
) -> Recovery:
    """Recover the clusters of X by asking an oracle.

    ``oracle`` is an `samecluster.oracles.Oracle`, or a function of two row numbers that returns
    True if they are in the same cluster, and None if that cannot be said; with ``gives="rows"`` of
    two rows, each a mapping of its columns. If it fails, the
    `samecluster.errors.OracleError` has all answers so far. ``error_rate`` is the share of answers
    that may be wrong. If it is above 0, or the oracle is a panel, answers that cannot all be right
    are put again, to others or about other items, and what is outvoted is retracted
    (`Recovery.retracted`); what stays open is listed (`Recovery.refutations`). ``on_progress`` is
    called after each batch of answers with what is known so far; ``progress=True`` draws a bar.

    With ``concurrency=8`` up to 8 questions are put at once, each in a thread, and the method
    chooses questions that depend little on each other; `recover_async` is for ``async def``
    oracles. ``retry=(TimeoutError,)`` asks again after such an error, up to 5 times, with waits
    (`samecluster.oracles.Retry` says how often and how long). Ctrl-C raises
    `samecluster.errors.RecoveryInterrupted`, a KeyboardInterrupt that has all answers so far. The
    other parameters are those of `start`.

    Examples
    --------
    >>> from samecluster.instances import make_ellipsoids
    >>> from samecluster.oracles import LabelOracle
    >>> made = make_ellipsoids(n=1000, d=2, k=3, random_state=0)
    >>> found = recover(
    ...     made.X, LabelOracle(made.labels), n_clusters=3, margin=made.margin, random_state=0
    ... )
    >>> from samecluster import clustering_error
    >>> clustering_error(found.labels, made.labels)
    0.0
    """
    refuse_async(oracle)
    choice = ColumnChoice(features, text, categories, ignore, missing)
    points, frame = points_of(X, choice, logarithms=margin == "auto")
    fitted = checked_lift(lift, _names_of(points, frame), points)
    answering = as_oracle(_given_what(oracle, gives, X), points)
    problem = _problem(points, frame, n_clusters, margin, looks, hint, first, random_state)
    method = in_batches(_checked_method(method), concurrency)
    parameters = RecoveryParameters.checked(
        problem, method, fitted, audit, expected_error, max_questions, max_looks
    )
    if audit is not None and answering.models:
        raise InvalidInputError(
            f"an audit counts answers of people alone, and here {answering.models[0]} answers: "
            "leave audit out, and let people check its labels (docs/models.md)"
        )
    looks = answering.look_sizes(parameters.problem.looks)
    answering = asked_at_once(answering, looks, concurrency, retry)
    parameters = replace(parameters, problem=replace(parameters.problem, looks=looks))
    asking = _Asking(parameters, answering, _given(known, answers, len(points)))
    with shown_progress(progress, on_progress) as asking.on_progress:
        return asking.recovered(despite_errors=checked_error_rate(error_rate) > 0)


class _Asking:
    """One call of `recover`: an oracle that is asked until all is known, or until Ctrl-C."""

    def __init__(
        self, parameters: RecoveryParameters, oracle: Oracle, given: tuple[Answer, ...]
    ) -> None:
        self.parameters, self.oracle, self.given = parameters, oracle, given
        self.read = VerdictReader()
        self.on_progress: Callable[[Labelling], None] | None = None
        self.run: RecoveryRun | None = None
        self.mending: AnswerRepair | None = None

    def recovered(self, despite_errors: bool) -> Recovery:
        try:
            if despite_errors or isinstance(self.oracle, Panel):
                found = self._despite_errors()
            else:
                found = self._plainly()
            return found.by_models(self.oracle.models)
        except KeyboardInterrupt:
            answers = self._all_answers()
            raise RecoveryInterrupted(answers, lambda: self._followed(answers)) from None

    def _followed(self, answers: tuple[Answer, ...]) -> Recovery:
        run = self.parameters.run(Ledger(answers))
        return run.snapshot().by_models(self.oracle.models)

    def _all_answers(self) -> tuple[Answer, ...]:
        said = () if self.mending is None else self.mending.said.values()
        told = () if self.run is None else self.run.ledger
        late = self.oracle.undelivered if isinstance(self.oracle, SeveralAtOnce) else ()
        return all_answers(self.given, said, told, late)

    def _driven(self, run: RecoveryRun) -> Recovery:
        self.run = run
        show = self.on_progress
        after_batch = None if show is None else lambda: show(run.labelling)
        ask: Any = checked_replies
        if self.parameters.problem.looks.pairs_only:
            ask = checked_answers
        return drive_looks(
            run, lambda looks: ask(self.oracle, looks, self.read), after_batch, run.snapshot
        )

    def _plainly(self) -> Recovery:
        run = self.parameters.run(Ledger(self.given))
        try:
            return self._driven(run)
        except (ContradictionError, RefutedError) as error:
            error.keep(tuple(run.ledger), run.snapshot())
            raise

    def _despite_errors(self) -> Recovery:
        panel = self.oracle if isinstance(self.oracle, Panel) else None
        mending = self.mending = AnswerRepair(
            lambda question: checked_answer(self.oracle, question, self.read),
            again=None if panel is None else panel.again,
            weight=None if panel is None else lambda answer: panel.weight(answer.question),
        )
        mending.hear(self.given)
        try:
            return _recover_despite_errors(self.parameters, mending, self._driven)
        except OracleError as error:
            mending.hear(error.answers)
            error.keep(tuple(mending.said.values()), error.recovery)
            raise
        except (ContradictionError, RefutedError) as error:
            error.keep(tuple(mending.said.values()))
            raise


def _recover_despite_errors(
    parameters: RecoveryParameters, mending: AnswerRepair, driven: Callable[[RecoveryRun], Recovery]
) -> Recovery:
    """Recover; where answers cannot all be right, mend them and start anew from those kept."""
    n_questions = n_looks = n_shown = n_in_vain = 0
    while True:
        ledger = Ledger(mending.kept)
        n_before = len(ledger)
        try:
            confirmed, exceptions = frozenset(mending.confirmed), frozenset(mending.exceptions)
            spent = n_questions + mending.n_questions, n_looks + mending.n_questions
            found = driven(
                parameters.run(ledger, spent, confirmed=confirmed, exceptions=exceptions)
            )
        except (ContradictionError, RefutedError) as trouble:
            n_questions += len(ledger) - n_before
            n_looks += n_looks_of(tuple(ledger)[n_before:])
            n_shown += n_shown_of(tuple(ledger)[n_before:])
            mending.hear(ledger)
            if len(mending.open) == _MOST_REFUTATIONS or n_in_vain == _MOST_IN_VAIN:
                raise
            before = mending.settled()
            mending.mend(trouble)
            n_in_vain = n_in_vain + 1 if mending.settled() == before else 0
            continue
        return replace(
            found,
            n_questions=n_questions + mending.n_questions + found.n_questions,
            n_looks=n_looks + mending.n_questions + found.n_looks,
            n_shown=n_shown + 2 * mending.n_questions + found.n_shown,
            retracted=mending.retracted,
            refutations=tuple(mending.open),
        )


def learn_cluster(
    X: Any,
    oracle: Any,
    member: int,
    *,
    error: float = 0.05,
    failure: float = 0.05,
    answers: Iterable[Answer] = (),
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
) -> LearnedCluster:
    """Learn the cluster of one row up to an error: an ellipsoid that judges any point.

    A random sample is compared with row ``member``, one question a point; how many does not depend
    on the number of points, nor on a margin or the number of clusters. Some ellipsoid must hold
    the cluster and nothing else.

    Parameters
    ----------
    X : (n, d) points, one a row
    oracle : as in `recover`
    member : a row of the cluster to learn
    error, failure : with probability at least 1 − ``failure``, at most the share ``error`` of the
        rows is judged wrongly; ``samecluster.recovery.paper.one_cluster.sample_size`` says what
        that costs
    answers : given before, such as ``error.all_answers`` of an `samecluster.errors.AnswerError`
        that stopped it; with the same seed they are not asked again
    random_state : seed

    Examples
    --------
    >>> from samecluster.instances import make_ellipsoids
    >>> from samecluster.oracles import LabelOracle
    >>> made = make_ellipsoids(n=20_000, d=2, k=3, random_state=0)
    >>> learned = learn_cluster(made.X, LabelOracle(made.labels), 7, error=0.1, random_state=0)
    >>> truth = made.labels == made.labels[7]
    >>> learned.n_sample, bool(np.mean(learned.contains(made.X) != truth) <= learned.error <= 0.1)
    (1076, True)
    """
    points = validated(X)
    if not isinstance(member, numbers.Integral) or not 0 <= member < len(points):
        raise InvalidInputError(f"member must be a row number below {len(points)}, got {member!r}")
    answering = as_oracle(oracle, points)
    plan = plan_cluster(points, int(member), error, failure, generator(random_state))
    run = Run(plan, Ledger(checked_given(answers, len(points))))
    try:
        return drive_looks(run, lambda questions: checked_answers(answering, questions))
    except AnswerError as stopped:
        stopped.keep(tuple(run.ledger))
        raise


def _checked_method(method: Any) -> Method:
    if isinstance(method, str):
        if method not in METHODS:
            allowed = ", ".join(repr(name) for name in METHODS)
            raise InvalidInputError(f"method must be one of {allowed}, got {method!r}")
        method = METHODS[method]()
    if not callable(getattr(method, "plan", None)) or isinstance(method, type):
        raise InvalidInputError(
            f"method must be a name or an object such as Recur(), got {method!r}"
        )
    checked: Method = method
    return checked
