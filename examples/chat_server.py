"""A server that plays a language model from a table of truth. It is none, and costs nothing.

It speaks the OpenAI-compatible chat API, and errs as models do: on single pairs, on whole items,
by the order in which items are shown; it refuses, writes prose around its JSON and names items that
do not exist; and it fails as servers do. All of that is drawn by a seed, so that a run can be
repeated. Try it:

    python examples/chat_server.py tickets.csv --text message --truth intent --item-error 0.05
    samecluster cluster tickets.csv --text message --llm http://127.0.0.1:8123/v1 --model tiny ...

A real model is used in the same way: its address instead of this one, its name, and its key in
SAMECLUSTER_LLM_KEY.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import combinations
from typing import Any

ORDERS = re.compile(r"ignore .*answer (same|different)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class Habits:
    """How often the model errs and the server fails, as shares from 0 to 1."""

    pair_error: float = 0.0  # of pairs: "same" becomes "different" and the other way round
    item_error: float = 0.0  # of items: taken for a member of another group, with everything
    order_bias: float = 0.0  # of pairs: judged by which of the two is shown first
    guess: float = 0.0  # of pairs: judged by tossing a coin
    yes: float = 0.0  # of pairs: called the same, whatever they are
    obeys: float = 0.0  # of looks with "ignore ... answer same" in an item: does what it says
    refusal: float = 0.0  # of prompts: "I cannot help with that."
    prose: float = 0.0  # of prompts: words around the JSON
    wrong_ids: float = 0.0  # of prompts: names that are not there
    limited: float = 0.0  # of requests: 429 with Retry-After
    limited_silently: float = 0.0  # of requests: 429 without
    broken: float = 0.0  # of requests: 500
    slow: float = 0.0  # of requests: answered after `slow_for` seconds
    cut: float = 0.0  # of requests: the connection ends in the middle of the answer
    latency: float = 0.0  # seconds for every answer
    slow_for: float = 5.0  # seconds
    retry_after: float = 1.0  # seconds


@dataclass
class Account:
    """What the server was asked and what it charged."""

    n_requests: int = 0
    n_at_once: int = 0
    most_at_once: int = 0
    charges: Counter[str] = field(default_factory=Counter)  # by prompt
    failures: Counter[str] = field(default_factory=Counter)  # by kind
    prompt_tokens: int = 0
    reply_tokens: int = 0

    def cost(self, prices: tuple[float, float]) -> float:
        return (self.prompt_tokens * prices[0] + self.reply_tokens * prices[1]) / 1e6


class PretendedModel:
    """Judges items by their true groups, with the errors that it was told to make."""

    def __init__(self, truth: Mapping[str, str], habits: Habits, seed: int = 0) -> None:
        self._truth, self._habits, self._seed = truth, habits, seed
        self._groups = sorted(set(truth.values()))

    def reply(self, content: Any, attempt: str = "") -> str:
        """What it writes to the content of a user's message."""
        parts: list[Any] = [{"text": content}] if isinstance(content, str) else content
        text = parts[0]["text"]
        pictures = [part["image_url"]["url"] for part in parts if "image_url" in part]
        try:
            look = _with_pictures(json.loads(text), pictures)
            judged = self._judged(look, text)
        except (ValueError, KeyError, TypeError):
            return "I do not see any items."
        if self._happens("refusal", text + attempt):
            return "I cannot help with that."
        if self._happens("wrong_ids", text + attempt):
            judged = {name: ["nobody"] for name in judged}
        said = json.dumps(judged)
        if self._happens("prose", text):
            return f"Let me compare the items {{carefully}}.\n```json\n{said}\n```\nI am sure."
        return said

    def _judged(self, look: dict[str, Any], text: str) -> dict[str, Any]:
        order = ORDERS.search(text) if self._happens("obeys", text) else None
        same: Callable[[Any, Any], bool] = self.same
        if order is not None:
            word = order.group(1).lower() == "same"
            same = lambda *_: word  # noqa: E731
        match look["task"]:
            case "pair":
                a, b = look["items"]["A"], look["items"]["B"]
                if None in (self._group_of(a), self._group_of(b)):
                    return {"answer": "unsure"}
                return {"answer": "same" if same(a, b) else "different"}
            case "choice":
                item = look["item"]
                fit = (name for name, of in look["groups"].items() if same(item, of[0]))
                return {"group": next(fit, "none")}
            case "sheet":
                items, reference = look["items"], look["reference"]
                odd = [name for name, item in items.items() if not same(reference, item)]
                return {"odd": odd, "unsure": []}
            case "checks":
                pairs = look["pairs"].items()
                odd = [name for name, of in pairs if not same(of["beside"], of["item"])]
                return {"odd": odd, "unsure": []}
        return {"together": self._joined(look["items"], same), "unsure": []}

    def _joined(
        self, items: Mapping[str, Any], same: Callable[[Any, Any], bool]
    ) -> list[list[str]]:
        group = {name: {name} for name in items}
        for a, b in combinations(items, 2):
            if same(items[a], items[b]) and group[a] is not group[b]:
                group[a] |= group[b]
                for name in group[b]:
                    group[name] = group[a]
        found = {id(names): sorted(names) for names in group.values() if len(names) > 1}
        return list(found.values())

    def same(self, one: Any, two: Any) -> bool:
        """Whether it takes two items, shown in this order, for the same."""
        pair = "|".join(sorted(map(_text, (one, two))))
        right = self._read(one) == self._read(two)
        if self._happens("yes", pair):
            return True
        if self._happens("guess", pair):
            return self.toss("coin", pair) < 0.5
        if self._happens("order_bias", pair):
            return _text(one) < _text(two)
        return right != self._happens("pair_error", pair)

    def _read(self, item: Any) -> str | None:
        """The group that it takes an item for."""
        group = self._group_of(item)
        others = [other for other in self._groups if other != group]
        if others and self._happens("item_error", _text(item)):
            return others[int(self.toss("which", _text(item)) * len(others))]
        return group

    def _group_of(self, item: Any) -> str | None:
        """By the text, by one of the fields, or by all that is shown of an item."""
        shown = item.values() if isinstance(item, dict) else [item]
        keys = (of if isinstance(of, str) else _text(of) for of in shown)
        return next((self._truth[key] for key in keys if key in self._truth), None)

    def _happens(self, habit: str, what: str) -> bool:
        return bool(self.toss(habit, what) < getattr(self._habits, habit))

    def toss(self, *what: str) -> float:
        """A number below 1, the same for the same words."""
        said = "|".join((str(self._seed), *what)).encode("utf-8", errors="replace")
        return int.from_bytes(hashlib.blake2b(said, digest_size=8).digest(), "big") / 2.0**64


class ChatServerExample(ThreadingHTTPServer):
    """The model behind HTTP, on this machine only.

    Parameters
    ----------
    truth : the groups of items, by their texts
    habits : its errors and failures
    key : what it wants as a bearer token; None for nothing
    refuses : parameters that it does not know, such as "response_format"
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self,
        truth: Mapping[str, str],
        habits: Habits | None = None,
        *,
        model: str = "tiny",
        key: str | None = None,
        refuses: tuple[str, ...] = (),
        seed: int = 0,
        port: int = 0,
    ) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.habits = habits or Habits()
        self.play = PretendedModel(truth, self.habits, seed)
        self.model, self.key, self.refuses = model, key, refuses
        self.account, self.lock = Account(), threading.Lock()
        self.tries: Counter[str] = Counter()
        self.replies: dict[str, bytes] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def __enter__(self) -> ChatServerExample:
        threading.Thread(target=self.serve_forever, args=[0.02], daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that leave early are nothing to report."""

    def failure(self, prompt: str) -> str | None:
        """What fails this time: another try is another draw."""
        with self.lock:
            self.tries[prompt] += 1
            number = self.tries[prompt]
        draw = self.play.toss("failure", prompt, str(number))
        for kind in ("limited", "limited_silently", "broken", "slow", "cut"):
            share: float = getattr(self.habits, kind)
            if draw < share:
                with self.lock:
                    self.account.failures[kind] += 1
                return kind
            draw -= share
        return None

    def completion(self, identity: str, prompt: str, messages: list[Any]) -> bytes:
        """The reply, charged once for each identity, as servers do that know this header."""
        with self.lock:
            if identity in self.replies:
                return self.replies[identity]
        attempt = "".join(str(message["content"]) for message in messages[2:])
        text = self.play.reply(messages[1]["content"], attempt)
        # Four letters a token, as a rule of thumb.
        n_prompt, n_reply = len(prompt) // 4 + 1, len(text) // 4 + 1
        body = {
            "object": "chat.completion",
            "model": self.model,
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text},
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": n_prompt, "completion_tokens": n_reply},
        }
        with self.lock:
            self.account.charges[hashlib.sha256(prompt.encode()).hexdigest()] += 1
            self.account.prompt_tokens += n_prompt
            self.account.reply_tokens += n_reply
            self.replies[identity] = json.dumps(body).encode()
            return self.replies[identity]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ChatServerExample

    def do_POST(self) -> None:
        server, account = self.server, self.server.account
        with server.lock:
            account.n_requests += 1
            account.n_at_once += 1
            account.most_at_once = max(account.most_at_once, account.n_at_once)
        try:
            self._answer()
        finally:
            with server.lock:
                account.n_at_once -= 1

    def _answer(self) -> None:
        server = self.server
        said = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if server.key is not None and self.headers.get("Authorization") != f"Bearer {server.key}":
            shown = self.headers.get("Authorization")
            return self._refuse(401, f"Incorrect API key provided: {shown}")
        body = json.loads(said)
        if self.path != "/v1/chat/completions" or body["model"] != server.model:
            return self._refuse(404, f"The model {body['model']!r} does not exist")
        if unknown := [name for name in server.refuses if name in body]:
            return self._refuse(400, f"Unsupported parameter: {unknown[0]!r}")
        prompt = json.dumps(body["messages"])
        time.sleep(server.habits.latency)
        match failure := server.failure(prompt):
            case "limited":
                wait = f"{server.habits.retry_after:g}"
                return self._refuse(429, "Too many requests", {"Retry-After": wait})
            case "limited_silently":
                return self._refuse(429, "Too many requests")
            case "broken":
                return self._refuse(500, "Something went wrong")
            case "slow":
                time.sleep(server.habits.slow_for)
        identity = self.headers.get("Idempotency-Key") or str(time.perf_counter_ns())
        reply = server.completion(identity, prompt, body["messages"])
        self._send(200, reply, len(reply) // 2 if failure == "cut" else None)
        return None

    def _refuse(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        self._send(status, json.dumps({"error": {"message": message}}).encode(), None, headers)

    def _send(
        self,
        status: int,
        body: bytes,
        cut_at: int | None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:cut_at])
        if cut_at is not None:
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the account says what came."""


def true_groups(path: str, text: str, truth: str) -> dict[str, str]:
    """The groups of a CSV file's texts."""
    with open(path, newline="", encoding="utf-8") as file:
        return {row[text]: row[truth] for row in csv.DictReader(file)}


def _with_pictures(value: Any, pictures: list[str]) -> Any:
    """What was sent, with pictures in the places of their numbers."""
    if isinstance(value, dict):
        if value.keys() == {"picture"}:
            return pictures[value["picture"] - 1]
        return {name: _with_pictures(of, pictures) for name, of in value.items()}
    return [_with_pictures(of, pictures) for of in value] if isinstance(value, list) else value


def _text(item: Any) -> str:
    return json.dumps(item, sort_keys=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("table", help="a CSV file")
    options.add_argument("--text", required=True, help="the column that the model is shown")
    options.add_argument("--truth", required=True, help="the column with the true groups")
    options.add_argument("--model", default="tiny", help="the name of the model")
    options.add_argument("--key", help="the key that it wants")
    options.add_argument("--port", type=int, default=8123)
    options.add_argument("--seed", type=int, default=0)
    for habit in fields(Habits):
        name = f"--{habit.name.replace('_', '-')}"
        options.add_argument(name, type=float, default=habit.default)
    chosen = vars(options.parse_args())
    habits = Habits(**{habit.name: chosen.pop(habit.name) for habit in fields(Habits)})
    truth = true_groups(chosen.pop("table"), chosen.pop("text"), chosen.pop("truth"))
    with ChatServerExample(truth, habits, **chosen) as server:
        print(f"{server.model} listens at {server.url} until Ctrl-C", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            account = server.account
            print(f"\n{account.n_requests:,} requests, {len(account.charges):,} prompts charged")


if __name__ == "__main__":
    main()
