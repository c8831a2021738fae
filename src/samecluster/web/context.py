"""What requests need: the session on its board, how it is shown, and who takes part."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias

from samecluster.web.images import Images
from samecluster.web.links import People, Person
from samecluster.web.plot import Plot
from samecluster.web.session_thread import Board
from samecluster.web.views import Views
from samecluster.workspace.open import Opened

__all__ = ["Call", "Desk", "Handler"]


@dataclass(frozen=True)
class Call:
    """A request whose shape was checked: who makes it, and its fields."""

    person: Person
    given: Mapping[str, Any]

    @property
    def who(self) -> str | None:
        return self.person.name

    def __getitem__(self, name: str) -> Any:
        return self.given[name]


@dataclass
class Desk:
    """A session that is being served.

    ``seen`` is when everybody was last here, ``placed`` the events of each person's last placement,
    which are taken back together.
    """

    opened: Opened
    board: Board
    views: Views
    plot: Plot
    images: Images | None
    people: People
    lease_seconds: float
    seen: dict[str | None, datetime] = field(default_factory=dict)
    placed: dict[str | None, list[int]] = field(default_factory=dict)

    def note(self, person: Person) -> None:
        """Somebody is here."""
        self.seen[person.name] = datetime.now(UTC)


Handler: TypeAlias = Callable[[Desk, Call], Awaitable[Any]]
"""What an operation of openapi.json does; gives JSON, or a response."""
