"""What is known of a session at one moment: made once, never changed, read by all requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from samecluster.recovery.forecast import Remaining
from samecluster.recovery.result.claims import Claim
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery
from samecluster.sessions.progress import Progress
from samecluster.sessions.session import Session
from samecluster.sessions.state.state import State
from samecluster.workspace.status import how_counts, minutes_left, questions_left


@dataclass(frozen=True, eq=False)
class SessionSummary:
    """A moment of a session.

    Attributes
    ----------
    version : counts the summaries of this server; below 0 until the first questions were worked out
    sequence : the last event that is in it
    recovery : labels with public numbers
    anchors, names : of each cluster, by number
    progress : as JSON
    parameters : of the session
    """

    version: int
    sequence: int
    recovery: Recovery
    anchors: Mapping[int, str]
    names: Mapping[int, str]
    progress: Mapping[str, Any]
    parameters: Mapping[str, Any]
    aliases: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def blank(cls, session: Session) -> SessionSummary:
        """The summary before the first questions were worked out, which may take seconds."""
        n = len(session.state.items.keys)
        asked, looks = session.state.n_questions, session.state.n_looks
        nothing = Progress(n, 0, asked, {How.UNASSIGNED: n}, 0, "", n_looks=looks)
        progress = _progress(nothing, session.state, (), None)
        return cls(-1, 0, nothing_known(n), {}, {}, progress, dict(session.state.parameters))

    @classmethod
    def of(cls, session: Session, version: int) -> SessionSummary:
        state, recovery, progress = session.state, session.snapshot(), session.progress()
        left = questions_left(session)
        minutes = minutes_left(session, left)
        return cls(
            version,
            state.n_events,
            recovery,
            session.anchors(),
            session.names(),
            _progress(progress, state, recovery.claims, left, minutes),
            dict(state.parameters),
            session.aliases(),
        )

    @property
    def is_blank(self) -> bool:
        """Whether nothing was worked out yet."""
        return self.version < 0

    def cluster(self, number: int) -> int | None:
        """The number that a group goes by now; None if there is no such group."""
        number = self.aliases.get(number, number)
        return number if number in self.anchors else None

    def label(self, row: int) -> int:
        return int(self.recovery.labels[row])

    def group(self, number: int) -> dict[str, Any] | None:
        """A group by its number, as JSON."""
        return None if number < 0 else {"number": number, "name": self.names.get(number)}

    def counted_group(self, number: int) -> dict[str, Any]:
        """A group with the numbers that it had before, and how its members are known."""
        codes = self.recovery.how_codes[self.recovery.labels == number]
        by_how = dict(zip(How, np.bincount(codes, minlength=len(How)).tolist(), strict=True))
        return {
            "number": number,
            "name": self.names.get(number),
            "aliases": sorted(n for n, now in self.aliases.items() if now == number),
            "size": len(codes),
            "by_how": how_counts(by_how),
        }


def nothing_known(n: int) -> Recovery:
    """The labels of n items before there are any."""
    labels, how, points = np.full(n, -1), np.zeros(n, np.int8), np.zeros((n, 1))
    return Recovery(labels, how, 0, (), labels.astype(np.int32), (), points, "", None, None)


def _progress(
    progress: Progress,
    state: State,
    claims: tuple[Claim, ...],
    left: Remaining | None,
    minutes: tuple[float, float] | None = None,
) -> dict[str, Any]:
    audit = progress.audit
    return {
        "sequence": state.n_events,
        "n_items": progress.n_items,
        "n_clusters": progress.n_clusters,
        "n_questions": progress.n_questions,
        "n_looks": progress.n_looks,
        "by_how": how_counts(progress.by_how),
        "left": None if left is None else _left(left, minutes),
        "audit": None if audit is None else {"text": str(audit), "met": audit.met},
        "stop_at": state.parameters.get("expected_error"),
        "claims": [claim.as_dict() for claim in claims],
        "ended": progress.ended,
        "n_trouble": progress.n_trouble,
        "line": str(progress),
    }


def _left(left: Remaining, minutes: tuple[float, float] | None) -> dict[str, Any]:
    told = None if minutes is None else list(minutes)
    return {"low": left.low, "high": left.high, "text": str(left.claim), "minutes": told}
