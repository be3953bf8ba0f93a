"""Jaeger's configuration. Its components have the names of its own release, which are not those of the collector's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from components import fixed_config
from components.fixed_config import OWN_REVISION
from components.otel_collector.names import REVISION
from components.traces.names import (
    CONFIG_FILE,
    DATA_PATH,
    GRPC_PORT,
    HEALTH_PORT,
    HTTP_PORT,
    LOCAL_PORT,
    METRICS_PORT,
    NAME,
    QUERY_PORT,
)
from signals.yamltext import dump

if TYPE_CHECKING:
    from components.rendered import Rendered
    from components.traces.args import TracesArgs

LIMIT_PERCENT: Final = 70
SPIKE_PERCENT: Final = 15
CHECK_INTERVAL: Final = "100ms"
"""Above limit minus spike spans are refused, so that the gateway keeps them. Four senders without a pause drove the
process to 60 per cent of its container with these; with 75 per cent and a look per second it went over it."""
MAX_REQUEST_MIB: Final = 64
"""A larger request is refused for good. The default of 4 is less than one batch of large spans."""
_EVERYWHERE: Final = "0.0.0.0"  # noqa: S104  # of the pod; a NetworkPolicy says who gets in
_MIB: Final = 2**20
_BACKEND: Final = "badger"


def render(args: TracesArgs) -> Rendered:
    """The configuration of one Jaeger that receives, keeps and answers."""
    return fixed_config.render(CONFIG_FILE, dump(document(args, OWN_REVISION)))


def document(args: TracesArgs, own: str) -> dict[str, Any]:
    """The configuration before it is text. own: the hash of the file without it, which Jaeger's own metrics show.

    There is no batch processor: it would answer for spans that are in memory alone, and the gateway, which drops what
    was answered for, sends batches already. A write that fails is not tried again here but by the gateway.
    """
    return {
        "service": _service(own),
        "extensions": {
            "healthcheckv2": {"use_v2": True, "http": {"endpoint": _at(HEALTH_PORT)}},
            "jaeger_query": {
                "storage": {"traces": _BACKEND},
                "http": {"endpoint": _at(QUERY_PORT)},
                "grpc": {"endpoint": f"127.0.0.1:{LOCAL_PORT}"},
                # By default it traces each question to its own receiver, past the gateway: unredacted, uncounted there.
                "enable_tracing": False,
            },
            "jaeger_storage": {"backends": {_BACKEND: {"badger": _badger(args)}}},
        },
        "receivers": {
            "otlp": {
                "protocols": {
                    "grpc": {"endpoint": _at(GRPC_PORT), "max_recv_msg_size_mib": MAX_REQUEST_MIB},
                    "http": {"endpoint": _at(HTTP_PORT), "max_request_body_size": MAX_REQUEST_MIB * _MIB},
                }
            }
        },
        "processors": {
            "memory_limiter": {
                "check_interval": CHECK_INTERVAL,
                "limit_mib": args.memory_bytes * LIMIT_PERCENT // 100 // _MIB,
                "spike_limit_mib": args.memory_bytes * SPIKE_PERCENT // 100 // _MIB,
            }
        },
        "exporters": {
            "jaeger_storage_exporter": {"trace_storage": _BACKEND, "retry_on_failure": {"enabled": False}},
        },
    }


def _service(own: str) -> dict[str, Any]:
    reader = {"pull": {"exporter": {"prometheus": {"host": _EVERYWHERE, "port": METRICS_PORT}}}}
    return {
        "extensions": ["jaeger_storage", "jaeger_query", "healthcheckv2"],
        "pipelines": {
            "traces": {
                "receivers": ["otlp"],
                "processors": ["memory_limiter"],
                "exporters": ["jaeger_storage_exporter"],
            }
        },
        "telemetry": {
            "resource": {"service.name": NAME, REVISION: own},
            "metrics": {"level": "normal", "readers": [reader]},
            "logs": {"level": "info", "encoding": "json"},
        },
    }


def _badger(args: TracesArgs) -> dict[str, Any]:
    """Written without a sync each: a killed process loses nothing that was answered for, a lost node may.

    On a full volume the process is killed at its next write, and does not start before the volume is larger. What was
    answered for is there then. So the alert is on the volume, and before it is full.
    """
    return {
        "directories": {"keys": f"{DATA_PATH}/keys", "values": f"{DATA_PATH}/values"},
        "ephemeral": False,
        "consistency": False,
        "ttl": {"spans": f"{args.retention_seconds}s"},
        "maintenance_interval": "5m",
        "metrics_update_interval": "10s",
    }


def _at(port: int) -> str:
    return f"{_EVERYWHERE}:{port}"
