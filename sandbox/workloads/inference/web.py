"""HTTP of a role: routes with the span of who is asked, and calls to the next role with the span of who asks."""

from __future__ import annotations

import http.client
import json
import logging
import socket
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

from opentelemetry import context, trace
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from sandbox.workloads.inference.boundary import Failure
from sandbox.workloads.inference.read import AskError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from opentelemetry.trace import Span

    from sandbox.workloads.inference.asking import Job
    from sandbox.workloads.inference.boundary import Boundaries

_log = logging.getLogger(__name__)

LARGEST_BODY: Final = 1_000_000
"""Bytes of a body that are still read."""
CALL_TIMEOUT: Final = 300.0
_READ_TIMEOUT: Final = 30.0
_PROPAGATOR: Final = TraceContextTextMapPropagator()
CANCELLED: Final = 499
"""Status of a request whose caller went away; HTTP has none of its own, proxies use this one."""


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    headers: Mapping[str, str]
    query: Mapping[str, list[str]]
    body: bytes


@dataclass(frozen=True)
class Answer:
    """What goes back. chunks: written one by one after the head, in place of the body."""

    status: int
    body: bytes
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    chunks: Iterator[bytes] | None = None


@dataclass(frozen=True)
class Route:
    """traced: whether calls have a span."""

    method: str
    path: str
    handle: Callable[[Asked], Answer]
    traced: bool = True


def as_json(found: object, status: int = HTTPStatus.OK, **headers: str) -> Answer:
    """An answer of JSON."""
    return Answer(status, json.dumps(found).encode(), headers={k.replace("_", "-"): v for k, v in headers.items()})


class Server(ThreadingHTTPServer):
    """Listens on one port, by default on every address of both families."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, host: str, port: int, routes: tuple[Route, ...], boundaries: Boundaries) -> None:
        """Listen. Raises OSError when the port is taken or the host is no address of this machine."""
        super().__init__((host, port), _Handler, bind_and_activate=False)
        self.routes, self.boundaries = routes, boundaries
        self.socket.close()
        self.socket = _listen(host, port)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = host, int(self.server_address[1])

    def find(self, method: str, path: str) -> Route | None:
        """The route of a path."""
        return next((route for route in self.routes if (route.method, route.path) == (method, path)), None)


def _listen(host: str, port: int) -> socket.socket:
    if not host and socket.has_dualstack_ipv6():
        return socket.create_server(("", port), family=socket.AF_INET6, backlog=128, dualstack_ipv6=True)
    return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=128)


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    timeout = _READ_TIMEOUT
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Metrics, health, the KV cache of a request."""
        self._answer()

    def do_POST(self) -> None:
        """A request, or what is to be done with it next."""
        self._answer()

    def _answer(self) -> None:
        url = urlsplit(self.path)
        route = self.server.find(self.command, unquote(url.path))
        length = self.headers.get("Content-Length", "0")
        if not (length.isascii() and length.isdigit() and int(length) <= LARGEST_BODY):
            self.close_connection = True
            self._send(as_json({"error": f"a body of {length} bytes; accepted are up to {LARGEST_BODY}"}, 413))
            return
        body = self.rfile.read(int(length))
        if route is None:
            known = ", ".join(f"{route.method} {route.path}" for route in self.server.routes)
            self._send(as_json({"error": f"no {self.command} {url.path}; there are {known}"}, HTTPStatus.NOT_FOUND))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(headers, parse_qs(url.query, keep_blank_values=True), body)
        if not route.traced:
            self._send(guarded(route.handle, asked))
            return
        host = urlsplit(f"//{headers.get('host', 'localhost')}").hostname or "localhost"
        about = {"server.address": host, "server.port": self.server.server_port, "network.protocol.version": "1.1"}
        with server_span(self.server.boundaries, route, asked, about) as span:
            answer = answered(span, route, asked)
            if answer.chunks is not None:
                self._send(answer, span)
        if answer.chunks is None:  # so that whoever has the answer finds the span ended
            self._send(answer)

    def _send(self, answer: Answer, span: Span | None = None) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.chunks is None:
            self.send_header("Content-Length", str(len(answer.body)))
        else:
            self.close_connection = True  # the end of the connection is the end of the stream
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        drained(answer, span, self.wfile.write)

    def log_message(self, format: str, *args: object) -> None:
        """A role writes its own lines; requests of probes and scrapes have none."""
        _log.debug(format, *args)


@contextmanager
def server_span(boundaries: Boundaries, route: Route, asked: Asked, about: Mapping[str, Any]) -> Iterator[Span]:
    """The span of the side that is asked; a trace of its own where the caller has none."""
    attributes = {
        "http.request.method": route.method,
        "http.route": route.path,
        "url.path": route.path,
        "url.scheme": "http",
        **about,
    }
    with boundaries.telemetry.tracer().start_as_current_span(
        f"{route.method} {route.path}",
        context=_PROPAGATOR.extract(asked.headers, context.Context()),
        kind=SpanKind.SERVER,
        attributes=attributes,
    ) as span:
        yield span


def answered(span: Span, route: Route, asked: Asked) -> Answer:
    """The answer, with its status told to the span."""
    answer = guarded(route.handle, asked)
    span.set_attribute("http.response.status_code", answer.status)
    if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        _is_error(span, str(answer.status))
    return answer


def drained(answer: Answer, span: Span | None, write: Callable[[bytes], object]) -> None:
    """Write what the answer has. After the head, nothing but the end of the connection can tell of a failure."""
    try:
        for chunk in (answer.body,) if answer.chunks is None else answer.chunks:
            write(chunk)
    except Failure as failure:
        if span is not None:
            _is_error(span, failure.kind)


def _is_error(span: Span, kind: str) -> None:
    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR))


def guarded(handle: Callable[[Asked], Answer], asked: Asked) -> Answer:
    """The answer; a fault of the caller is told, one of ours is a 500."""
    here = trace.get_current_span().get_span_context()
    ids = {"trace_id": f"{here.trace_id:032x}"} if here.is_valid else {}
    try:
        return handle(asked)
    except AskError as error:
        return as_json({"error": str(error), **ids}, HTTPStatus.BAD_REQUEST)
    except Failure as failure:
        ids = {**ids, **({"request_id": failure.request_id} if failure.request_id else {})}
        headers = {f"x_{name}": value for name, value in ids.items()}
        found = {"error": failure.summary, "type": failure.kind, "reported": failure.reported, **ids}
        return as_json(found, failure.status, **headers)
    except Exception as error:
        _log.exception("a request could not be answered")
        trace.get_current_span().record_exception(error)
        return as_json({"error": type(error).__name__, **ids}, HTTPStatus.INTERNAL_SERVER_ERROR)


def call(  # noqa: PLR0913  # a call and its span
    boundaries: Boundaries,
    point: str,
    job: Job,
    method: str,
    url: str,
    *,
    name: str = "",
    body: bytes = b"",
    attributes: Mapping[str, Any] | None = None,
    outcome: Callable[[Job, dict[str, Any]], Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Ask another role, with a span of kind client. point: whose latency and secrets the span has, "" for none.
    outcome: attributes that are known when it has answered.

    Raises Failure: what the other role answered, or 502 where it cannot be reached.
    """
    parts = urlsplit(url)
    about = {
        "http.request.method": method,
        "url.full": url,
        "server.address": parts.hostname or "",
        "server.port": parts.port or 80,
        **(attributes or {}),
    }
    with boundaries.cross(
        point, job, name=name or f"{method} {parts.path}", kind=SpanKind.CLIENT, attributes=about
    ) as span:
        headers = {"Content-Type": "application/json", "x-request-id": job.request_id}
        _PROPAGATOR.inject(headers)
        status, found = _ask(method, url, body, headers)
        span.set_attribute("http.response.status_code", status)
        if status >= HTTPStatus.BAD_REQUEST:
            raise _passed_on(status, found, url)
        if outcome is not None:
            span.set_attributes(outcome(job, found))
        return found


def _passed_on(status: int, found: Mapping[str, Any], url: str) -> Failure:
    failure = Failure(status, found.get("type", str(status)), found.get("error", f"{url} answered {status}"))
    failure.reported = bool(found.get("reported"))  # where it happened
    return failure


def _ask(method: str, url: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=CALL_TIMEOUT)
    try:
        connection.request(method, parts.path, body or None, dict(headers))
        answered = connection.getresponse()
        content = answered.read(LARGEST_BODY)
        return answered.status, json.loads(content)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Failure(
            HTTPStatus.BAD_GATEWAY, type(error).__name__, f"{parts.netloc} did not answer: {error}"
        ) from error
    finally:
        connection.close()
