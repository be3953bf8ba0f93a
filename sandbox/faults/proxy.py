"""The proxy itself: it takes calls, does to them what the rules say, and remembers what was done."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from sandbox.faults import s3
from sandbox.faults.relay import Answer, BodyError, UpstreamError, body_of, forward
from sandbox.faults.rules import TOO_LARGE, Asked, BodyLimit, Decision, Drop, Plan, Rule, Status, Truncate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

LOOPBACK: Final = "127.0.0.1"
_BAD_REQUEST, _BAD_GATEWAY = 400, 502
_IDLE: Final = 120.0
_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Call:
    """A call that was taken. asked: what it was. rules: names of those that acted, in their order.

    reached: whether a server got it and answered. status: of the client's answer; None for none, or half of one.
    """

    asked: Asked
    rules: tuple[str, ...]
    reached: bool
    status: int | None


@dataclass(frozen=True)
class _Outcome:
    """answer: None to close the connection without one. only: so many bytes of its body, although all are announced."""

    reached: bool
    answer: Answer | None
    only: int | None = None

    @property
    def status(self) -> int | None:
        """Of a whole answer."""
        return self.answer.status if self.answer is not None and self.only is None else None


class Proxy(ThreadingHTTPServer):
    """A running proxy. url: where it is, without a slash at the end."""

    daemon_threads = True

    def __init__(
        self, upstreams: Sequence[str], rules: Sequence[Rule], address: tuple[str, int], *, keep_host: bool
    ) -> None:
        """upstreams: scheme, host, port each; the first gets what is not addressed to another. Raises OSError."""
        super().__init__(address, _Handler)
        host, port = self.server_address[:2]
        self.url = f"http://{host!s}:{port}"
        self.keep_host = keep_host
        self._first = upstreams[0]
        self._known = {netloc(one): one for one in upstreams} | {netloc(self.url): self._first}
        self._plan = Plan(rules)
        self._calls: list[Call] = []
        self._lock = threading.Lock()
        self.told: Callable[[Call], None] = lambda _: None

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules in force."""
        return self._plan.rules

    @rules.setter
    def rules(self, rules: Sequence[Rule]) -> None:
        """From the next call on these; each counts from the beginning."""
        self._plan = Plan(rules)

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every call, in the order in which they were answered."""
        with self._lock:
            return tuple(self._calls)

    def decide(self, asked: Asked) -> Decision:
        """What the rules in force do to it."""
        return self._plan.decide(asked)

    def upstream(self, target: str) -> str | None:
        """The server that a target is for, None if unknown. target: a path, or an address as a proxy's clients send."""
        return self._first if target.startswith("/") else self._known.get(netloc(target))

    def remember(self, call: Call) -> None:
        """Keep a call."""
        with self._lock:
            self._calls.append(call)
        self.told(call)


class _Handler(BaseHTTPRequestHandler):
    server: Proxy
    protocol_version = "HTTP/1.1"
    timeout = _IDLE

    def _take(self) -> None:
        try:
            body = body_of(self.rfile, self.headers.get("Content-Length"), self.headers.get("Transfer-Encoding"))  # type: ignore[arg-type]  # a buffered reader of bytes
        except (BodyError, OSError) as error:
            self.close_connection = True
            self._answer(_own(_BAD_REQUEST, str(error)))
            return
        path, target = _split(self.path)
        wish = s3.wish(self.command, target, {name.lower(): value for name, value in self.headers.items()})
        asked = Asked(self.command, path, wish.verb, wish.key, len(body))
        decision = self.server.decide(asked)
        time.sleep(decision.seconds)
        outcome = self._act(decision, target, body)
        # Before the client has its answer: who looks then finds the call.
        self.server.remember(Call(asked, decision.names, outcome.reached, outcome.status))
        try:
            if outcome.answer is not None:
                self._answer(outcome.answer, outcome.only)
            if outcome.status is None:
                self._hang_up()
        except OSError:  # the client has gone
            self.close_connection = True

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = _take  # names that the base class calls

    def _act(self, decision: Decision, target: str, body: bytes) -> _Outcome:
        act, upstream = decision.act, self.server.upstream(self.path)
        if isinstance(act, Drop) and not act.reached:
            return _Outcome(reached=False, answer=None)
        own = _refusal(act)
        if own is not None or upstream is None:
            stranger = _own(_BAD_GATEWAY, f"{netloc(self.path)} is no server of this proxy")
            return _Outcome(reached=False, answer=own or stranger)
        try:
            headers = self.headers.items()
            found = forward(upstream, self.command, target, headers, body, keep_host=self.server.keep_host)
        except UpstreamError as error:
            return _Outcome(reached=False, answer=_own(_BAD_GATEWAY, str(error)))
        if isinstance(act, Truncate) and len(found.body) > act.bytes:
            return _Outcome(reached=True, answer=found, only=act.bytes)
        return _Outcome(reached=True, answer=None if isinstance(act, Drop) else found)

    def _answer(self, answer: Answer, only: int | None = None) -> None:
        """Send an answer."""
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.headers:
            self.send_header(name, value)
        bare = self.command == "HEAD"
        length = answer.length if bare else str(len(answer.body))
        if length is not None and answer.status not in (204, 304):
            self.send_header("Content-Length", length)
        self.end_headers()
        if not bare:
            self.wfile.write(answer.body[:only])

    def _hang_up(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: object) -> None:
        """Calls are told through `Proxy.told`: what the base class prints would hold signatures."""


@contextmanager
def faulty(
    upstream: str,
    *others: str,
    rules: Sequence[Rule] = (),
    address: tuple[str, int] = (LOOPBACK, 0),
    keep_host: bool = True,
) -> Iterator[Proxy]:
    """A proxy before servers (scheme, host, port each) for as long as the block lasts.

    others: servers that a client reaches by them being its proxy. address: to listen on, port 0 for any free one.
    keep_host: False shows the server its own Host in place of the client's. Raises OSError when it cannot listen.
    """
    server = Proxy((upstream, *others), rules, address, keep_host=keep_host)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def netloc(url: str) -> str:
    """`host:port` of an address, with the scheme's own port where it names none."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port or _PORTS.get(parts.scheme, 0)}"


def _split(target: str) -> tuple[str, str]:
    """Path alone, and path with query, of a target in either form."""
    whole = target
    if not target.startswith("/"):
        parts = urlsplit(target)
        whole = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return whole.partition("?")[0], whole


def _refusal(act: object) -> Answer | None:
    """What is answered in the server's place, if it is."""
    if isinstance(act, Status):
        return _own(act.code, act.body, *act.headers.items())
    return _own(TOO_LARGE, f"more than {act.bytes} bytes") if isinstance(act, BodyLimit) else None


def _own(status: int, body: str, *headers: tuple[str, str]) -> Answer:
    content = body.encode()
    names = {name.lower() for name, _ in headers}
    kind = () if "content-type" in names else (("Content-Type", "text/plain; charset=utf-8"),)
    reason = BaseHTTPRequestHandler.responses.get(status, ("",))[0]
    return Answer(status, reason, (*kind, *headers), content, str(len(content)))
