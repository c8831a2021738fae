"""The comparison as markdown: all at a glance, then one table an instance with who was best."""

from __future__ import annotations

from importlib.metadata import version

from benchmarks.peers.course import Course
from benchmarks.peers.instances import INSTANCES
from benchmarks.peers.one_run import PATIENCE, QUESTIONS, SECONDS
from benchmarks.peers.tools import REFERENCE, TOOLS

MARKS = (100, 300, 1000)
PEERS = (
    "samecluster",
    "cobras-ts",
    "scikit-activeml",
    "active-semi-supervised-clustering",
    "scikit-learn",
    "numpy",
)
NOTES = f"""\
How it was counted:

- Every tool asks the same oracle, which counts pairs; a pair asked again is free. At most
  {QUESTIONS:,} questions, and {SECONDS} s of processor time on one thread ("not finished"). A
  tool that must know its budget beforehand (samecluster's first two rows,
  active-semi-supervised-clustering) runs anew for each, with as much time again.
- A tool that asks for class labels is charged the questions that place a point: it is compared with
  one member of each known class, the likeliest first, until one is the same. It is told k, so the
  last of k classes is free.
- Questions to zero error: from there on no error was seen, for at least {PATIENCE} more questions
  or to the end of the run. This uses the truth: a tool that does not know it is done cannot stop
  there. Points without a label count as errors.
- Errors at 100, 300 and 1,000 questions are of the labels that the tool would give then.
- Time is processor time to zero error, or to the end of the run if it stops by itself or does not
  come so far, without the time spent on measuring. A number with ">" was cut off.

Settings of the tools, where they are not the defaults:

- samecluster: defaults. For errors at 100, 300 and 1,000 it was given that budget. Certify and
  RECUR are told the true margin; on digits, whose margin nobody knows, 0.1.
- COBRAS (cobras-ts, k-means variant), active-semi-supervised-clustering, k-means, Gaussian mixture
  and both learners get columns of unit variance. Mixture and k-means: best of 10 starts.
- COBRAS was written for an older NumPy; the name `numpy.int` was given back to it.
- scikit-activeml: UncertaintySampling (margin sampling) over LogisticRegression on all columns,
  squares and products. RBF SVM: SVC(gamma="scale"). Both one point at a time, with scikit-learn's
  default C=1 and with C=100, since classes that do not overlap call for more than the default. No
  C is best everywhere: of 1, 100 and 10,000, tried with seed 0 on four of the instances, the last
  was exact soonest for scikit-activeml on the rare cluster (37 questions) and for the SVM at margin
  0.2 (165).
- active-semi-supervised-clustering: ExploreConsolidate and PCKMeans. Its MinMax and NPU compare all
  pairs of points in Python loops and were not run.
"""


def report(courses: dict[tuple[str, str], Course], date: str, seed: int) -> str:
    """The whole page, from the course of each (tool, instance)."""
    versions = ", ".join(f"{name} {version(name)}" for name in PEERS)
    head = (
        "# samecluster beside other tools\n\n"
        f"{date}, `make bench-peers`, seed {seed}, one run each. {versions}.\n\n"
        "At a glance: questions to zero error, the fewest in bold; or, in %, the labels that are "
        "still wrong or missing at 1,000 questions (or 300 or 100, where it was cut off before).\n"
    )
    names = [name for name in INSTANCES if any(instance == name for _, instance in courses)]
    tables = [
        _table(title, {tool: courses[tool, name] for tool in TOOLS if (tool, name) in courses})
        for name, title in ((name, INSTANCES[name][0]) for name in names)
    ]
    return "\n".join([head, _overview(courses, names), *tables, NOTES])


def _overview(courses: dict[tuple[str, str], Course], names: list[str]) -> str:
    """All instances at a glance: questions to zero error, or the error that is left."""
    exact = {pair: course.exact_from[0] for pair, course in courses.items() if course.exact_from}
    lines = [
        f"| tool | {' | '.join(names)} | knows it is done |",
        f"|---|{'---:|' * len(names)}---|",
    ]
    for tool, said in TOOLS.items():
        cells = []
        for name in names:
            course = courses.get((tool, name))
            fewest = min((exact[pair] for pair in exact if pair[1] == name), default=None)
            cell = "" if course is None else _at_a_glance(course)
            is_best = fewest is not None and exact.get((tool, name)) == fewest
            cells.append(f"**{cell}**" if is_best else cell)
        lines.append(f"| {said.title} | {' | '.join(cells)} | {said.knows} |")
    return "\n".join([*lines, ""])


def _at_a_glance(course: Course) -> str:
    if course.failure is not None:
        return "failed"
    if course.exact_from is not None:
        return f"{course.exact_from[0]:,}"
    errors = [course.error_at(mark) for mark in MARKS]
    known = [error for error in errors if error is not None]
    return _share(known[-1]) if known else "cut off"


def _table(title: str, courses: dict[str, Course]) -> str:
    exact = {tool: course.exact_from[0] for tool, course in courses.items() if course.exact_from}
    fewest = min(exact.values(), default=None)
    unit = _time_unit(courses)
    lines = [
        f"## {title}\n",
        "| tool | questions to zero error | knows it is done | error at 100 | 300 | 1,000 | "
        f"time / that of {TOOLS[unit].title} |",
        "|---|---:|---|---:|---:|---:|---:|",
    ]
    for tool, course in courses.items():
        to_zero = _to_zero(course)
        if fewest is not None and exact.get(tool) == fewest:
            to_zero = f"**{to_zero}**"
        errors = " | ".join(_share(course.error_at(mark)) for mark in MARKS)
        time = _time(course, courses.get(unit))
        lines.append(
            f"| {TOOLS[tool].title} | {to_zero} | {TOOLS[tool].knows} | {errors} | {time} |"
        )
    return "\n".join([*lines, "", _verdict(exact), ""])


def _time_unit(courses: dict[str, Course]) -> str:
    """Certify, or where it was cut off, what asks with nothing declared."""
    reference = courses.get(REFERENCE)
    return REFERENCE if reference is None or reference.ended else "auto"


def _to_zero(course: Course) -> str:
    if course.failure is not None:
        return f"failed: {course.failure}"
    if course.exact_from is not None:
        return f"{course.exact_from[0]:,}"
    if course.ended is None:
        return f"not finished ({course.asked:,} asked)"
    if course.ended == "stopped":
        return "never; asks nothing" if course.asked == 0 else f"never; stops at {course.asked:,}"
    return f"not within {QUESTIONS:,}"


def _share(error: float | None) -> str:
    if error is None:
        return "–"
    return "0" if error == 0 else f"{100 * error:.2g} %" if error < 0.1 else f"{100 * error:.0f} %"


def _seconds(course: Course) -> float:
    if course.exact_from is not None and course.ended != "stopped":
        return course.exact_from[1]
    return course.seconds


def _time(course: Course, unit: Course | None) -> str:
    if unit is None or course.failure is not None:
        return "–"
    cut_off = ">" if course.ended is None and course.exact_from is None else ""
    ratio = _seconds(course) / _seconds(unit)
    return f"{cut_off}{ratio:.2g}" if ratio < 10 else f"{cut_off}{ratio:,.0f}"


def _verdict(exact: dict[str, int]) -> str:
    """Who needed the fewest questions, in a sentence that names the winner whoever it is."""
    if not exact:
        return "No tool came to zero error."
    ranked = sorted(exact, key=lambda tool: exact[tool])
    best = ", ".join(f"{TOOLS[tool].title} ({exact[tool]:,})" for tool in ranked[:3])
    sure = [tool for tool in ranked if TOOLS[tool].knows.startswith("yes")]
    known = f"{TOOLS[sure[0]].title} ({exact[sure[0]]:,})" if sure else "none"
    return f"Fewest questions to zero error: {best}. Of those that know it: {known}."
