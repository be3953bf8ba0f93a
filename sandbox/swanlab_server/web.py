"""Requests to handlers and answers back: sessions, errors, metrics. What every process that serves HTTP is made of.

A handler is a plain function of a context and a `Call`, run in a thread. A store that cannot be reached becomes 503 and
never a 4xx: the SDKs send again after a 5xx, and drop what they hold after a 4xx.
"""

from __future__ import annotations

import json
import logging
import secrets
import time
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from sandbox.swanlab_server.telemetry import CONTENT_TYPE, UNMATCHED, Telemetry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from starlette.requests import Request
    from starlette.types import StatelessLifespan

_log = logging.getLogger(__name__)
C = TypeVar("C")
_PLAIN: Final = "text/plain; charset=utf-8"
_JSON: Final = "application/json"


@dataclass(frozen=True, kw_only=True)
class Account:
    """Who calls. key: id of the API key that opened the session, None after a password."""

    id: int
    username: str
    name: str
    root: bool
    key: int | None = None


@dataclass(frozen=True, kw_only=True)
class Call:
    """A request. body: parsed JSON, None if empty. origin: `scheme://host[:port]` by which the caller came."""

    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    origin: str = "http://localhost"
    account: Account | None = None

    @property
    def caller(self) -> Account:
        """The account, where the route wants one. Raises Refusal."""
        if self.account is None:
            raise Refusal(401, "Unauthorized", "log in first: the cookie `sid` is missing, unknown or expired")
        return self.account


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What is sent back: body as JSON, or text, or nothing."""

    status: int = 200
    body: Any = None
    text: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


class Refusal(Exception):
    """The caller is at fault. body: sent in place of code and message."""

    def __init__(self, status: int, code: str, message: str, body: object = None) -> None:
        """status: 4xx."""
        super().__init__(message)
        self.answer = Answer(status=status, body=body or {"code": code, "message": message})


@dataclass(frozen=True)
class Endpoint(Generic[C]):
    """A route. path: Starlette's pattern. account: whether a session is needed."""

    method: str
    path: str
    handler: Callable[[C, Call], Answer]
    account: bool = True


@dataclass(frozen=True, kw_only=True)
class Server(Generic[C]):
    """What all requests share. identify: sid → account."""

    context: C
    identify: Callable[[str], Account | None]
    telemetry: Telemetry = field(default_factory=Telemetry)


def application(
    server: Server[C], endpoints: Sequence[Endpoint[C]], lifespan: StatelessLifespan[Starlette] | None = None
) -> Starlette:
    """The ASGI application, with `GET /metrics`."""

    async def metrics(_request: Request) -> Response:
        return Response(server.telemetry.page(), media_type=CONTENT_TYPE)

    async def strange(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        server.telemetry.answered(request.method, UNMATCHED, status, 0.0)
        code = HTTPStatus(status).phrase.replace(" ", "_")
        body = {"code": code, "message": f"no route {request.method} {request.url.path}"}
        return _response(Answer(status=status, body=body), secrets.token_hex(8))

    routes = [Route(item.path, _asgi(server, item), methods=[item.method]) for item in endpoints]
    return Starlette(
        routes=[Route("/metrics", metrics, methods=["GET"]), *routes],
        exception_handlers={404: strange, 405: strange},
        lifespan=lifespan,
    )


def _asgi(server: Server[C], endpoint: Endpoint[C]) -> Callable[[Request], Any]:
    async def serve(request: Request) -> Response:
        began = time.monotonic()
        trace = secrets.token_hex(8)
        raw = await request.body()
        answer = await run_in_threadpool(_answer, server, endpoint, request, raw, trace)
        server.telemetry.answered(request.method, endpoint.path, answer.status, time.monotonic() - began)
        return _response(answer, trace)

    return serve


def _answer(server: Server[C], endpoint: Endpoint[C], request: Request, raw: bytes, trace: str) -> Answer:
    where = f"{endpoint.method} {endpoint.path}"
    try:
        call = _call(server, request, raw)
        if endpoint.account:
            _ = call.caller
        return endpoint.handler(server.context, call)
    except Refusal as refusal:
        return refusal.answer
    except Exception as error:
        return _failed(error, f"{where} (trace {trace})")


def _failed(error: Exception, where: str) -> Answer:
    from sandbox.swanlab_server import stores  # noqa: PLC0415  # its drivers are most of the start of auth and pages

    if isinstance(error, stores.UNFIT):
        message = f"a value does not fit into its column ({type(error).__name__})"
        return Answer(status=422, body={"code": "Invalid_Value", "message": message})
    if isinstance(error, stores.DOWN):
        _log.warning("%s: a store does not answer: %s", where, type(error).__name__)
        message = f"a store does not answer ({type(error).__name__}); send the request again"
        return Answer(status=503, body={"code": "Store_Unavailable", "message": message})
    _log.error("%s failed", where, exc_info=error)
    return Answer(status=500, body={"code": "Internal_Error", "message": "the server failed; its log has why"})


def _call(server: Server[C], request: Request, raw: bytes) -> Call:
    sid = request.cookies.get("sid", "")
    return Call(
        path=request.path_params,
        query=request.query_params,
        headers=request.headers,
        body=_json(raw),
        origin=origin(request.headers, request.url.scheme),
        account=server.identify(sid) if sid else None,
    )


def _json(raw: bytes) -> object:
    if not raw.strip():
        return None
    try:
        return json.loads(raw)
    except ValueError as error:
        raise Refusal(400, "Invalid_Body", "the body is no JSON; send JSON in UTF-8") from error


def origin(headers: Mapping[str, str], scheme: str) -> str:
    """Where the caller believes to be, by what the gateway forwards. headers: names in lower case are found."""
    first = [headers.get(name, "").split(",")[0].strip() for name in ("x-forwarded-proto", "x-forwarded-host")]
    return f"{first[0] or scheme}://{first[1] or headers.get('host', 'localhost')}"


def _response(answer: Answer, trace: str) -> Response:
    headers = {**answer.headers, "traceid": trace}
    if answer.text is not None:
        return Response(answer.text, answer.status, headers, media_type=_PLAIN)
    if answer.body is None:
        return Response(None, answer.status, headers)
    content = json.dumps(answer.body, ensure_ascii=False, allow_nan=False)
    return Response(content, answer.status, headers, media_type=_JSON)
