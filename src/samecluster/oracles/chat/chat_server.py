"""One chat server: requests, waiting, trying again, and a key that nobody gets to see.

The key goes into the header of a request and nowhere else: not into errors, whose texts are
searched for it, and to no other host, since redirects are not followed.
"""

from __future__ import annotations

import email.utils
import ipaddress
import json
import random
import threading
import time
import uuid
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from samecluster._extras import httpx as import_httpx
from samecluster.errors import InvalidInputError, OracleError
from samecluster.oracles.chat.costs import Bill

_LARGEST_REPLY = 1 << 20  # bytes; a reply has a few hundred
_LONGEST_WAIT = 600.0  # seconds that a server may ask us to wait; beyond that a person should know
_LONGEST_BACKOFF = 30.0
_QUOTED = 300  # characters of a server's message
_OPTIONAL = ("response_format", "seed", "temperature")
"""Parameters that some servers refuse, in the order in which they are left out."""

_ADVICE = {
    401: "the key is refused: set SAMECLUSTER_LLM_KEY (in Python: key=) to a valid one",
    402: "the account has no credit left",
    403: "the key may not use this model",
    404: "there is no such address or no such model: check both, and that the address ends before "
    "/chat/completions",
    413: "the prompt is too long: show fewer columns, or shorter texts (longest=)",
}


@dataclass(frozen=True)
class Completion:
    """What a model wrote, and the tokens that the server counted."""

    text: str
    n_prompt: int | None
    n_reply: int | None


class Key:
    """A secret that shows itself to nobody who prints it."""

    def __init__(self, secret: str | None) -> None:
        if secret is not None and not (secret.isascii() and secret.isprintable() and secret):
            raise InvalidInputError("the key must be plain letters, digits and signs on one line")
        self._secret = secret

    def __bool__(self) -> bool:
        return self._secret is not None

    def __repr__(self) -> str:
        return "Key(...)" if self else "Key(None)"

    def __reduce__(self) -> Any:
        raise TypeError("a key is not pickled")

    def headers(self) -> dict[str, str]:
        return {} if self._secret is None else {"Authorization": f"Bearer {self._secret}"}

    def out_of(self, said: bytes) -> bytes:
        """What a server sent, without the key should it be in there."""
        return said if self._secret is None else said.replace(self._secret.encode(), b"[key]")


class ChatServer:
    """Sends requests, several at a time from several threads.

    Parameters
    ----------
    url : the address that ends before /chat/completions
    key : sent as a bearer token; only over TLS, or to this machine
    timeout : seconds for one try, from its first byte to its last
    retries : how often a request is sent again that failed and may succeed
    backoff : seconds to wait before the first of them, about doubled each time
    per_minute : requests that may be begun in a minute; None for no limit of ours
    """

    def __init__(
        self,
        url: str,
        key: str | None,
        timeout: float,
        retries: int,
        backoff: float,
        per_minute: float | None,
    ) -> None:
        self._httpx = import_httpx()
        self._key = Key(key)
        self.url = checked_url(url, bool(self._key))
        self.host = urlsplit(self.url).netloc
        self._timeout, self._tries, self._backoff = timeout, retries + 1, backoff
        self._gap = 0.0 if per_minute is None else 60.0 / per_minute
        self._lock = threading.Lock()
        self._not_before = 0.0
        self._refused: set[str] = set()
        self._has_answered = False
        self._closed = threading.Event()
        self._clients: list[Any] = []  # one, or none while nothing is open
        weakref.finalize(self, _close_all, self._clients)

    def __repr__(self) -> str:
        return f"ChatServer({self.url!r})"

    def close(self) -> None:
        """Wake those who wait, and close connections that nobody uses; a request opens new ones."""
        self._closed.set()
        with self._lock:
            _close_all(self._clients)
            self._closed = threading.Event()

    def complete(self, body: dict[str, Any], bill: Callable[[], Any]) -> Completion:
        """The reply to a request; OracleError if there is none after all tries.

        ``bill`` makes a bill for each try, as a context: each may be charged.
        """
        identity = str(uuid.uuid4())
        failure = _Failure("no try was made")
        for number in range(self._tries):
            if number:
                self._wait(failure.wait + self._pause(number))
            outcome = self._accepted(body, identity, bill)
            if isinstance(outcome, Completion):
                self._has_answered = True
                return outcome
            failure = outcome
            if not failure.may_pass or (failure.is_unreachable and not self._has_answered):
                break
        after = f" ({number + 1} tries)" if number else ""
        raise OracleError(f"{self.host}: {failure.text}{after}")

    def _accepted(
        self, body: dict[str, Any], identity: str, bill: Callable[[], Any]
    ) -> Completion | _Failure:
        """One try, without parameters that the server turns out not to know."""
        while True:
            kept = {name: of for name, of in body.items() if name not in self._refused}
            if "max_tokens" in self._refused and "max_tokens" in body:
                kept["max_completion_tokens"] = body["max_tokens"]
            with bill() as billed:
                outcome = self._sent(kept, identity, billed)
            if not isinstance(outcome, _Failure) or outcome.status not in (400, 422):
                return outcome
            if (name := self._refused_parameter(kept, outcome)) is None:
                return outcome
            with self._lock:
                self._refused.add(name)

    def _refused_parameter(self, body: dict[str, Any], failure: _Failure) -> str | None:
        """What to leave out of a request that was refused; None if that is not the reason."""
        known = [name for name in (*_OPTIONAL, "max_tokens") if name in body]
        if named := [name for name in known if name in failure.text]:
            return named[0]
        # A server that answered before knows them all.
        if self._has_answered or failure.is_about_content:
            return None
        return next((name for name in known if name in _OPTIONAL), None)

    def _sent(self, body: dict[str, Any], identity: str, billed: Bill) -> Completion | _Failure:
        """One request. Its errors of the library are left behind: they hold the header."""
        self._take_turn()
        httpx = self._httpx
        deadline = time.monotonic() + self._timeout
        try:
            billed.is_sent = True
            with self._connections().stream(
                "POST",
                f"{self.url}/chat/completions",
                json=body,
                headers={**self._key.headers(), "Idempotency-Key": identity},
            ) as response:
                said = self._key.out_of(_read(response, deadline))
                status, headers = response.status_code, response.headers
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            billed.is_sent = False
            return _Failure(
                f"no server answers there ({_reason(error)}): check the address, and that it runs",
                is_unreachable=True,
            )
        except (httpx.TimeoutException, TimeoutError):
            return _Failure(f"no answer within {self._timeout:g} seconds (timeout)")
        except httpx.HTTPError as error:
            return _Failure(f"the connection broke off ({_reason(error)})")
        except (httpx.InvalidURL, ValueError) as error:
            return _Failure(f"the request cannot be sent: {_reason(error)}", may_pass=False)
        if status == 200:
            return _completion(said, billed)
        billed.is_sent = False  # what is refused is not charged
        failure = _refusal(status, headers, said)
        if failure.wait:
            with self._lock:
                self._not_before = max(self._not_before, time.monotonic() + failure.wait)
        return failure

    def _connections(self) -> Any:
        httpx = self._httpx
        with self._lock:
            if not self._clients:
                # A proxy would see what is sent without TLS, the key too; so none is used there.
                is_open = self.url.startswith("http:")
                client = httpx.Client(
                    timeout=self._timeout,
                    follow_redirects=False,
                    trust_env=not is_open,
                    auth=lambda request: request,  # no password from a .netrc
                    headers={"Accept-Encoding": "identity"},
                    limits=httpx.Limits(max_connections=None),
                )
                self._clients.append(client)
            return self._clients[0]

    def _take_turn(self) -> None:
        """Wait while the server wants nothing, and keep to the rate."""
        with self._lock:
            now = time.monotonic()
            turn = max(self._not_before, now)
            self._not_before = max(self._not_before, turn + self._gap if self._gap else 0.0)
        self._wait(turn - now)

    def _wait(self, seconds: float) -> None:
        if seconds > 0 and self._closed.wait(seconds):
            raise OracleError(f"{self.host}: the oracle was closed")

    def _pause(self, number: int) -> float:
        longest = min(self._backoff * 2.0 ** (number - 1), _LONGEST_BACKOFF)
        # Many that failed together do not come back together.
        return longest * random.uniform(0.5, 1.0)


def _close_all(clients: list[Any]) -> None:
    while clients:
        clients.pop().close()


def checked_url(url: str, has_key: bool) -> str:
    """The address without what follows it; InvalidInputError if no key should go there."""
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
        host, _ = parts.hostname, parts.port
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not host or not url.isprintable() or " " in url:
        raise InvalidInputError(
            f"the address of a chat server is such as https://example.org/v1, got {url!r}"
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise InvalidInputError(
            "the address of a chat server has no user, password or parameters in it; the key goes "
            "into SAMECLUSTER_LLM_KEY (in Python: key=)"
        )
    if parts.scheme == "http" and has_key and not is_this_machine(host):
        raise InvalidInputError(
            f"{host} would get the key unencrypted; use https, or no key if the server needs none"
        )
    return url.rstrip("/").removesuffix("/chat/completions").rstrip("/")


def is_this_machine(host: str) -> bool:
    """Whether a name or a number is that of the machine itself."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True)
class _Failure:
    """Why a try came to nothing, and whether another one may succeed."""

    text: str
    may_pass: bool = True
    wait: float = 0.0
    status: int = 0
    is_unreachable: bool = False
    is_about_content: bool = False


def _read(response: Any, deadline: float) -> bytes:
    """The body; a server that sends too much, or drop by drop, is not waited for."""
    said = bytearray()
    for piece in response.iter_raw():
        said += piece
        if time.monotonic() > deadline:
            raise TimeoutError
        if len(said) > _LARGEST_REPLY:
            raise ValueError("the reply is larger than a mebibyte")
    return bytes(said)


def _completion(said: bytes, billed: Bill) -> Completion | _Failure:
    try:
        body = json.loads(said)
        message = body["choices"][0]["message"]
        text = message.get("content") or message.get("refusal") or ""
        usage = body.get("usage") or {}
        counts = usage.get("prompt_tokens"), usage.get("completion_tokens")
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return _Failure(f"the reply is no chat completion: {_quoted(said)}")
    if not isinstance(text, str):
        return _Failure(f"the reply is no chat completion: {_quoted(said)}")
    n_prompt, n_reply = (n if isinstance(n, int) and n >= 0 else None for n in counts)
    billed.settle(n_prompt, n_reply)
    return Completion(text, n_prompt, n_reply)


def _refusal(status: int, headers: Any, said: bytes) -> _Failure:
    message = _message(said)
    if 300 <= status < 400:
        target = urlsplit(headers.get("location", "")).netloc or "another address"
        return _Failure(
            f"the server sends us on to {target}, which is not followed: a key belongs to one "
            "host; if you trust it, give that address",
            may_pass=False,
        )
    if status in _ADVICE:
        return _Failure(f"{_ADVICE[status]} ({status}: {message})", may_pass=False, status=status)
    if status == 429 and "insufficient_quota" in message:
        return _Failure(f"{_ADVICE[402]} ({status}: {message})", may_pass=False)
    if status in (400, 415, 422):
        about = _about_content(message)
        text = f"{about or 'the server refuses the request'} ({status}: {message})"
        return _Failure(text, may_pass=False, status=status, is_about_content=bool(about))
    may_pass = status in (408, 409, 425, 429) or status >= 500
    wait = _retry_after(headers.get("retry-after")) if may_pass else 0.0
    if wait > _LONGEST_WAIT:
        return _Failure(
            f"the server wants nothing for {wait:,.0f} seconds ({status}: {message}); go on then",
            may_pass=False,
        )
    return _Failure(f"the server fails ({status}: {message})", may_pass, wait, status)


def _about_content(message: str) -> str | None:
    """What to do if it is what was sent that is refused, not how it was sent."""
    lower = message.casefold()
    if "image" in lower or "vision" in lower or "multimodal" in lower:
        return "the model takes no pictures: choose one that does, or show columns of text"
    if "context" in lower or "too long" in lower or "too many tokens" in lower:
        return _ADVICE[413]
    if "model" in lower and any(word in lower for word in ("not found", "not exist", "unknown")):
        return _ADVICE[404]
    return None


def _retry_after(said: str | None) -> float:
    """Seconds, from a number of them or a date; 0 if there is neither."""
    if said is None:
        return 0.0
    try:
        return max(0.0, float(said)) if said.strip()[:1].isdigit() else _until(said)
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _until(date: str) -> float:
    return max(0.0, email.utils.parsedate_to_datetime(date).timestamp() - time.time())


def _message(said: bytes) -> str:
    try:
        body = json.loads(said)
        error = body.get("error", body) if isinstance(body, dict) else body
        found = error.get("message", error) if isinstance(error, dict) else error
        code = error.get("code") if isinstance(error, dict) else None
        text = f"{found} [{code}]" if code and str(code) not in str(found) else str(found)
    except (ValueError, RecursionError):
        return _quoted(said)
    return _short(text)


def _quoted(said: bytes) -> str:
    return repr(_short(said.decode("utf-8", errors="replace")))


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _QUOTED else text[:_QUOTED] + "…"


def _reason(error: Exception) -> str:
    return _short(str(error)) or type(error).__name__
