"""What people said about pairs, whose word counts, and the one verdict per pair for the run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from samecluster.questions.pair import Verdict
from samecluster.sessions.storage.events import Event
from samecluster.sessions.storage.look_format import Looked, text_of

Pair: TypeAlias = tuple[str, str]
"""Two keys, the smaller first."""

Voter: TypeAlias = str | int | None
"""A person by name, nobody in particular, or an import by its sequence number."""

MODEL = "model "
"""How the names begin under which language models answer."""


def is_model(who: str | None) -> bool:
    """Whether this is the name of a language model, whose word nothing is claimed by."""
    return who is not None and who.startswith(MODEL)


def pair_of(items: Iterable[str]) -> Pair:
    one, two = sorted(items)
    return one, two


@dataclass(frozen=True, slots=True)
class Vote:
    """One verdict of one person, or of one import, on a pair.

    ``items`` are in the order in which they were shown, ``source`` is where an import came from,
    ``note`` is what was noted with a flag, and ``looked`` is the look that it is part of, with the
    reply, if more than this pair was on the screen.
    """

    sequence: int
    items: tuple[str, str]
    verdict: Verdict
    who: str | None = None
    source: str | None = None
    note: str | None = None
    looked: Looked | None = None

    @property
    def pair(self) -> Pair:
        return pair_of(self.items)

    @property
    def voter(self) -> Voter:
        return self.who if self.source is None else self.sequence

    @property
    def is_trusted(self) -> bool:
        """Whether claims may rest on it: not if a language model said it."""
        return not is_model(self.who if self.source is None else self.source)

    def __str__(self) -> str:
        by = self.source or self.who
        text = f"answer {self.sequence}: {self.items[0]} and {self.items[1]} {self.verdict.value}"
        return f"{text} ({by})" if by else text


def votes_in(event: Event) -> list[Vote]:
    """What an event says about pairs; ValueError if a look and its answers do not agree."""
    body, who = event.body, event.who
    if event.kind == "imported":
        return [
            Vote(event.sequence, (one, two), Verdict(verdict), who, source=body["source"])
            for one, two, verdict in body["answers"]
        ]
    if event.kind == "looked":
        looked = Looked(
            text_of(body["look"]), text_of(body["reply"]), tuple(body.get("decoys", ()))
        )
        said, votes = {pair_of(items): verdict for items, verdict in looked.verdicts()}, []
        for one, two, verdict, _ in body["answers"]:
            if said.get(pair_of((one, two))) is not Verdict(verdict):
                raise ValueError(f"the reply does not say that {one} and {two} are {verdict}")
            votes.append(Vote(event.sequence, (one, two), Verdict(verdict), who, looked=looked))
        return votes
    one, two = body["items"]
    verdict = Verdict(body["verdict"]) if event.kind == "answered" else Verdict.UNSURE
    note = body["note"] if event.kind == "flagged" else None
    return [Vote(event.sequence, (one, two), verdict, who, note=note)]


@dataclass(frozen=True)
class Trust:
    """Whose answers count: everybody's, or those of people alone, who check labels of models.

    ``labels`` are these labels by item, None if everybody's answers count; ``models`` gave them.
    """

    labels: Mapping[str, int] | None = None
    models: tuple[str, ...] = ()

    @property
    def people_only(self) -> bool:
        """Whether answers of models do not count."""
        return self.labels is not None

    def covers(self, who: str | None) -> bool:
        """Whether the answers of somebody count."""
        return not (self.people_only and is_model(who))

    def settling(self, votes: list[Vote]) -> list[Vote]:
        """Those of the votes on a pair that settle it: people's, where people are sure."""
        by_people = [vote for vote in votes if vote.is_trusted]
        is_said = any(vote.verdict is not Verdict.UNSURE for vote in by_people)
        return by_people if is_said or self.people_only else votes


@dataclass(frozen=True, slots=True)
class SettledPair:
    """The one verdict on a pair that the run gets, whatever the number of votes.

    ``looked`` is the look of the first who spoke about it, if more was on the screen.
    """

    items: tuple[str, str]
    verdict: Verdict
    looked: Looked | None = None

    @property
    def pair(self) -> Pair:
        return pair_of(self.items)


def majority(votes: Iterable[Vote]) -> SettledPair | None:
    """The verdict of most of those who are sure; "unsure" if it is a tie or nobody is sure."""
    votes = list(votes)
    if not votes:
        return None
    same, different = _count(votes)
    verdict = Verdict.UNSURE if same == different else Verdict.of(same > different)
    return SettledPair(votes[0].items, verdict, votes[0].looked)


def is_tie(votes: Iterable[Vote]) -> bool:
    """Whether as many said "same" as "different", and somebody said so."""
    same, different = _count(votes)
    return same == different > 0


def _count(votes: Iterable[Vote]) -> tuple[int, int]:
    verdicts = [vote.verdict for vote in votes]
    return verdicts.count(Verdict.SAME), verdicts.count(Verdict.DIFFERENT)
