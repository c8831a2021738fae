"""What operations work on: the session in its thread, how it is shown, and who takes part."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from samecluster.web.images import Images
from samecluster.web.links import Participant, Participants
from samecluster.web.plot import Plot
from samecluster.web.session_thread import SessionThread
from samecluster.web.views import Views
from samecluster.workspace.item_names import ItemNames
from samecluster.workspace.open import OpenSession


@dataclass(frozen=True)
class Call:
    """A request whose shape was checked: who makes it, its fields, and whether the link holds."""

    person: Participant
    given: Mapping[str, Any]
    is_welcome: Callable[[], bool] = lambda: True

    @property
    def who(self) -> str | None:
        return self.person.name

    def __getitem__(self, name: str) -> Any:
        return self.given[name]


@dataclass
class ServerContext:
    """A session that is being served.

    ``seen`` is the time of each person's last request.
    """

    opened: OpenSession
    thread: SessionThread
    views: Views
    plot: Plot
    images: Images | None
    people: Participants
    lease_seconds: float
    seen: dict[str | None, datetime] = field(default_factory=dict)

    @cached_property
    def names(self) -> ItemNames:
        """Names of items, for texts that have keys in them."""
        return ItemNames(self.opened.data)

    def files(self) -> list[Path]:
        """The files that errors may name."""
        return [self.opened.path.absolute(), self.opened.path.resolve(), self.people.file]

    def note(self, person: Participant) -> None:
        """Remember that this person made a request now."""
        self.seen[person.name] = datetime.now(UTC)


Handler: TypeAlias = Callable[[ServerContext, Call], Awaitable[Any]]
"""The function behind an operation; returns JSON or a response."""
