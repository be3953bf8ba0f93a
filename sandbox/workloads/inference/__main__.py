"""Run a role: `python3 -P -m sandbox.workloads.inference --role gateway --router http://… --retrieval http://…`."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from typing import TYPE_CHECKING, Final

from sandbox.workloads.inference import exposition
from sandbox.workloads.inference.boundary import Boundaries
from sandbox.workloads.inference.engine import Engine
from sandbox.workloads.inference.gateway import Gateway
from sandbox.workloads.inference.journal import Format, Journal
from sandbox.workloads.inference.options import Options, parse
from sandbox.workloads.inference.serving import Decode, Prefill, Retrieval, Router
from sandbox.workloads.inference.telemetry import Telemetry
from sandbox.workloads.inference.web import Answer, Asked, Route, Server, as_json

if TYPE_CHECKING:
    from collections.abc import Sequence

_log = logging.getLogger(__name__)
_POLL: Final = 0.1
"""Seconds after which the server notices at the latest that it is to end."""
_TEXT: Final = "text/plain; version=0.0.4; charset=utf-8"


def build(options: Options, telemetry: Telemetry) -> Server:
    """The role, listening from here on. Raises OSError when the port is taken."""
    at = Boundaries(telemetry, Journal(telemetry, options.role, options.logs))
    engine = Engine(options.model, options.slots) if options.role in ("prefill", "decode") else None
    server = Server(options.host, options.port, (), at)
    server.routes = (*_routes(options, at, engine, server.server_port), *_common(telemetry, engine))
    return server


def _routes(options: Options, at: Boundaries, engine: Engine | None, port: int) -> tuple[Route, ...]:
    there = options.addresses
    if options.role == "gateway":
        return Gateway(at, there["router"][0], there["retrieval"][0]).routes()
    if options.role == "router":
        return Router(at, there["prefill"], there["decode"], options.turns).routes()
    if engine is None:
        return Retrieval(at).routes()
    if options.role == "decode":
        return Decode(at, engine).routes()
    host = options.advertise or "127.0.0.1"
    return Prefill(at, engine, f"http://{f'[{host}]' if ':' in host else host}:{port}").routes()


def _common(telemetry: Telemetry, engine: Engine | None) -> tuple[Route, ...]:
    def metrics(_: Asked) -> Answer:
        own = exposition.ledger_registry(telemetry.ledger)
        registries = (own,) if engine is None else (engine.metrics.registry, own)
        return Answer(200, exposition.text(*registries), _TEXT)

    def flush(_: Asked) -> Answer:
        done = telemetry.flush()
        counts = {f"{signal}_{outcome}": count for (signal, outcome), count in telemetry.ledger.counts().items()}
        return as_json({"flushed": done, **counts})

    return (
        Route("GET", "/healthz", lambda _: as_json({"healthy": True}), traced=False),
        Route("GET", "/metrics", metrics, traced=False),
        Route("POST", "/flush", flush, traced=False),
    )


def main(arguments: Sequence[str]) -> int:
    """The program. 0 = told to end, 1 = it cannot listen; a wrong flag exits with 2."""
    options = parse(arguments)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Format(options.role))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    telemetry = Telemetry(f"inference-{options.role}", metrics=options.role == "decode")
    try:
        server = build(options, telemetry)
    except OSError as error:
        _log.error("cannot listen on port %d of %r: %s; free it or give another", options.port, options.host, error)
        return 1
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    threading.Thread(target=server.serve_forever, args=(_POLL,), daemon=True).start()
    server.boundaries.journal.write("INFO", "role listens", port=server.server_port, sends=telemetry.sends)
    stop.wait()
    server.shutdown()
    server.server_close()
    telemetry.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
