"""The oracle behind ``--llm``: looks become prompts, and what a model writes becomes replies."""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from samecluster._parameters import check_at_least, check_positive, whole_number
from samecluster._typing import FloatArray
from samecluster.errors import InvalidInputError, OracleError, ProtocolError
from samecluster.oracles.base import LookOracle
from samecluster.oracles.chat.blanks import with_unsure, without_blanks
from samecluster.oracles.chat.chat_server import ChatServer
from samecluster.oracles.chat.costs import Prices, Spending, most_prompt_tokens
from samecluster.oracles.chat.prompts import TEMPLATE, ChatPrompt, PromptWriter
from samecluster.oracles.chat.replies import UnreadableReplyError, agreed, read_chat_reply
from samecluster.oracles.chat.transcript import Transcript, exchange_key
from samecluster.oracles.several_at_once import in_threads
from samecluster.questions.look import Look, Reply
from samecluster.questions.pair import Question, Verdict

KEY_VARIABLE = "SAMECLUSTER_LLM_KEY"
_UNREADABLE = 5  # looks in a row without a reply in form: it is not a slip then
_BYTES_PER_TOKEN, _REPLY = 4, 12  # of English text; tokens of a usual reply
_QUOTED = 200  # characters of a reply that are shown


class ChatOracle(LookOracle):
    """Asks a language model, behind a server with the OpenAI-compatible chat API.

    Answers pairs, choices, sheets and boards, several at a time. What a model wrote is kept in the
    file ``cache``, and the same prompt is never paid for twice. What cannot be read is asked once
    more and then "unsure"; a model that does so again and again is an OracleError, which like every
    one carries all answers. Use it in a ``with`` statement, or call `close` at the end.

    Parameters
    ----------
    url : the address of the server that ends before /chat/completions, such as
        https://example.org/v1; plain http only to this machine, or without a key
    model : its name on that server
    shown : what the model sees of a row, as a list or as a function of the row number: text, a
        mapping of fields, a row of numbers, or a picture (bytes or a Path). None for the numbers
        of the row itself. A row without anything to see is "unsure", and costs nothing.
    criterion : when two items belong together, in your words: "same request", "same species"
    template : what the model is told, with {criterion}, {task} and {form} in it
    key : the key of the server; None for the variable SAMECLUSTER_LLM_KEY, "" for none
    parallel : looks that are under way at a time
    both_orders : put every look twice, in both orders, and take only what both replies say
    prices : money for a million tokens of prompts and of replies, such as (0.15, 0.60)
    max_cost : stop with a CostLimitError before more than this may be spent; needs prices
    cache : a file for all exchanges, which only you can read; None to keep none
    longest : characters of a text that are shown; the middle of longer ones is left out
    max_tokens : tokens that a reply may have
    timeout : seconds for an answer
    retries : how often a request is sent again that failed for the moment
    backoff : seconds to wait before that, about doubled each time
    per_minute : requests that may be begun in a minute; None for as many as the server takes
    seed : for the order in which items are shown, and for the model where it takes one

    Attributes
    ----------
    spending : looks, tokens and money so far; ``print(oracle.spending)`` says it in a line

    Examples
    --------
    >>> with ChatOracle("http://127.0.0.1:1/v1", "tiny", ["red", "blue"], key="") as oracle:
    ...     oracle.answer(Question(0, 1))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    samecluster.errors.OracleError: 127.0.0.1:1: no server answers there (...
    """

    def __init__(
        self,
        url: str,
        model: str,
        shown: Sequence[Any] | Callable[[int], Any] | None = None,
        criterion: str = "they are about the same thing",
        *,
        template: str = TEMPLATE,
        key: str | None = None,
        parallel: int = 4,
        both_orders: bool = False,
        prices: Sequence[float] | None = None,
        max_cost: float | None = None,
        cache: str | Path | None = None,
        longest: int = 8_000,
        max_tokens: int = 512,
        timeout: float = 60.0,
        retries: int = 6,
        backoff: float = 0.5,
        per_minute: float | None = None,
        seed: int = 0,
    ) -> None:
        check_at_least("parallel", parallel, 1)
        check_at_least("retries", retries, 0)
        if not 0 < timeout <= threading.TIMEOUT_MAX:
            raise InvalidInputError(f"timeout must be a number of seconds above 0, got {timeout}")
        for name, value in (("longest", longest), ("max_tokens", max_tokens)):
            check_positive(name, value)
        if per_minute is not None:
            check_positive("per_minute", per_minute)
        if not isinstance(model, str) or not model.strip():
            raise InvalidInputError("model must be the name of a model on that server")
        if max_cost is not None and prices is None:
            raise InvalidInputError(
                "max_cost needs prices: what a million tokens of prompts and of replies cost, such "
                "as prices=(0.15, 0.60)"
            )
        if max_cost is not None:
            check_positive("max_cost", max_cost)
        secret = os.environ.get(KEY_VARIABLE) if key is None else key
        self.model, self.parallel = model, parallel
        self.spending = Spending(Prices.checked(prices), max_cost)
        self._shown = _by_row(shown)
        is_list = hasattr(shown, "__len__") and not callable(shown)
        self._n_shown = len(cast("Sequence[Any]", shown)) if is_list else None
        self._writer = PromptWriter(
            criterion, template, whole_number("longest", longest, 2), whole_number("seed", seed, 0)
        )
        self._both_orders, self._max_tokens, self._seed = both_orders, max_tokens, seed
        self._server = ChatServer(url, secret or None, timeout, retries, backoff, per_minute)
        self._transcript = Transcript(None if cache is None else Path(cache))
        self._lock = threading.Lock()
        self._under_way: dict[str, threading.Lock] = {}
        self._unreadable: list[str] = []  # since the last reply that could be read

    def __repr__(self) -> str:
        return f"ChatOracle({self._server.url!r}, {self.model!r}, parallel={self.parallel})"

    def __enter__(self) -> ChatOracle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def host(self) -> str:
        """Where prompts go."""
        return self._server.host

    @property
    def models(self) -> tuple[str, ...]:
        return (f"model {self.model}",)

    def close(self) -> None:
        """Close connections. A later look opens new ones."""
        self._server.close()

    def bound_to(self, X: FloatArray) -> ChatOracle:
        """This oracle for the rows of X, with everything else shared."""
        if self._n_shown not in (None, len(X)):
            raise InvalidInputError(f"shown has {self._n_shown} items for {len(X)} points")
        if self._shown is not _unbound:
            return self
        bound = copy.copy(self)
        bound._shown = X.__getitem__
        return bound

    def answer_many(
        self, questions: Iterable[Question]
    ) -> Generator[tuple[Question, Verdict], None, None]:
        """Up to ``parallel`` questions at a time; verdicts in the order in which they come."""
        for question, reply in self.reply_many(questions):
            assert isinstance(question, Question)
            assert isinstance(reply, Verdict)
            yield question, reply

    def reply_many(self, looks: Iterable[Look]) -> Generator[tuple[Look, Reply], None, None]:
        """Up to ``parallel`` looks at a time; replies in the order in which they come.

        After a look that failed no other is put; the replies under way are still given, and then
        the error is raised. If the caller stops early, replies under way go to the cache only.
        """
        yield from in_threads(self.reply, looks, self.parallel)

    def tokens(self, looks: Iterable[Look]) -> tuple[int, int, int]:
        """Tokens that these looks would take: about, and at most of prompts and of replies."""
        about = most_prompt = most_reply = 0
        times = 2 if self._both_orders else 1
        for look in looks:
            prompt = self._writer.prompt(look, self._shown)
            about += times * (prompt.n_bytes // _BYTES_PER_TOKEN + _REPLY)
            most_prompt += times * most_prompt_tokens(prompt)
            most_reply += times * self._max_tokens
        return about, most_prompt, most_reply

    def reply(self, look: Look) -> Reply:
        """The reply to a look, without items that show nothing."""
        seen, blank = without_blanks(look, self._shown)
        if seen is None:
            return with_unsure(look, None, blank)
        reply = self._read(seen, turned=False)
        if self._both_orders and reply is not None:
            turned = self._read(seen, turned=True)
            reply = None if turned is None else agreed(seen, reply, turned)
        self._note(reply is not None)
        return with_unsure(look, reply, blank)

    def _read(self, look: Look, turned: bool) -> Reply | None:
        """What the model says, or None if that cannot be read after a second try."""
        prompt = self._writer.prompt(look, self._shown, turned)
        self.spending.add(n_cut=prompt.n_cut)
        for is_last in (False, True):
            text = self._exchanged(prompt)
            try:
                return read_chat_reply(text, prompt, look)
            except UnreadableReplyError as error:
                self._unreadable.append(f"{text[:_QUOTED]!r}: {error}")
                if not is_last:
                    prompt = prompt.again(text, str(error))
        return None

    def _note(self, is_readable: bool) -> None:
        self.spending.add(n_looks=1, n_unreadable=not is_readable)
        with self._lock:
            if is_readable:
                self._unreadable.clear()
            elif len(self._unreadable) >= 2 * _UNREADABLE:
                raise OracleError(
                    f"{self.model} did not answer {_UNREADABLE} looks in a row in the form that it "
                    f"was told; try another model or template. It wrote {self._unreadable[-1]}"
                )

    def _exchanged(self, prompt: ChatPrompt) -> str:
        """What the model writes; the same prompt is sent once, also by threads at a time."""
        settings = {"temperature": 0, "seed": self._seed, "max_tokens": self._max_tokens}
        key = exchange_key(self._server.url, self.model, prompt.messages, settings)
        with self._lock:
            sending = self._under_way.setdefault(key, threading.Lock())
        with sending:
            if (known := self._transcript.reply(key)) is not None:
                self.spending.add(n_cached=1)
                return known
            form = {"name": prompt.kind, "strict": True, "schema": prompt.schema}
            body = {
                "model": self.model,
                "messages": prompt.messages,
                **settings,
                "response_format": {"type": "json_schema", "json_schema": form},
            }
            most = most_prompt_tokens(prompt)
            said = self._server.complete(body, lambda: self.spending.billed(most, self._max_tokens))
            self._transcript.keep(
                key,
                said.text,
                model=self.model,
                messages=prompt.messages,
                prompt_tokens=said.n_prompt,
                reply_tokens=said.n_reply,
            )
            return said.text


def _unbound(_: int) -> Any:
    raise ProtocolError("a ChatOracle without shown answers only after bound_to(X)")


def _by_row(shown: Any) -> Callable[[int], Any]:
    if shown is None:
        return _unbound
    if callable(shown):
        found: Callable[[int], Any] = shown
        return found
    if isinstance(shown, str | bytes | Mapping) or not hasattr(shown, "__getitem__"):
        raise InvalidInputError(
            "shown must be a list with one item for each row, or a function of the row number"
        )
    return lambda row: shown[row]
