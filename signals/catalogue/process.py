"""What every Go program exposes about itself through the Prometheus client library."""

from __future__ import annotations

from signals.catalogue.model import Metric, MetricType

_SOURCE = "github.com/prometheus/client_golang v1.22.0 and v1.25.0 prometheus/{file}"
EPOCH_2020 = 1_577_836_800.0
"""Seconds since 1970: a start time before it means a broken clock."""

PROCESS_METRICS: tuple[Metric, ...] = (
    Metric(
        name="process_start_time_seconds",
        type=MetricType.GAUGE,
        unit="seconds",
        meaning="When the process started, since 1970. A step means a restart.",
        low=EPOCH_2020,
        source=_SOURCE.format(file="process_collector.go"),
    ),
    Metric(
        name="process_resident_memory_bytes",
        type=MetricType.GAUGE,
        unit="bytes",
        meaning="Physical memory of the process.",
        low=1_000_000.0,
        source=_SOURCE.format(file="process_collector.go"),
    ),
    Metric(
        name="process_cpu_seconds_total",
        type=MetricType.COUNTER,
        unit="seconds",
        meaning="Processor time used by the process.",
        source=_SOURCE.format(file="process_collector.go"),
    ),
    Metric(
        name="process_open_fds",
        type=MetricType.GAUGE,
        unit="1",
        meaning="Open file descriptors; reaching process_max_fds stops connections and files alike.",
        low=1.0,
        source=_SOURCE.format(file="process_collector.go"),
    ),
    Metric(
        name="go_goroutines",
        type=MetricType.GAUGE,
        unit="1",
        meaning="Goroutines; steady growth is a leak.",
        low=1.0,
        source=_SOURCE.format(file="go_collector.go"),
    ),
)
