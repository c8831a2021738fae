"""Writing events down: the parts of a session that change something do it through here only.

Each event is completed with the cluster numbers that are new, and preceded by the one that says
that an audit has begun, if it has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from samecluster.sessions.event_log import EventLog
from samecluster.sessions.known_labels import KnownLabels
from samecluster.sessions.running.engine import Engine
from samecluster.sessions.state.state import State
from samecluster.sessions.storage.events import Event


class Recorder:
    """A log, and the labels that tell which numbers and audits its next event has to mention."""

    def __init__(self, log: EventLog, known: KnownLabels) -> None:
        self._log, self._known = log, known

    @property
    def state(self) -> State:
        return self._log.state

    def append(
        self, kind: str, who: str | None, body: Mapping[str, Any], *, is_judged: bool = False
    ) -> int:
        """Write an event down; its sequence number, once it is safe."""
        drafts = self._drafts(kind, who, body, self._known.new_numbers())
        return self._log.append(drafts, is_judged=is_judged)

    def append_if_usable(
        self,
        kind: str,
        who: str | None,
        body: Mapping[str, Any],
        numbers: Mapping[str, int],
        engine: Engine | None = None,
    ) -> None:
        """Write an event down if a run can follow it, or raise what the run raises.

        ``engine`` is one for other rows, if the event brings some.
        """
        drafts = self._drafts(kind, who, body, numbers)
        imagined = self._known.of_state(self._log.imagined(*drafts), engine)
        imagined.prepare()
        with self._log.lock:
            is_as_imagined = not self._log.waiting
            self._log.append(drafts)
        self._known.replace_run(imagined if is_as_imagined else imagined.of_state(self.state))

    def imagined(self, *events: tuple[str, str | None, Mapping[str, Any]]) -> State:
        """The state after events (kind, who, body); nothing is written."""
        return self._log.imagined(*(self._log.draft(*event) for event in events))

    def _drafts(
        self, kind: str, who: str | None, body: Mapping[str, Any], numbers: Mapping[str, int]
    ) -> list[Event]:
        """The event, after one that says that an audit has begun if none has said so yet.

        From then on a new epoch has to do with a smaller share of what the confidence leaves.
        """
        drafts = [self._log.draft(kind, who, body, numbers)]
        if self._known.has_new_audit():
            error, confidence = self.state.parameters["audit"]
            begun = {"error": error, "confidence": confidence}
            drafts.insert(0, self._log.draft("audit", None, begun))
        return drafts
