"""What the lines of a run say: errors on the way, questions to zero error, time."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class Course:
    """``points``: (questions, error, seconds) in order. ``ended``: None if it was killed.

    ``budgets``: errors of runs that were told their budget beforehand.
    """

    points: list[tuple[int, float, float]] = field(default_factory=list)
    budgets: dict[int, float] = field(default_factory=dict)
    ended: str | None = None
    asked: int = 0
    seconds: float = 0.0
    failure: str | None = None

    @property
    def exact_from(self) -> tuple[int, float] | None:
        """Questions, and seconds, from which on there was no error; None if it ended with one."""
        exact: tuple[int, float] | None = None
        for questions, error, seconds in self.points:
            if error > 0:
                exact = None
            elif exact is None:
                exact = questions, seconds
        return exact

    def error_at(self, questions: int) -> float | None:
        """The error of the last labels that took no more than so many; None if never known."""
        if questions in self.budgets:
            return self.budgets[questions]
        if self.ended is None and self.asked < questions:
            return None
        known = [error for asked, error, _ in self.points if asked <= questions]
        return known[-1] if known else None


def read_course(lines: Iterable[str]) -> Course:
    """A run from its lines; the last may be cut off where the run was killed."""
    course = Course()
    for line in lines:
        if not line.endswith("\n"):
            break
        said = json.loads(line)
        if said["event"] == "restart":
            course.points.clear()
        elif said["event"] == "error":
            course.points.append((said["asked"], said["error"], said["seconds"]))
            course.asked, course.seconds = said["asked"], said["seconds"]
        elif said["event"] == "at":
            course.budgets[said["budget"]] = said["error"]
        else:
            course.ended, course.asked, course.seconds = said["how"], said["asked"], said["seconds"]
    return course
