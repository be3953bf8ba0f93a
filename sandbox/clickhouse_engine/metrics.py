"""Metrics under the server's own names, every value from the engine.

Names and types as `src/Server/PrometheusMetricsWriter.cpp` writes them. The engine has no
`system.asynchronous_metrics`; of those there is only `Uptime`, which the function `uptime()` gives.
"""

from __future__ import annotations

import http.server
import json
import re
from typing import TYPE_CHECKING, Final

from sandbox.clickhouse_engine.errors import EngineError

if TYPE_CHECKING:
    from sandbox.clickhouse_engine.engine import Engine

_INVALID: Final = re.compile(r"[^a-zA-Z0-9_:]")
_EVENTS: Final = (
    "SELECT 'ClickHouseProfileEvents_' || event, 'counter', description, value FROM system.events "
    "SETTINGS system_events_show_zero_values = 1"
)
_METRICS: Final = "SELECT 'ClickHouseMetrics_' || metric, 'gauge', description, value FROM system.metrics"
_UPTIME: Final = "SELECT 'ClickHouseAsyncMetrics_Uptime', 'gauge', 'The server uptime in seconds.', toInt64(uptime())"


def exposition(engine: Engine) -> str:
    """All metrics in Prometheus' text format. Raises EngineError."""
    lines: list[str] = []
    for text in (_EVENTS, _METRICS, _UPTIME):
        rows = engine.value(f"{text} FORMAT JSONCompactEachRow").split("\n")
        for name, kind, documentation, value in map(json.loads, rows):
            key = _INVALID.sub("_", name)
            lines += (f"# HELP {key} {documentation}".replace("\n", " "), f"# TYPE {key} {kind}", f"{key} {value}")
    return "\n".join(lines) + "\n"


class Server(http.server.ThreadingHTTPServer):
    """`/metrics` of one engine."""

    daemon_threads = True

    def __init__(self, port: int, engine: Engine) -> None:
        """Listen on every address. Raises OSError when the port is taken."""
        self.engine = engine
        super().__init__(("", port), _Handler)


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        if self.path.partition("?")[0] != "/metrics":
            self._answer(404, "There is only /metrics here\n")
            return
        try:
            self._answer(200, exposition(self.server.engine))
        except EngineError as failure:
            self._answer(500, f"{failure}\n")

    def _answer(self, status: int, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Scrapes are not logged."""
