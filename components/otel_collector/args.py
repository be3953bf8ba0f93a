"""What the collector component must be told: plain, frozen, already validated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from components.images import ImagePin
    from components.prometheus.args import Resources


@dataclass(frozen=True, kw_only=True)
class Backend:
    """Where one signal goes, by OTLP over HTTP or gRPC.

    protocol: `http` or `grpc`. endpoint: `http` the whole address that takes the signal, `grpc` `host:port`. tls: false
    for plain text. headers: sent with every request, no secrets. headers_secret: existing Secret in the stack's
    namespace, each of whose keys is the name of a header and its value that header's; None for none.
    headers_keys: names of those keys.
    """

    protocol: str
    endpoint: str
    tls: bool = False
    headers: dict[str, str] = field(default_factory=dict)
    headers_secret: str | None = None
    headers_keys: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """Which traces are kept, as a whole: all with an error, all that took `slow_ms` or longer, and a share of the rest.

    keep_percent: share of the rest, 0 to 100. tenants: value of the resource attribute `team` → share of its traces.
    decision_wait_seconds: from the arrival of a trace's first span to the decision, unless its root arrives:
    decision_wait_after_root_seconds later it is decided. traces_in_memory: that wait for a decision at a time.
    """

    keep_percent: float
    slow_ms: int
    decision_wait_seconds: int
    decision_wait_after_root_seconds: int
    traces_in_memory: int
    tenants: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Redaction:
    """What is hidden beside what always is. keys: regular expressions over attribute names, unanchored, whose values
    are masked. values: regular expressions (RE2) whose matches are masked wherever text stands."""

    keys: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Agent:
    """One collector per node. directory: on the node, for offsets and the queue. queue_bytes: of what waits for the
    gateway, per signal. memory_bytes: limit of the container, from which the limiter's follows. disk_bytes: of the
    node's disk that the directory may take."""

    directory: str
    queue_bytes: int
    memory_bytes: int
    resources: Resources
    tolerations: tuple[dict[str, str], ...]
    max_unavailable: str = "10%"
    disk_bytes: int = 10 * 2**30


@dataclass(frozen=True, kw_only=True)
class Gateway:
    """Where everything comes together. volume: of one claim per replica, a Kubernetes quantity. queue_bytes: of what
    waits for a backend, per signal; together less than the volume. memory_bytes: limit of the container."""

    replicas: int
    volume: str
    volume_bytes: int
    queue_bytes: int
    memory_bytes: int
    resources: Resources


@dataclass(frozen=True, kw_only=True)
class OtelCollectorArgs:
    """Everything that decides what the two collectors run.

    namespace: the stack's, of the gateway. node_namespace: of the agents. image: of both. abilities: names out of
    abilities.py of what the image has beyond the common set. cluster, environment: put on everything as resource
    attributes `k8s.cluster.name` and `deployment.environment.name`. lowest_level: name of the lowest severity that is
    kept (`INFO`), of records that have one. identity: keys of identity (`team`, `job_id`, …) that log records may carry
    in their JSON. receive_from: further namespaces whose pods may send; empty: every pod of the cluster. logs, traces:
    None where the signal is not kept.
    scrape_interval_seconds: of the span metrics, whose exemplars live as long. storage_class: None for the default.
    """

    stack: str
    namespace: str
    node_namespace: str
    image: ImagePin
    abilities: frozenset[str]
    cluster: str
    environment: str
    lowest_level: str
    identity: tuple[str, ...]
    agent: Agent
    gateway: Gateway
    sampling: Sampling
    redaction: Redaction
    logs: Backend | None
    traces: Backend | None
    scrape_interval_seconds: int
    storage_class: str | None
    network_policies: bool
    receive_from: tuple[str, ...] = ()

    @property
    def backends(self) -> dict[str, Backend]:
        """Signal → where it goes, of those that are kept."""
        sides = {"logs": self.logs, "traces": self.traces}
        return {signal: backend for signal, backend in sides.items() if backend is not None}
