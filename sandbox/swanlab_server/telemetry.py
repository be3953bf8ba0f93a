"""What a process tells about itself on `GET /metrics`."""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Histogram, PlatformCollector, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4
UNMATCHED: Final = "unmatched"
"""Label `route` of requests that no route took: paths of strangers must not become series."""
_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Telemetry:
    """A registry with metrics of the process and of its requests. Others may register theirs in `registry`."""

    def __init__(self) -> None:
        """Nothing asked yet."""
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self._duration = Histogram(
            "http_request_duration_seconds",
            "Seconds from the request to its answer.",
            ("method", "route", "status"),
            buckets=_BUCKETS,
            registry=self.registry,
        )

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """One request. route: the pattern, never the path."""
        self._duration.labels(method, route, str(status)).observe(seconds)

    def page(self) -> bytes:
        """The page in Prometheus' text format."""
        return generate_latest(self.registry)
