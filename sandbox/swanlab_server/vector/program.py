"""The process: buffers, sinks, source, metrics."""

from __future__ import annotations

import fcntl
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import uvicorn
from prometheus_client import CollectorRegistry, start_http_server

from sandbox.swanlab_server.clickhouse_client import Client
from sandbox.swanlab_server.errors import StartError
from sandbox.swanlab_server.vector import events
from sandbox.swanlab_server.vector.buffer import Buffer
from sandbox.swanlab_server.vector.sink import Sink
from sandbox.swanlab_server.vector.source import Source
from sandbox.swanlab_server.vector.telemetry import Component, Counters, Exposition

if TYPE_CHECKING:
    from sandbox.swanlab_server.settings import VectorSettings

_log = logging.getLogger(__name__)
_GRACE: Final = 25
"""Seconds that open requests get to end after SIGTERM; one may be waiting for room."""
_LAST: Final = 35.0
"""Seconds that a sink gets to end its request."""


def main(settings: VectorSettings) -> int:
    """Run until told to end; the exit code. Raises StartError."""
    directory = Path(settings.data_dir)
    lock = _lock(directory)
    try:
        sinks = {kind: _sink(kind, directory, settings) for kind in events.TABLES}
    except OSError as error:
        raise StartError(f"the buffer in {directory} cannot be opened: {error}; look at the volume") from error
    source = Source(
        buffers={kind: sink.buffer for kind, sink in sinks.items()},
        clock=events.Clock(),
        source=Counters(Component("http", "source", "http_server"), bytes_as="received"),
        router=Counters(Component("by_type", "transform", "route")),
    )
    _expose(settings.metrics_port, source, sinks)
    for sink in sinks.values():
        sink.start()
    _log.info("buffer in %s, source on port %d, metrics on %d", directory, settings.port, settings.metrics_port)
    uvicorn.run(
        source.application(),
        host="0.0.0.0",  # noqa: S104  # a pod's own network; the Service decides who reaches it
        port=settings.port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=_GRACE,
        server_header=False,
    )
    for sink in sinks.values():
        sink.stop()
    for sink in sinks.values():
        sink.join(_LAST)
        sink.buffer.close()
    os.close(lock)
    return 0


def _lock(directory: Path) -> int:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise StartError(f"another process has the buffer in {directory} open; end it first") from error
    except OSError as error:
        raise StartError(f"the buffer in {directory} cannot be opened: {error}; look at the volume") from error
    return descriptor


def _sink(kind: str, directory: Path, settings: VectorSettings) -> Sink:
    component = Component(f"clickhouse_{kind}", "sink", "clickhouse")
    return Sink(
        component.id,
        events.TABLES[kind],
        Buffer(directory / component.id, settings.buffer_max_bytes),
        Client(settings.clickhouse),
        Counters(component),
        flush_seconds=settings.flush_seconds,
        flush_events=settings.flush_events,
    )


def _expose(port: int, source: Source, sinks: dict[str, Sink]) -> None:
    registry = CollectorRegistry()
    counters = [source.source, source.router, *(sink.counters for sink in sinks.values())]
    buffers = [(sink.counters.component, sink.buffer) for sink in sinks.values()]
    registry.register(Exposition(counters, buffers))
    try:
        start_http_server(port, registry=registry)
    except OSError as error:
        raise StartError(f"port {port} for metrics cannot be had: {error}; give another as METRICS_PORT") from error
