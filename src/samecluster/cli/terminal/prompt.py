"""Say a line, read a key: what every conversation in the terminal is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from samecluster.cli.terminal.look_display import print_pair
from samecluster.cli.terminal.screen import Screen, shown
from samecluster.questions.pair import Verdict
from samecluster.sessions.conflicts import Conflict
from samecluster.sessions.question import SessionQuestion, question_id
from samecluster.workspace.item_names import ItemNames
from samecluster.workspace.open import OpenSession

VERDICTS = {
    "y": Verdict.SAME,
    "s": Verdict.SAME,
    "n": Verdict.DIFFERENT,
    "d": Verdict.DIFFERENT,
    "u": Verdict.UNSURE,
}
"""The keys that answer a question; s and d are those of the page."""

_KEYS = {
    "y": "yes, both are in one group",
    "n": "no, they are in different groups",
    "u": "unsure: another pair comes instead; better than a guess",
    "b": "take the last answer back, and the one before it, as often as you like",
    "q": "quit; all answers are kept, and the same command goes on",
}

_MOST_REMEDIES = 9  # each is chosen by one key, 1 to 9


class Prompt:
    """A console to say things on, and ``key``, which reads a key; None at the end of the input.

    ``readable`` puts names of items into a line in place of their keys.
    """

    def __init__(
        self, console: Screen, key: Callable[[], str | None], readable: Callable[[str], str] = str
    ) -> None:
        self.console, self._key, self._readable = console, key, readable

    def say(self, line: str, style: str = "") -> None:
        self.console.print(shown(self._readable(line), style))

    def read(self, prompt: str, read: Callable[[], str | None] | None = None) -> str | None:
        """The next key, or what ``read`` reads; None at the end of the input."""
        self.console.print(shown(prompt), end="")
        key = (read or self._key)()
        # On a terminal the key is not echoed; in a log of a pipe it would be missing as well.
        self.console.print(shown(key or ""))
        return key

    def explain(self, keys: str) -> None:
        """Say what these keys do: after ? or a key that does nothing."""
        for key in keys:
            self.say(f"  {key}  {_KEYS[key]}")

    def read_one_of(self, allowed: Sequence[str]) -> str | None:
        while True:
            key = self.read(f"{', '.join(allowed)}: ")
            if key is None or key in allowed:
                return key
            self.say(f"Press one of {', '.join(allowed)}.")


class SessionPrompt(Prompt):
    """A prompt about a session, whose items it shows by ``columns`` to one person, ``who``."""

    def __init__(
        self,
        opened: OpenSession,
        console: Screen,
        columns: Sequence[str],
        who: str | None,
        key: Callable[[], str | None],
    ) -> None:
        super().__init__(console, key, ItemNames(opened.data).in_text)
        self.opened, self.session, self.columns, self.who = opened, opened.session, columns, who

    def show(self, question: SessionQuestion) -> None:
        """Both items side by side."""
        print_pair(self.console, self.opened, question, self.columns)

    def offer_remedies(self, trouble: Conflict) -> bool:
        """Show what does not fit and what each remedy would do; False if the person quits.

        The two items of the answer that is likeliest to be wrong are shown side by side.
        """
        session = self.session
        found = (one for one in session.ranked_conflicts() if one.text == trouble.text)
        trouble = next(found, trouble)
        remedies = trouble.remedies[:_MOST_REMEDIES]
        self.say(f"Something does not fit: {trouble.text}", "bold")
        if trouble.answers:
            self.say("The likeliest to be wrong is about these two:")
            self.show(session.question(question_id(trouble.answers[0].items)))
        for number, remedy in enumerate(remedies, start=1):
            self.say(f"  {number}  {remedy.text}: {session.preview(remedy)}")
        self.say("  c  go on and decide later; `samecluster status` lists it")
        allowed = [str(number) for number in range(1, len(remedies) + 1)]
        key = self.read_one_of([*allowed, "c", "q"])
        if key in allowed:
            session.apply(remedies[int(key) - 1], self.who)
        return key is not None and key != "q"
