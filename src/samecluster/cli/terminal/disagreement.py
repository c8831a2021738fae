"""The conversation of ``samecluster doubt``, ``merge`` and ``split``: a few questions, with what
each answer would do to labels, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from samecluster.cli.terminal.keyboard import read_key
from samecluster.cli.terminal.look_display import print_pair
from samecluster.cli.terminal.prompt import VERDICTS, Prompt
from samecluster.cli.terminal.screen import Screen
from samecluster.questions.pair import Verdict
from samecluster.sessions.conflicts import Effect
from samecluster.sessions.question import SessionQuestion, question_id
from samecluster.sessions.state.votes import pair_of
from samecluster.workspace.item_names import ItemNames
from samecluster.workspace.open import OpenSession
from samecluster.workspace.pair_display import checked_columns
from samecluster.workspace.request import listed

_PROMPT = "Same group? y yes, n no, u unsure, q quit, ? help: "
_NOTHING = Effect(0, 0, 0)


def discuss(
    opened: OpenSession,
    questions: Sequence[SessionQuestion],
    items: Iterable[str],
    if_none: str,
    show: list[str] | None,
    who: str | None,
) -> None:
    """Put the questions of somebody who disagrees about items; ``if_none`` says why there are none.

    ``show`` are the columns to show, as the user names them.
    """
    columns = checked_columns(opened, listed(show, opened.table.names))
    talk = Prompt(Screen(), read_key, ItemNames(opened.data).in_text)
    if not questions:
        talk.say(f"There is nothing to ask: {if_none}.")
        return
    DisagreementConversation(opened, talk, columns, who, items).hold(questions)


class DisagreementConversation:
    """One person who disagrees with labels of a session.

    Parameters
    ----------
    opened : the session with its data
    columns : what to show of items
    who : the person, or None
    items : those whose labels it is about
    """

    def __init__(
        self,
        opened: OpenSession,
        talk: Prompt,
        columns: Sequence[str],
        who: str | None,
        items: Iterable[str],
    ) -> None:
        self._opened, self._session, self._talk = opened, opened.session, talk
        self._columns, self._who = columns, who
        self._was = {item: self._place(item) for item in items}
        self._old_trouble = {trouble.text for trouble in self._session.trouble}

    def hold(self, questions: Iterable[SessionQuestion]) -> None:
        """Put the questions, settle what does not fit, and say what became of the items."""
        placed: set[str] = set()
        for question in questions:
            # An item that is in one group is in no other, and an exception in none.
            if question.item in placed | self._session.state.exceptions.keys():
                continue
            verdict = self._ask(question)
            if verdict is None or not self._settle():
                break
            if verdict is Verdict.SAME:
                placed.add(question.item)
        self._conclude()

    def _ask(self, question: SessionQuestion) -> Verdict | None:
        """Put a question and take the answer; None if the person quits."""
        self._talk.console.print()
        print_pair(self._talk.console, self._opened, question, self._columns)
        said = self._session.state.vote(pair_of((question.item, question.comparator)), self._who)
        if said is not None:
            self._talk.say(f"You said: {said.verdict.value}.")
        for letter, word in (("y", "same"), ("n", "different")):
            with self._talk.console.waiting("working out what an answer would do"):
                effect = self._session.preview_answer(question.id, word, self._who)
            if effect != _NOTHING:
                self._talk.say(f"  If {letter}: {effect}.")
        while True:
            key = self._talk.read(_PROMPT)
            if key is None or key == "q":
                return None
            if key in VERDICTS:
                self._session.tell(question.id, VERDICTS[key], self._who)
                return VERDICTS[key]
            self._talk.explain("ynuq")

    def _settle(self) -> bool:
        """Offer remedies for what has stopped fitting together; False if the person quits."""
        while True:
            new = [one for one in self._session.trouble if one.text not in self._old_trouble]
            if not new:
                return True
            self._old_trouble.add(new[0].text)
            if not self._talk.offer_remedies(self._session, new[0], self._who, self._show):
                return False

    def _show(self, items: tuple[str, str]) -> None:
        question = self._session.question(question_id(items))
        print_pair(self._talk.console, self._opened, question, self._columns)

    def _conclude(self) -> None:
        self._talk.console.print()
        for item, was in self._was.items():
            now = self._place(item)
            self._talk.say(
                f"{item}: {now}, as before." if now == was else f"{item}: {was} -> {now}."
            )
        progress = self._session.progress()
        self._talk.say(f"{progress}.")
        if progress.n_trouble:
            self._talk.say("What does not fit is listed by `samecluster status`.")
        if not progress.ended:
            self._talk.say("`samecluster label` asks what is left.")

    def _place(self, item: str) -> str:
        """Where an item is and how that is known, in words."""
        row, known = self._session.state.items.row_of[item], self._session.snapshot()
        label = int(known.labels[row])
        if label < 0:
            return "undecided"
        name = self._session.names().get(label)
        named = "" if name is None else f" {name}"
        return f"cluster {label}{named} ({known.how[row]})"
