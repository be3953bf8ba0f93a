"""Pieces of configuration that agent and gateway have in common, and how text gets into them unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from components.otel_collector.names import GRPC_PORT, HEALTH_PORT, HTTP_PORT, METRICS_PORT, QUEUE_PATH, REVISION
from signals.yamltext import dump

if TYPE_CHECKING:
    from components.objects import Manifest
    from components.otel_collector.args import OtelCollectorArgs

ANY: Final = "0.0.0.0"  # noqa: S104  # in a pod's own network; what may reach it is the network policy's business
LIMITER: Final = "memory_limiter"
IDENTITY: Final = "resource/identity"
HEALTH: Final = "health_check"
QUEUE: Final = "file_storage/queue"
MIB: Final = 2**20
LARGEST_MESSAGE_MIB: Final = 16
"""What a collector takes in one request: more than SDKs and agents send, so that no batch is refused for its size."""
LARGEST_BATCH_MIB: Final = LARGEST_MESSAGE_MIB + 1
"""Of one request of an agent to the gateway: one item may be all that was sent, and the agent adds who sent it."""
_BATCH_MIB: Final = 2
"""Of one request to a backend. Receivers of gRPC refuse more than 4 MiB unless told otherwise, and that for good."""
_LIMIT_PERCENT: Final = 75
_SPIKE_PERCENT: Final = 15


class Env(str):
    """The name of an environment variable whose value the collector puts here when it starts."""

    __slots__ = ()


def text_of(document: Manifest) -> str:
    """YAML that the collector reads as `document`: a dollar sign begins nothing, but for Env."""
    return dump(_escaped(document))


def _escaped(value: Any) -> Any:  # noqa: ANN401  # any YAML
    if isinstance(value, Env):
        return f"${{env:{value!s}}}"
    if isinstance(value, str):
        return value.replace("$", "$$")
    if isinstance(value, dict):
        return {_escaped(key): _escaped(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_escaped(member) for member in value]
    return value


def literal(text: str) -> str:
    """A string of OTTL, quoted."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def limits(memory_bytes: int) -> dict[str, int]:
    """The limiter's numbers for a container of so many bytes, in MiB.

    From limit minus spike on it refuses what comes in; both are of the heap, and lie below what Go's runtime is told,
    which lies below the container's limit: what comes in is refused before the kernel kills.
    """
    mib = memory_bytes // MIB
    return {
        "limit_mib": max(2, mib * _LIMIT_PERCENT // 100),
        "spike_limit_mib": max(1, mib * _SPIKE_PERCENT // 100),
    }


def limiter(memory_bytes: int) -> Manifest:
    """Refuses, with an error that senders retry on, what would not fit into memory."""
    return {"check_interval": "250ms", **limits(memory_bytes)}


def receiver(largest_mib: int = LARGEST_MESSAGE_MIB) -> Manifest:
    """OTLP over gRPC and HTTP. largest_mib: of a request."""
    return {
        "protocols": {
            "grpc": {"endpoint": f"{ANY}:{GRPC_PORT}", "max_recv_msg_size_mib": largest_mib},
            "http": {"endpoint": f"{ANY}:{HTTP_PORT}", "max_request_body_size": largest_mib * MIB},
        }
    }


def attributes(args: OtelCollectorArgs) -> dict[str, str]:
    """What is said of everything that leaves a collector: resource attribute → value."""
    return {"k8s.cluster.name": args.cluster, "deployment.environment.name": args.environment}


def identity(values: dict[str, str]) -> Manifest:
    """Puts resource attributes on everything, whatever a sender said."""
    return {"attributes": [{"key": key, "value": value, "action": "upsert"} for key, value in values.items()]}


def storage(directory: str) -> Manifest:
    """A place under the collector's directory for a queue or offsets.

    What was written is on the disk before it counts as taken. A file that a lost node left broken is put aside, and
    the collector starts with an empty one: it would not start at all otherwise.
    """
    path = f"{QUEUE_PATH}/{directory}"
    return {
        "directory": path,
        "create_directory": True,
        "fsync": True,
        "recreate": True,
        "compaction": {
            "on_start": True,
            "on_rebound": True,
            "directory": path,
            "cleanup_on_start": True,
            "rebound_needed_threshold_mib": 64,
            "rebound_trigger_threshold_mib": 16,
        },
    }


def queue(queue_bytes: int, *, blocks: bool = False, largest_mib: int = _BATCH_MIB) -> Manifest:
    """The queue on disk before an exporter, its batches, and its retries, which never end.

    blocks: whoever brings more than fits waits, instead of being told that it is full. largest_mib: of a batch; a
    single item that is larger is dropped, and no counter says so.
    """
    return {
        "timeout": "30s",
        "sending_queue": {
            "enabled": True,
            "storage": QUEUE,
            "sizer": "bytes",
            "queue_size": queue_bytes,
            "block_on_overflow": blocks,
            "num_consumers": 4,
            "batch": {
                "flush_timeout": "1s",
                "sizer": "bytes",
                "min_size": min(_BATCH_MIB * MIB // 4, queue_bytes),
                "max_size": largest_mib * MIB,
            },
        },
        "retry_on_failure": {
            "enabled": True,
            "initial_interval": "1s",
            "max_interval": "15s",
            "max_elapsed_time": "0s",
        },
    }


def health() -> Manifest:
    """Answers while the process lives; it says nothing of delivery."""
    return {"endpoint": f"{ANY}:{HEALTH_PORT}"}


def telemetry(name: str, revision: str) -> Manifest:
    """The collector's own metrics and logs. revision: of the configuration, in `target_info`."""
    return {
        "resource": {"attributes": [{"name": "service.name", "value": name}, {"name": REVISION, "value": revision}]},
        "logs": {"level": "info", "encoding": "json"},
        "metrics": {
            "level": "normal",
            "readers": [{"pull": {"exporter": {"prometheus": {"host": ANY, "port": METRICS_PORT}}}}],
        },
    }
