"""Who may answer in a session: people, programs under names of their own, and simulations alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from samecluster.errors import InvalidInputError
from samecluster.sessions.state.votes import MODEL
from samecluster.sessions.storage.events import Event
from samecluster.sessions.storage.sqlite import SqliteStore
from samecluster.workspace.open import session_path
from samecluster.workspace.request import Request

_ANSWERS = ("answered", "unsure", "flagged", "looked")
_MOST_NAMED = 3


def program_name(who: str | None) -> str:
    """Under which name a program answers: no person goes by it."""
    return "program" if who is None else f"program {who}"


def model_name(model: str) -> str:
    """Under which name a language model answers."""
    return f"{MODEL}{model}"


def simulation_name(truth: str, is_file: bool) -> str:
    """Under which name a column or a file with the true groups answers."""
    return f"file {Path(truth).name}" if is_file else f"column {truth}"


def check_program(request: Request, name: str, join: bool) -> None:
    """InvalidInputError if others have answered in the session, unless the program shall join."""
    path = session_path(request)
    events = _events(path)
    others = _people(events) - {name}
    if _is_of_before(events):
        others.discard(request.who)  # a program then had the name that it was given
    if others and not join:
        raise InvalidInputError(
            f"{path} has answers of {_listed(others)}; to let the program answer there, too, give "
            "it a name and say so: --who NAME --join (or name another file with --session FILE)"
            if not name.startswith(MODEL)
            else f"{path} has answers of {_listed(others)}; to let the model answer there, too, "
            "say --join (or name another file with --session FILE)"
        )
    if others and request.who is None and not name.startswith(MODEL):
        raise InvalidInputError(
            f"--join needs a name for the program: --who NAME; {path} has answers of "
            f"{_listed(others)}"
        )


def check_simulation(request: Request, name: str) -> None:
    """InvalidInputError if there are answers in the session that were not simulated."""
    if request.who is not None:
        raise InvalidInputError(
            f"--who is for people and programs; simulated answers go by the name {name!r}"
        )
    path = session_path(request)
    events = _events(path)
    others = _people(events)
    sources = {event.body["source"] for event in events if event.kind == "imported"}
    if name in others:
        sources.clear()  # what was imported is part of the simulation that began there
    others.discard(name)
    told = [*_names(others), *sorted(sources - _own_sources(request))]
    if told:
        raise InvalidInputError(
            f"{path} has answers of {_listed(told)}; simulated ones are never mixed with others: "
            "name another file with --session FILE, or keep none with --no-session"
        )


def _own_sources(request: Request) -> set[str]:
    """What imports are called that this request makes itself."""
    found = {f"labels in column {request.labels}", f"{Path(request.data).name}.answers.jsonl"}
    return found if request.pairs is None else {*found, f"pairs in {request.pairs.name}"}


def _events(path: Path) -> list[Event]:
    if not path.exists():
        return []
    with closing(SqliteStore(path, read_only=True)) as store:
        return list(store.read())


def _people(events: Iterable[Event]) -> set[str | None]:
    """The names of those who have answered, also if it was taken back."""
    return {event.who for event in events if event.kind in _ANSWERS}


def _is_of_before(events: Sequence[Event]) -> bool:
    """Whether a session is older than names of programs: its options lack what came with them."""
    wanted = events[0].body["preparation"].get("wanted") if events else None
    return isinstance(wanted, Mapping) and "missing" not in wanted


def _names(people: Collection[str | None]) -> list[str]:
    return sorted("somebody without a name" if who is None else who for who in people)


def _listed(people: Collection[str | None]) -> str:
    names = _names(people)
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more:,} others" if more > 0 else "")
