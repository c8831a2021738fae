"""The conversation of ``samecluster label``: show a pair, read a key, go on; until the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from samecluster.cli.terminal.lines import progress_lines
from samecluster.cli.terminal.pair import print_pair
from samecluster.cli.terminal.prompt import VERDICTS, Prompt
from samecluster.cli.terminal.screen import Screen
from samecluster.recovery.result.how import How
from samecluster.sessions.question import SessionQuestion
from samecluster.workspace.item_names import ItemNames
from samecluster.workspace.next_steps import choices
from samecluster.workspace.open import OpenSession

_PROMPT = "Same group? y yes, n no, u unsure, b back, q quit, ? help: "


class Conversation:
    """One person and one session.

    Parameters
    ----------
    opened : the session with its data
    columns : what to show of items
    who : the person, or None
    key : reads a key; None at the end of the input
    extend_sample : called when nothing is left to ask; the session with more items, or None
    """

    def __init__(
        self,
        opened: OpenSession,
        console: Screen,
        columns: Sequence[str],
        who: str | None,
        key: Callable[[], str | None],
        extend_sample: Callable[[OpenSession], OpenSession | None] = lambda _: None,
    ) -> None:
        self._opened, self._session, self._console = opened, opened.session, console
        self._columns, self._who, self._talk = (
            columns,
            who,
            Prompt(console, key, ItemNames(opened.data).in_text),
        )
        self._n_trouble = len(self._session.trouble)
        self._extend_sample, self._checked_at_event = extend_sample, -1

    def hold(self) -> None:
        """Ask until nothing is left to ask, or the person quits."""
        while True:
            with self._console.waiting("working out the next question"):
                questions = self._session.ask(self._who)
            if not questions:
                if not self._has_new_items() and not self._choose():
                    return
            elif not self._ask(questions[0]):
                return

    def _has_new_items(self) -> bool:
        """Whether there are more items now; found out once after every event."""
        if self._checked_at_event == self._session.state.n_events:
            return False
        more = self._extend_sample(self._opened)
        self._checked_at_event = self._session.state.n_events
        self._opened = more or self._opened
        return more is not None

    def _ask(self, question: SessionQuestion) -> bool:
        """Put a question; False if the person quits."""
        self._console.print()
        for line in progress_lines(self._session):
            self._talk.say(line, "dim")
        print_pair(self._console, self._opened, question, self._columns)
        if question.before is not None:
            self._talk.say(f"You said: {question.before.value}.")
        while True:
            key = self._talk.read(_PROMPT)
            if key is None or key == "q":
                return False
            if key == "b":
                if self._session.undo(self._who) is None:
                    self._talk.say("There is no answer of yours to take back.")
                    continue
                self._n_trouble = len(self._session.trouble)
                return True
            if key in VERDICTS:
                with self._console.waiting("working out what follows"):
                    self._session.tell(question.id, VERDICTS[key], self._who)
                    _ = self._session.trouble
                return self._look_at_trouble()
            self._talk.explain("ynubq")

    def _look_at_trouble(self) -> bool:
        """Show what has stopped fitting together, and offer remedies; False if the person quits."""
        trouble = self._session.trouble
        if len(trouble) <= self._n_trouble:
            self._n_trouble = len(trouble)
            return True
        goes_on = self._talk.offer_remedies(self._session, trouble[-1], self._who)
        self._n_trouble = len(self._session.trouble)
        return goes_on

    def _choose(self) -> bool:
        """Say why there is no question, and what can be done; False to stop."""
        session, known = self._session, self._session.snapshot()
        self._console.print()
        self._talk.say(f"{session.progress()}.", "bold")
        for line in known.assumptions:
            self._talk.say(f"  {line}")
        found = choices(known, session.state.parameters.get("max_questions"))
        if known.count(How.ASKED) == len(known.labels):
            session.finish(self._who)
            return False
        self._talk.say("What next?")
        for choice in found:
            self._talk.say(f"  {choice.key}  {choice.text}")
        self._talk.say("  b  take the last answer back")
        key = self._talk.read_one_of([*(choice.key for choice in found), "b", "q"])
        if key == "b":
            if session.undo(self._who) is None:
                self._talk.say("There is no answer of yours to take back.")
            return True
        chosen = next((choice for choice in found if choice.key == key), None)
        if chosen is None:
            return False
        if chosen.parameters is None:
            session.finish(self._who)
            return False
        session.set_parameters(who=self._who, **chosen.parameters)
        return True
