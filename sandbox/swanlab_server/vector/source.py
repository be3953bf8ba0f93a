"""Where events come in: `POST /`, answered 200 once they are on disk."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sandbox.swanlab_server.vector import events
from sandbox.swanlab_server.vector.buffer import Full

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

    from sandbox.swanlab_server.vector.buffer import Buffer
    from sandbox.swanlab_server.vector.telemetry import Counters

_log = logging.getLogger(__name__)
PATIENCE: Final = 20.0
"""Seconds that a request waits for room in a full buffer; house gives up after 30."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """Takes events apart and into the buffers. buffers: by type of event."""

    buffers: Mapping[str, Buffer]
    clock: events.Clock
    source: Counters
    router: Counters
    patience: float = PATIENCE

    def application(self) -> Starlette:
        """The ASGI application."""
        return Starlette(routes=[Route("/", self._serve, methods=["POST"])])

    def accept(self, body: bytes) -> None:
        """Return once all events are on disk. Raises NoEvents, Full, OSError; then some of them may be."""
        routed = events.route(events.parse(body), self.clock)
        self.source.received(routed.received, len(body))
        for kind, rows in routed.rows.items():
            if rows:
                self.buffers[kind].append(rows, self.patience)
        taken = routed.received - routed.unmatched
        self.source.sent(routed.received)
        self.router.received(routed.received)
        self.router.sent(taken)
        self.router.discarded(routed.unmatched, intentional=True)

    async def _serve(self, request: Request) -> Response:
        body = await request.body()
        return await run_in_threadpool(self._answer, body)

    def _answer(self, body: bytes) -> Response:
        try:
            self.accept(body)
        except events.NoEvents as error:
            self.source.error("parser_failed", "processing")
            return _refusal(400, str(error))
        except Full as error:
            _log.warning("a buffer is full: %s", error)
            return _refusal(503, f"a buffer is full: {error}; send the events again")
        except OSError as error:
            _log.error("the buffer cannot be written: %s", error)  # the disk, not the code
            self.source.error("writer_failed", "processing")
            return _refusal(503, "the buffer's disk cannot be written; send the events again")
        return Response(status_code=200)


def _refusal(status: int, message: str) -> Response:
    return JSONResponse({"code": status, "message": message}, status)
