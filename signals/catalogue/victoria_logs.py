"""What VictoriaLogs tells of itself. It declares no types.

It answers 200 to records that it throws away: one that is older than it keeps, or too far ahead, is counted here alone.
Of those that it cannot store for their form only its log tells, and the counter of what is in the log.
"""

from __future__ import annotations

from typing import Final

from signals.catalogue.model import Budget, Drop, Metric, MetricType, Producer
from signals.catalogue.process import EPOCH_2020

_LOGS: Final = "github.com/VictoriaMetrics/VictoriaLogs v1.52.1 "
_METRICS: Final = "github.com/VictoriaMetrics/metrics v1.40.2 "
_STORAGE: Final = _LOGS + "app/vlstorage/main.go"


def _metric(  # noqa: PLR0913  # one parameter per field of the record that varies here
    name: str,
    meaning: str,
    source: str,
    labels: tuple[str, ...] = (),
    *,
    optional: tuple[str, ...] = (),
    unit: str = "1",
    event: str = "",
    low: float = 0.0,
    high: float | None = None,
) -> Metric:
    return Metric(
        name=name,
        type=MetricType.UNKNOWN,
        unit=unit,
        meaning=meaning,
        labels=labels,
        optional=optional,
        event=event,
        low=low,
        high=high,
        source=source,
    )


WARNINGS: Final = "vm_log_messages_total"
UNCOUNTED: Final = ".*/lib/logstorage/(block|log_rows)[.]go:.*"
"""Expression: the `location` of warnings that records were thrown away which no counter counts."""

_TAKEN: Final = (
    _metric(
        "vl_rows_ingested_total",
        "Records that were taken, those that are thrown away included.",
        _LOGS + "app/vlinsert/insertutil/common_params.go",
        ("type",),
        event="the first record",
    ),
    _metric(
        "vl_bytes_ingested_total",
        "Bytes of requests with records, unpacked.",
        _LOGS + "app/vlinsert/insertutil/common_params.go",
        ("type",),
        unit="bytes",
        event="the first record",
    ),
    _metric(
        "vl_rows_dropped_total",
        "Records that were answered for and thrown away: too old for the retention (`too_small_timestamp`), too far "
        "ahead (`too_big_timestamp`), with too many fields.",
        _STORAGE,
        ("reason",),
    ),
    _metric(
        "vl_too_long_lines_skipped_total",
        "Records that were thrown away, because they are too long.",
        _LOGS + "app/vlinsert/insertutil/line_reader.go",
    ),
    _metric(
        WARNINGS,
        "Messages in its own log. Of warnings that follow quickly upon one another some are counted.",
        "github.com/VictoriaMetrics/VictoriaMetrics v1.146.1 lib/logger/logger.go",
        ("app_version", "level", "location", "is_printed"),
    ),
    _metric(
        "vl_http_requests_total",
        "Requests; those of OTLP have `path` `/insert/opentelemetry/v1/logs`.",
        _LOGS + "app/vlinsert/opentelemetry/opentelemetry.go",
        ("path",),
        optional=("format",),
    ),
    _metric(
        "vl_http_errors_total",
        "Requests that were not understood or could not be stored.",
        _LOGS + "app/vlinsert/opentelemetry/opentelemetry.go",
        ("path",),
        optional=("format",),
    ),
)

_STORED: Final = (
    _metric("vl_storage_rows", "Records that are kept.", _STORAGE, ("type",)),
    _metric("vl_pending_rows", "Records that are not yet on disk or searchable.", _STORAGE, ("type",)),
    _metric("vl_data_size_bytes", "Bytes on disk: records, and their index.", _STORAGE, ("type",), unit="bytes"),
    _metric(
        "vl_max_disk_space_usage_bytes",
        "Bytes beyond which the oldest day goes, whatever its age.",
        _STORAGE,
        ("path",),
        unit="bytes",
    ),
    _metric("vl_free_disk_space_bytes", "Free bytes of the volume.", _STORAGE, ("path",), unit="bytes"),
    _metric("vl_total_disk_space_bytes", "Bytes of the volume.", _STORAGE, ("path",), unit="bytes", low=1.0),
    _metric(
        "vl_storage_is_read_only", "1 if nothing is taken, because too little is free.", _STORAGE, ("path",), high=1.0
    ),
    _metric("vl_partitions", "Days of which records are kept.", _STORAGE, unit="days"),
    _metric("vl_streams_created_total", "Streams that began; one for each container that logs.", _STORAGE),
)

_PROCESS: Final = (
    _metric(
        "process_start_time_seconds",
        "When the process started, since 1970. A step means a restart.",
        _METRICS + "process_metrics_linux.go",
        unit="seconds",
        low=EPOCH_2020,
    ),
    _metric(
        "process_resident_memory_bytes",
        "Physical memory of the process.",
        _METRICS + "process_metrics_linux.go",
        unit="bytes",
        low=1_000_000.0,
    ),
    _metric(
        "process_cpu_seconds_total",
        "Processor time used by the process.",
        _METRICS + "process_metrics_linux.go",
        unit="seconds",
    ),
    _metric(
        "vm_app_version",
        "Always 1; the version is in the labels.",
        "github.com/VictoriaMetrics/VictoriaMetrics v1.146.1 lib/appmetrics/appmetrics.go",
        ("version", "short_version"),
        low=1.0,
        high=1.0,
    ),
)

PRODUCER: Final = Producer(
    job="victoria-logs",
    title="VictoriaLogs",
    versions="VictoriaLogs 1.52",
    target_labels=("cluster", "environment"),
    per_node=False,
    metrics=(*_TAKEN, *_STORED, *_PROCESS),
    drops=(
        Drop(metric="go_.*", why="Inside of Go's runtime. Memory and processor time of the process stay."),
        Drop(
            metric="vm_(cache|filestream|fs|http|mmapped|nfs|tcplistener|zstd)_.*",
            why="Inside of the program: caches, files, connections, compression. Ask its page when it is slow.",
        ),
        Drop(metric="flag", why="The command line, which the pod shows."),
    ),
    # Counted: 149 series that are left of 491, and some 15 of messages in its log; each kind of query that is asked
    # adds seven.
    budget=Budget(per_target=400),
)
