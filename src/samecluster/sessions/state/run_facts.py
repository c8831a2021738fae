"""What the run of a session is made from.

A run begins an *epoch* with its *initial* facts, and is then *told* the answers to its own
questions, in order. Whatever else happens (an answer that it did not ask for, a retraction of
anything but the last fact, an import, other parameters, other rows) begins a new epoch, in which
all facts are initial. So the run is a function of the events: a resumed session is where the
interrupted one was.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from samecluster.sessions.state.votes import Pair, SettledPair


@dataclass
class RunFacts:
    """Facts by what they are to the run.

    Attributes
    ----------
    initial : what the run begins with
    told : what it was told since, in order
    early : the told pairs that were asked about before the run came to them
    undone : told facts that were taken back, the last one first to be told again
    unused : pairs with a fact that the run has no use for
    """

    initial: list[SettledPair] = field(default_factory=list)
    told: list[SettledPair] = field(default_factory=list)
    early: set[Pair] = field(default_factory=set)
    undone: list[SettledPair] = field(default_factory=list)
    unused: set[Pair] = field(default_factory=set)

    def copy(self) -> RunFacts:
        """Facts of their own, to try something out."""
        return RunFacts(**{name: value.copy() for name, value in vars(self).items()})

    def next_undone_pair(self) -> Pair | None:
        """A pair that the run certainly asks about now, since it did before a retraction."""
        return self.undone[-1].pair if self.undone else None

    def add(self, fact: SettledPair, role: str) -> bool:
        """Take in the first fact on a pair, with the role of its answer; whether that is possible.

        `samecluster.sessions.storage.events.ROLES` says what the roles are.
        """
        if role == "beside":
            self.unused.add(fact.pair)
            return True
        if role == "plan":
            is_said_again = bool(self.undone) and self.undone.pop() == fact
            self.undone = self.undone if is_said_again else []
        elif role == "ahead":
            self.early.add(fact.pair)
            self.undone = []
        else:
            return False
        self.told.append(fact)
        return True

    def replace(self, fact: SettledPair) -> bool:
        """Take in that the verdict on a pair is another one now; whether that is possible."""
        if self._is_last(fact.pair):
            self.told[-1], self.undone = fact, []
        return self._is_last(fact.pair) or fact.pair in self.unused

    def take_back(self, pair: Pair) -> bool:
        """Take in that there is no fact on a pair any more; whether that is possible."""
        if pair in self.unused:
            self.unused.remove(pair)
        elif self._is_last(pair):
            self.undone.append(self.told.pop())
            self.early.discard(pair)
        else:
            return False
        return True

    def _is_last(self, pair: Pair) -> bool:
        return bool(self.told) and self.told[-1].pair == pair and not self.unused
