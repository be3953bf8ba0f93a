"""The HTTP interface: one ASGI application over one engine."""

from __future__ import annotations

import json
import logging
import uuid
from typing import IO, TYPE_CHECKING, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from sandbox.clickhouse_engine import access, body, statement
from sandbox.clickhouse_engine.engine import Scope
from sandbox.clickhouse_engine.errors import BAD_ARGUMENTS, NOT_IMPLEMENTED, EngineError, error

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from starlette.requests import Request
    from starlette.types import Receive, Send
    from starlette.types import Scope as ASGIScope

    from sandbox.clickhouse_engine.engine import Engine, Summary
    from sandbox.clickhouse_engine.settings import Settings

_log = logging.getLogger(__name__)
_REFUSED: Final = frozenset({"compress", "decompress", "session_id", "role"})
_OWN: Final = _REFUSED | {
    "query",
    "database",
    "default_format",
    "user",
    "password",
    "query_id",
    "wait_end_of_query",
    "buffer_size",
    "quota_key",
    "stacktrace",
    "enable_http_compression",
    "http_zlib_compression_level",
    "send_progress_in_http_headers",
    "client_protocol_version",
    "add_http_cors_header",
    "session_timeout",
    "session_check",
}
"""Parameters of the address that are no settings of the engine."""
_DEFAULT_FORMAT: Final = "TabSeparated"


def app(engine: Engine, settings: Settings) -> Starlette:
    """`/` takes statements, `/ping` and `/replicas_status` say that the server is there."""
    interface = _Interface(engine, settings)
    return Starlette(
        routes=[
            Route("/", interface.statement, methods=["GET", "POST"]),
            Route("/ping", _alive, methods=["GET"]),
            Route("/replicas_status", _alive, methods=["GET"]),
        ],
        middleware=[Middleware(_Compression)],
    )


class _Compression(GZipMiddleware):
    """Compresses only for those who ask for it twice: by the header, and by `enable_http_compression=1`."""

    async def __call__(self, scope: ASGIScope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and b"enable_http_compression=1" in scope["query_string"]:
            await super().__call__(scope, receive, send)
        else:
            await self.app(scope, receive, send)


async def _alive(_: Request) -> Response:
    return PlainTextResponse("Ok.\n")


class _Interface:
    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self._settings = settings

    async def statement(self, request: Request) -> Response:
        """`/`: what is asked is run in a thread, so that statements do not wait for each other."""
        parameters = dict(request.query_params)
        if request.method == "GET" and "query" not in parameters:
            return await _alive(request)
        query_id = parameters.get("query_id") or str(uuid.uuid4())
        try:
            access.check(self._settings, request.headers, parameters)
            given = await body.receive(request.stream(), request.headers.get("content-encoding", ""))
            answer = await run_in_threadpool(self._run, request, parameters, given)
        except EngineError as failure:
            answer = self._failure(failure)
        answer.headers["X-ClickHouse-Query-Id"] = query_id
        answer.headers["X-ClickHouse-Server-Display-Name"] = "clickhouse-engine"
        return answer

    def _run(self, request: Request, parameters: Mapping[str, str], given: IO[bytes]) -> Response:
        with given:
            scope = _scope(request, parameters)
            text = parameters.get("query", "").encode()
            separate = bool(text.strip())
            # A statement in the body may be followed by megabytes of rows: only its head is looked at.
            head = text if separate else given.read(body.CHUNK)
            try:
                insert = statement.insert(head, separate=separate)
                if insert is not None:
                    return _answer(iter(()), self._engine.insert(insert, body.pieces(given), scope), "")
                whole = (head + b"\n" + given.read() if separate else head + given.read()).decode()
            except UnicodeDecodeError as failure:
                raise error(BAD_ARGUMENTS, "BAD_ARGUMENTS", f"the statement is not UTF-8: {failure}") from failure
            default = request.headers.get("x-clickhouse-format") or parameters.get("default_format") or _DEFAULT_FORMAT
            query = statement.query(whole.strip(), default)
            answer = self._engine.run(query, scope)
            return _answer(self._told(answer.chunks), answer.summary, query.format)

    def _told(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """The result; an error in its middle is written behind it, and the connection breaks, as in the real one."""
        try:
            yield from chunks
        except EngineError as failure:
            yield b"\n" + failure.text(self._engine.version).encode()
            raise

    def _failure(self, failure: EngineError) -> Response:
        _log.warning("statement refused: %s", failure)
        return PlainTextResponse(
            failure.text(self._engine.version),
            status_code=failure.status,
            headers={"X-ClickHouse-Exception-Code": str(failure.code)},
        )


def _scope(request: Request, parameters: Mapping[str, str]) -> Scope:
    for name in _REFUSED:
        if parameters.get(name, "0") not in {"", "0"}:
            raise error(NOT_IMPLEMENTED, "NOT_IMPLEMENTED", f"parameter {name!r} is not supported here")
    values = {k.removeprefix("param_"): v for k, v in parameters.items() if k.startswith("param_")}
    chosen = {k: v for k, v in parameters.items() if k not in _OWN and not k.startswith("param_")}
    if request.method == "GET":
        chosen["readonly"] = chosen.get("readonly", "2")  # the real server lets GET change nothing but settings
    database = request.headers.get("x-clickhouse-database") or parameters.get("database", "")
    return Scope(database=database, settings=chosen, parameters=values)


def _answer(chunks: Iterator[bytes], summary: Summary | None, result_format: str) -> Response:
    headers = {"X-ClickHouse-Format": result_format} if result_format else {}
    if summary is not None:
        figures = {name: str(value) for name, value in vars(summary).items()}
        headers["X-ClickHouse-Summary"] = json.dumps(figures, separators=(",", ":"))
    return StreamingResponse(chunks, headers=headers, media_type=_media_type(result_format))


def _media_type(result_format: str) -> str:
    name = result_format.lower()
    if name.startswith("json"):
        return "application/json" if name == "json" else "application/x-ndjson"
    if name.startswith(("tab", "tsv")):
        return "text/tab-separated-values; charset=UTF-8"
    return "text/csv; charset=UTF-8" if name.startswith("csv") else "text/plain; charset=UTF-8"
