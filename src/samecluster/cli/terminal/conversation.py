"""The conversation of ``samecluster label``: show a look, read a key, go on; until the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import monotonic
from typing import Any

from samecluster.cli.terminal.keyboard import read_line
from samecluster.cli.terminal.lines import look_line, progress_lines
from samecluster.cli.terminal.look_display import (
    ASKED,
    MOST_DIGITS,
    print_look,
    reply_of,
    shown_groups,
)
from samecluster.cli.terminal.prompt import VERDICTS, SessionPrompt
from samecluster.cli.terminal.screen import Screen
from samecluster.errors import AnswerError, InvalidInputError, ProtocolError
from samecluster.questions.look import Choice
from samecluster.recovery.result.how import How
from samecluster.sessions.conflicts import SecondLook
from samecluster.sessions.question import SessionLook, SessionQuestion
from samecluster.workspace.next_steps import choices
from samecluster.workspace.open import OpenSession

_PROMPT = "Same group? y yes, n no, u unsure, b back, q quit, ? help: "
_CHECKED_EVERY = 10  # looks, after which answers that do not fit the others are looked for
_LONGEST_LOOK = 60.0  # seconds; what takes longer is taken for a pause


class Conversation(SessionPrompt):
    """One person and one session.

    Parameters
    ----------
    opened : the session with its data
    columns : what to show of items
    who : the person, or None
    key : reads a key; None at the end of the input
    extend_sample : called when nothing is left to ask; the session with more items, or None
    line : reads a line, for looks that are answered by numbers; None at the end of the input
    """

    def __init__(
        self,
        opened: OpenSession,
        console: Screen,
        columns: Sequence[str],
        who: str | None,
        key: Callable[[], str | None],
        extend_sample: Callable[[OpenSession], OpenSession | None] = lambda _: None,
        line: Callable[[], str | None] = read_line,
    ) -> None:
        super().__init__(opened, console, columns, who, key)
        self._n_trouble = len(self.session.trouble)
        self._extend_sample, self._checked_at_event = extend_sample, -1
        self._line, self._shown_at = line, monotonic()
        self._n_since = 0
        self._again: SecondLook | None = None

    def hold(self) -> None:
        """Ask until nothing is left to ask, or the person quits."""
        while True:
            with self.console.waiting("working out the next question"):
                looks = self.session.ask_looks(self.who)
            if not looks:
                if not self._looks_again() and not self._has_new_items() and not self._choose():
                    return
                continue
            look = looks[0]
            self._n_since += 1
            if self._n_since >= _CHECKED_EVERY and self._looks_again():
                continue
            self._show_progress()
            if self._again is not None and look.id == self._again.question.id:
                self.say(f"{self._again}.", "bold")
            if not (self._ask_look(look) if isinstance(look, SessionLook) else self._ask(look)):
                return

    def _looks_again(self) -> bool:
        """Whether another answer does not fit the others: it is put from another side next."""
        self._n_since = 0
        with self.console.waiting("checking that the answers fit together"):
            found = self.session.look_again(self.who)
        self._again = found or self._again
        return found is not None

    def _has_new_items(self) -> bool:
        """Whether there are more items now; found out once after every event."""
        if self._checked_at_event == self.session.state.n_events:
            return False
        more = self._extend_sample(self.opened)
        self._checked_at_event = self.session.state.n_events
        self.opened = more or self.opened
        return more is not None

    def _ask(self, question: SessionQuestion) -> bool:
        """Put a question; False if the person quits."""
        self.show(question)
        if question.before is not None:
            self.say(f"You said: {question.before.value}.")
        while True:
            key = self.read(_PROMPT)
            if key is None or key == "q":
                return False
            if key == "b":
                if not self._take_back():
                    continue
                return True
            if key in VERDICTS:
                with self.console.waiting("working out what follows"):
                    seconds = self._seconds()
                    self.session.tell(question.id, VERDICTS[key], self.who, seconds=seconds)
                    _ = self.session.trouble
                return self._look_at_trouble()
            self.explain("ynubq")

    def _ask_look(self, look: SessionLook) -> bool:
        """Put a look of several pairs; False if the person quits."""
        names = dict(self._names())
        page, n_pages = 0, -(-len(look.body.get("groups", ())) // MOST_DIGITS)
        print_look(self.console, self.opened, look, self.columns, names)
        if look.before is not None:
            self.say(f"You said: {look_line(look.body, look.before)}.")
        while True:
            said = self._read_look(look, page, n_pages)
            if said is None or said == "q":
                return False
            if said == "b":
                if self._take_back():
                    return True
                continue
            if said == "m" and n_pages > 1:
                page = (page + 1) % n_pages
                print_look(self.console, self.opened, look, self.columns, names, page)
                continue
            try:
                reply = self._reply(look, said, page)
                self.session.tell_look(look.id, reply, self.who, seconds=self._seconds())
            except (InvalidInputError, ProtocolError, AnswerError) as error:
                self.say(str(error))
                continue
            return self._look_at_trouble()

    def _read_look(self, look: SessionLook, page: int, n_pages: int) -> str | None:
        kind = look.body["kind"]
        if not isinstance(look.look, Choice):
            return self.read(ASKED[kind], self._line)
        more = "m more groups, " if n_pages > 1 else ""
        return self.read(ASKED[kind].format(n=len(shown_groups(look.look, page)), more=more))

    def _reply(self, look: SessionLook, said: str, page: int) -> dict[str, Any]:
        if not isinstance(look.look, Choice):
            return reply_of(look, said)
        if said in ("0", "u"):
            return {"none": True} if said == "0" else {"unsure": True}
        n = len(shown_groups(look.look, page))
        if not said.isdigit() or not 1 <= int(said) <= n:
            raise InvalidInputError(f"Press a number from 0 to {n}, u, b or q.")
        return {"groups": [page * MOST_DIGITS + int(said) - 1]}

    def _names(self) -> Iterator[tuple[str, str]]:
        """The names of clusters, by each of their items."""
        names, known = self.session.names(), self.session.snapshot()
        for key, label in zip(self.session.state.items.keys, known.labels.tolist(), strict=True):
            if label in names:
                yield key, names[label]

    def _take_back(self) -> bool:
        if self.session.undo(self.who) is None:
            self.say("There is no answer of yours to take back.")
            return False
        self._n_trouble = len(self.session.trouble)
        return True

    def _show_progress(self) -> None:
        self.console.print()
        state = self.session.state
        if state.facts or state.trust.people_only:  # before the first answer there is none
            for line in progress_lines(self.session):
                self.say(line, "dim")
        self._shown_at = monotonic()

    def _seconds(self) -> float:
        """How long the look was on the screen; a long time is a pause."""
        return min(monotonic() - self._shown_at, _LONGEST_LOOK)

    def _look_at_trouble(self) -> bool:
        """Show what has stopped fitting together, and offer remedies; False if the person quits."""
        trouble = self.session.trouble
        if len(trouble) <= self._n_trouble:
            self._n_trouble = len(trouble)
            return True
        goes_on = self.offer_remedies(trouble[-1])
        self._n_trouble = len(self.session.trouble)
        return goes_on

    def _choose(self) -> bool:
        """Say why there is no question, and what can be done; False to stop."""
        session, known = self.session, self.session.snapshot()
        self.console.print()
        self.say(f"{session.progress()}.", "bold")
        for line in known.assumptions:
            self.say(f"  {line}")
        found = choices(known, session.state.parameters)
        if known.count(How.ASKED) == len(known.labels):
            session.finish(self.who)
            return False
        self.say("What next?")
        for choice in found:
            self.say(f"  {choice.key}  {choice.text}")
        self.say("  b  take the last answer back")
        key = self.read_one_of([*(choice.key for choice in found), "b", "q"])
        if key == "b":
            self._take_back()
            return True
        chosen = next((choice for choice in found if choice.key == key), None)
        return chosen is not None and chosen.take(session, self.who)
