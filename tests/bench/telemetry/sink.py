"""Where both sides send: takes OTLP, and remembers of every trace, record and line whether it came, and when.

A process of its own, `python -m tests.bench.telemetry.sink --http PORT --grpc PORT`, that ends when its input does. It
takes traces and logs by gRPC, as Jaeger does, and by HTTP, as VictoriaLogs does, and tells at GET /phase/<number> what
it has of a phase: a JSON object of `distinct`, `again` (came more than once), `last` (nanoseconds of the monotonic
clock at which the last new one came); GET /counts/<number>: a byte for each item, how often it came; GET
/times/<number>: JSON of number → nanoseconds at which its last part came.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final

import grpc
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.bench.telemetry import identity
from tests.bench.telemetry.plan import SPANS_OF_A_TRACE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LARGEST: Final = 64 * 2**20
_MOST: Final = 255
_SERVICES: Final = {
    "opentelemetry.proto.collector.trace.v1.TraceService": "traces",
    "opentelemetry.proto.collector.logs.v1.LogsService": "logs",
}


@dataclass
class Phase:
    """What came of one phase. counts: how often, by item: place in the tree of a span, and number."""

    counts: bytearray = field(default_factory=bytearray)
    distinct: int = 0
    again: int = 0
    last: int = 0
    times: dict[int, int] = field(default_factory=dict)

    def came(self, number: int, item: int, now: int) -> None:
        """One more."""
        if item >= len(self.counts):
            self.counts.extend(bytes(max(item + 1 - len(self.counts), len(self.counts))))
        before = self.counts[item]
        self.counts[item] = min(_MOST, before + 1)
        if before:
            self.again += 1
            return
        self.distinct += 1
        self.last = self.times[number] = now


class Sink:
    """All phases."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._phases: dict[int, Phase] = {}

    def take(self, signal: str, body: bytes) -> None:
        """One request. signal: `traces` or `logs`."""
        now = time.monotonic_ns()
        items = _spans(body) if signal == "traces" else _records(body)
        with self._lock:
            for phase, number, item in items:
                self._phases.setdefault(phase, Phase()).came(number, item, now)

    def told(self, what: str, phase: int) -> bytes:
        """The answer to a question, see above."""
        with self._lock:
            found = self._phases.get(phase, Phase())
            if what == "counts":
                return bytes(found.counts)
            if what == "times":
                return json.dumps(found.times).encode()
            return json.dumps({"distinct": found.distinct, "again": found.again, "last": found.last}).encode()


def _spans(body: bytes) -> Iterator[tuple[int, int, int]]:
    """Phase, number of the trace, item."""
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                known = identity.of(span.trace_id)
                if known:
                    place = int.from_bytes(span.span_id[6:], "big")
                    yield *known, known[1] * SPANS_OF_A_TRACE + place


def _records(body: bytes) -> Iterator[tuple[int, int, int]]:
    for resource in ExportLogsServiceRequest.FromString(body).resource_logs:
        for scope in resource.scope_logs:
            for record in scope.log_records:
                known = identity.of(record.trace_id or _in_text(record.body.string_value))
                if known:
                    yield *known, known[1]


def _in_text(text: str) -> bytes:
    """The trace id in a line that nobody has parsed."""
    found = identity.TEXT.search(text.encode())
    return bytes.fromhex(found[1].decode()) if found else b""


def _handler(sink: Sink) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            sink.take(
                self.path.rpartition("/")[2],
                gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body,
            )
            self._answer(b"", "application/x-protobuf")

        def do_GET(self) -> None:
            _, what, phase = self.path.split("/") if self.path.count("/") == 2 else ("", "phase", "0")
            self._answer(sink.told(what, int(phase)), "application/octet-stream")

        def _answer(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: ANN401  # the library's signature
            """Nothing."""

    return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


def _rpc(sink: Sink, port: int) -> grpc.Server:
    def taking(signal: str) -> Callable[[bytes, grpc.ServicerContext], bytes]:
        def take(body: bytes, _: grpc.ServicerContext) -> bytes:
            sink.take(signal, body)
            return b""

        return take

    server = grpc.server(ThreadPoolExecutor(4), options=[("grpc.max_receive_message_length", _LARGEST)])
    for name, signal in _SERVICES.items():
        method: grpc.RpcMethodHandler[Any, Any] = grpc.unary_unary_rpc_method_handler(taking(signal))
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, {"Export": method}),))
    server.add_insecure_port(f"127.0.0.1:{port}")
    return server


def main() -> None:
    """Serve until the input ends, which is when whoever started it does."""
    parser = argparse.ArgumentParser(prog="sink", allow_abbrev=False)
    parser.add_argument("--http", type=int, required=True)
    parser.add_argument("--grpc", type=int, required=True)
    given = parser.parse_args()
    sink = Sink()
    rpc = _rpc(sink, given.grpc)
    rpc.start()
    with _Server(("127.0.0.1", given.http), _handler(sink)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sys.stdin.read()
        server.shutdown()
    rpc.stop(None)


if __name__ == "__main__":
    main()
