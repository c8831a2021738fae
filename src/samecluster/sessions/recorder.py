"""Writing events down: each with the cluster numbers that are new, and in one piece with its cause.

The parts of a session that change something do it through here, and only here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from samecluster.sessions.event_log import EventLog
from samecluster.sessions.known_labels import KnownLabels
from samecluster.sessions.running.engine import Engine
from samecluster.sessions.state.state import State
from samecluster.sessions.storage.events import Event

__all__ = ["Recorder"]


class Recorder:
    """A log, and the labels that tell which numbers and audits its next event has to mention."""

    def __init__(self, log: EventLog, known: KnownLabels) -> None:
        self._log, self._known = log, known

    @property
    def state(self) -> State:
        return self._log.state

    def append(self, kind: str, who: str | None, body: Mapping[str, Any]) -> int:
        """Write an event down; its sequence number, once it is safe."""
        return self._commit(self._log.draft(kind, who, body, self._known.new_numbers()))

    def append_if_usable(self, kind: str, who: str | None, body: Mapping[str, Any]) -> None:
        """Write an event down if a run can follow it, or raise what the run raises."""
        imagined = self._known.of_state(self._log.imagined(self._log.draft(kind, who, body)))
        imagined.prepare()
        self.append(kind, who, body)
        self._known.replace_run(imagined)

    def append_rows(
        self, engine: Engine, who: str | None, body: Mapping[str, Any], numbers: Mapping[str, int]
    ) -> None:
        """Write other rows down and go on with an engine for them, or raise what it raises."""
        draft = self._log.draft("updated", who, body, numbers)
        imagined = KnownLabels(self._log.imagined(draft), engine)
        imagined.prepare()
        self._commit(draft)
        self._known.replace_run(imagined)

    def imagined(self, *events: tuple[str, str | None, Mapping[str, Any]]) -> State:
        """The state after events (kind, who, body); nothing is written."""
        return self._log.imagined(*(self._log.draft(*event) for event in events))

    def _commit(self, event: Event) -> int:
        """An audit that has begun is written with the first answer to it, or any other first event.

        From then on a new epoch has to do with a smaller share of what the confidence leaves.
        """
        begun = []
        if self._known.has_new_audit():
            error, confidence = self.state.parameters["audit"]
            begun = [self._log.draft("audit", None, {"error": error, "confidence": confidence})]
        return self._log.append([*begun, event])
