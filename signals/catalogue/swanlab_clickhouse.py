"""What ClickHouse tells of itself. One that SwanLab's chart runs; somebody else's is theirs to watch.

Thousands of series that nobody asks for: every event and every metric that the program counts. The page names those
that rules and people need, and drops whole families of the rest.
"""

from __future__ import annotations

from signals.catalogue.model import Budget, Drop, Metric, MetricType, Producer

_CLICKHOUSE = "github.com/ClickHouse/ClickHouse v24.3 "


def _event(name: str, meaning: str, unit: str = "1") -> Metric:
    """Counts since the start; written with zeros as well."""
    return Metric(
        name=f"ClickHouseProfileEvents_{name}",
        type=MetricType.COUNTER,
        unit=unit,
        meaning=meaning,
        source=_CLICKHOUSE + "src/Common/ProfileEvents.cpp",
    )


def _metric(name: str, meaning: str, unit: str = "1") -> Metric:
    return Metric(
        name=f"ClickHouseMetrics_{name}",
        type=MetricType.GAUGE,
        unit=unit,
        meaning=meaning,
        # Memory is counted by balance, and may be a little below nothing.
        low=None,
        source=_CLICKHOUSE + "src/Common/CurrentMetrics.cpp",
    )


_EVENTS = (
    _event("Query", "Statements that were begun."),
    _event("FailedQuery", "Statements that failed."),
    _event("InsertQuery", "Inserts that were begun."),
    _event("FailedInsertQuery", "Inserts that failed."),
    _event("InsertedRows", "Rows that were inserted into any table."),
    _event("InsertedBytes", "Uncompressed bytes that were inserted into any table.", "bytes"),
    _event("DelayedInserts", "Inserts that were held back, because a table has too many parts."),
    _event("RejectedInserts", "Inserts that were refused, because a table has too many parts."),
    _event("MergedRows", "Rows that background merges have read."),
)

_METRICS = (
    _metric("Query", "Statements that run now."),
    _metric("Merge", "Background merges that run now."),
    _metric("DelayedInserts", "Inserts that are held back now."),
    _metric("MemoryTracking", "Memory that the program has asked for.", "bytes"),
    _metric("PartsActive", "Parts of all tables that are read."),
)

PRODUCER = Producer(
    job="swanlab-clickhouse",
    title="SwanLab's ClickHouse",
    versions="ClickHouse 24.3",
    target_labels=("cluster", "environment"),
    per_node=False,
    metrics=(
        *_EVENTS,
        *_METRICS,
        Metric(
            name="ClickHouseAsyncMetrics_Uptime",
            type=MetricType.GAUGE,
            unit="seconds",
            meaning="Age of the process.",
            source=_CLICKHOUSE + "src/Interpreters/ServerAsynchronousMetrics.cpp",
        ),
    ),
    drops=(
        Drop(
            metric="ClickHouseProfileEvents_.*(Micro|Milli|Nano)seconds",
            why="Time that is spent inside, by kind of work. system.query_log has it for each statement.",
        ),
        Drop(
            metric="ClickHouseMetrics_.*Threads(Active|Scheduled)?",
            why="Sizes of thread pools. system.metrics has them.",
        ),
        Drop(
            metric="ClickHouse(ProfileEvents|Metrics)_(Disk)?"
            "(S3|Azure|GCS|HDFS|Keeper|ZooKeeper|ZK|Kafka|RabbitMQ|NATS|Distributed|Replicated|Shared|Remote|Iceberg"
            "|DataLake|Delta|Parquet|ObjectStorage|FileSegment|FilesystemCache|CachedRead).*",
            why="Parts of ClickHouse that one server with a local disk does not use.",
        ),
        Drop(
            metric="ClickHouseAsyncMetrics_(Block|CPU|OS|Network|Temperature|EDAC|jemalloc|Filesystem|LoadAverage).*",
            why="About the node, for each of its processors and devices. Use node-exporter.",
        ),
    ),
    # Counted: 1100 series of the engine of stack `local` are left, and a server of 24.3 knows fewer events.
    budget=Budget(per_target=1500),
)
