"""The conversation of ``samecluster doubt``, ``merge`` and ``split``: a few questions, with what
each answer would do to labels, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from samecluster.cli.terminal.keyboard import read_key
from samecluster.cli.terminal.prompt import VERDICTS, SessionPrompt
from samecluster.cli.terminal.screen import Screen
from samecluster.questions.pair import Verdict
from samecluster.sessions.conflicts import Effect
from samecluster.sessions.question import SessionQuestion
from samecluster.sessions.state.votes import pair_of
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
    talk = DisagreementConversation(opened, Screen(), columns, who, read_key)
    if questions:
        talk.hold(questions, items)
    else:
        talk.say(f"There is nothing to ask: {if_none}.")


class DisagreementConversation(SessionPrompt):
    """One person who disagrees with labels of a session."""

    def hold(self, questions: Iterable[SessionQuestion], items: Iterable[str]) -> None:
        """Put the questions about items, settle what does not fit, and say what became of them."""
        was = {item: self._place(item) for item in items}
        old_trouble = {trouble.text for trouble in self.session.trouble}
        placed: set[str] = set()
        for question in questions:
            # An item that is in one group is in no other, and an exception in none.
            if question.item in placed | self.session.state.book.exceptions.keys():
                continue
            verdict = self._ask(question)
            if verdict is None or not self._settle(old_trouble):
                break
            if verdict is Verdict.SAME:
                placed.add(question.item)
        self._conclude(was)

    def _ask(self, question: SessionQuestion) -> Verdict | None:
        """Put a question and take the answer; None if the person quits."""
        self.console.print()
        self.show(question)
        said = self.session.state.book.vote(pair_of((question.item, question.comparator)), self.who)
        if said is not None:
            self.say(f"You said: {said.verdict.value}.")
        for letter, word in (("y", "same"), ("n", "different")):
            with self.console.waiting("working out what an answer would do"):
                effect = self.session.preview_answer(question.id, word, self.who)
            if effect != _NOTHING:
                self.say(f"  If {letter}: {effect}.")
        while True:
            key = self.read(_PROMPT)
            if key is None or key == "q":
                return None
            if key in VERDICTS:
                self.session.tell(question.id, VERDICTS[key], self.who)
                return VERDICTS[key]
            self.explain("ynuq")

    def _settle(self, old_trouble: set[str]) -> bool:
        """Offer remedies for what has stopped fitting together; False if the person quits."""
        while True:
            new = [one for one in self.session.trouble if one.text not in old_trouble]
            if not new:
                return True
            old_trouble.add(new[0].text)
            if not self.offer_remedies(new[0]):
                return False

    def _conclude(self, before: Mapping[str, str]) -> None:
        self.console.print()
        for item, was in before.items():
            now = self._place(item)
            self.say(f"{item}: {now}, as before." if now == was else f"{item}: {was} -> {now}.")
        progress = self.session.progress()
        self.say(f"{progress}.")
        if progress.n_trouble:
            self.say("What does not fit is listed by `samecluster status`.")
        if not progress.ended:
            self.say("`samecluster label` asks what is left.")

    def _place(self, item: str) -> str:
        """Where an item is and how that is known, in words."""
        row, known = self.session.state.items.row_of[item], self.session.snapshot()
        label = int(known.labels[row])
        if label < 0:
            return "undecided"
        name = self.session.names().get(label)
        named = "" if name is None else f" {name}"
        return f"cluster {label}{named} ({known.how[row]})"
