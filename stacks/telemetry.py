"""Sections of the settings: the collector of traces and logs, and the stores that it sends to."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from stacks.fields import Bytes, DnsName, DnsSubdomain, Duration, Quantity, Text
from stacks.section import Section

Percent = Annotated[float, Field(ge=0, le=100)]
_RETENTION = "after which it is gone, a Prometheus duration of at least one day"


class Toleration(Section):
    """A taint that agents tolerate, as Kubernetes spells it."""

    key: Text | None = Field(default=None, description="key of the taint; without it every one")
    operator: Literal["Exists", "Equal"] = Field(default="Exists", description="`Exists` or `Equal`")
    value: str | None = Field(default=None, description="for `Equal`: value of the taint")
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = Field(
        default=None, description="effect of the taint; without it every one"
    )


class Agent(Section):
    """The collector on every node."""

    directory: Text = Field(
        default="/var/lib/plumbline-otel", description="on the nodes: offsets of logs, and what waits for the gateway"
    )
    disk: Bytes = Field(default="10Gi", description="of the node's disk that the directory may take")
    queue: Bytes = Field(default="1Gi", description="what may wait for the gateway, per signal")
    cpu: Quantity = Field(default="50m", description="processor time that the scheduler sets aside")
    memory: Bytes = Field(default="256Mi", description="memory that it may not pass; half of it is set aside")
    tolerations: tuple[Toleration, ...] | None = Field(
        default=None, description="taints of nodes that have an agent; without it every one"
    )


class Gateway(Section):
    """The collector that everything goes through."""

    replicas: int = Field(default=1, ge=1, le=32, description="more than one needs routing by trace id")
    volume: Bytes = Field(default="5Gi", description="size of the claim of each replica's queues")
    queue: Bytes = Field(default="1Gi", description="what may wait for a backend, per signal; together 80 % of volume")
    cpu: Quantity = Field(default="200m", description="processor time that the scheduler sets aside")
    memory: Bytes = Field(default="1Gi", description="memory that it may not pass; half of it is set aside")


class Sampling(Section):
    """Which traces are kept, as a whole: with an error, slow, and a share of the rest."""

    keep_percent: Percent = Field(default=1.0, description="share of the rest, 0 to 100")
    slow: Duration = Field(default="5s", description="a trace that takes as long is kept")
    decision_wait: Duration = Field(
        default="60s",
        description="from a trace's first span to the decision, if its root does not come before; in whole seconds, "
        "longer than `slow` and than the longest request of which you want to know",
    )
    decision_wait_after_root: Duration = Field(
        default="10s",
        description="from a trace's root to the decision, for spans that other senders still hold back; in whole "
        "seconds, at most `decision_wait`",
    )
    traces_in_memory: int = Field(default=50_000, ge=1, description="how many may wait for their decision at a time")
    tenants: dict[str, Percent] = Field(
        default_factory=dict, description="value of resource attribute `team` → share of its traces"
    )


class Redaction(Section):
    """What is hidden beside what always is."""

    keys: tuple[Text, ...] = Field(
        default=(), description="regular expressions (RE2) over names of attributes whose values are hidden"
    )
    values: tuple[Text, ...] = Field(default=(), description="regular expressions (RE2) over text that is hidden")


class OtelCollector(Section):
    """Takes traces, logs and metrics of workloads, hides what must be hidden, and sends them on."""

    mode: Literal["managed", "off"] = Field(default="off", description="`managed`: deployed by this stack; or `off`")
    agent: Agent = Field(
        default_factory=Agent, description="on every node: keys directory, disk, queue, cpu, memory, …"
    )
    gateway: Gateway = Field(default_factory=Gateway, description="keys replicas, volume, queue, cpu, memory")
    sampling: Sampling = Field(
        default_factory=Sampling, description="keys keep_percent, slow, decision_wait, decision_wait_after_root, …"
    )
    redaction: Redaction = Field(default_factory=Redaction, description="keys keys, values")
    lowest_level: Literal["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"] = Field(
        default="INFO", description="log records below it are dropped; `make debug-logs` lets them through for a while"
    )
    receive_from: tuple[DnsName, ...] = Field(
        default=(), description="namespaces whose pods may send; without one every pod of the cluster"
    )
    abilities: tuple[Literal["load_balancing", "k8sattributes"], ...] | None = Field(
        default=None, description="what the image has beyond the common set; without it by its name"
    )


class Elsewhere(Section):
    """A store that somebody else runs and that takes OTLP."""

    endpoint: Text = Field(description="`http`: whole address that takes the signal, with scheme; `grpc`: host:port")
    protocol: Literal["http", "grpc"] = Field(default="http", description="`http` or `grpc`")
    tls: bool = Field(default=True, description="false for plain text")
    headers_secret: DnsSubdomain | None = Field(
        default=None, description="existing Secret in the stack's namespace: key = name of a header, value = its value"
    )
    headers: tuple[Text, ...] = Field(default=(), description="keys of that Secret that are sent")


class Logs(Section):
    """Where log records are kept."""

    mode: Literal["managed", "external", "off"] = Field(
        default="off",
        description="`managed`: VictoriaLogs by this stack; `external`: any OTLP endpoint; `off`: nowhere",
    )
    retention: Duration = Field(default="14d", description=f"{_RETENTION}; whole days")
    retention_size: Bytes = Field(
        default="40Gi", description="older days go when there is more; at most 80 % of the volume"
    )
    volume: Bytes = Field(default="50Gi", description="size of the claim")
    memory: Bytes = Field(default="1Gi", description="memory that it may not pass; half of it is set aside")
    external: Elsewhere | None = Field(default=None, description="for mode `external`: keys endpoint, protocol, tls, …")


class Traces(Section):
    """Where traces are kept."""

    mode: Literal["managed", "external", "off"] = Field(
        default="off", description="`managed`: Jaeger by this stack; `external`: any OTLP endpoint; `off`: nowhere"
    )
    retention: Duration = Field(default="7d", description=_RETENTION)
    volume: Bytes = Field(default="50Gi", description="size of the claim, at least 2Gi")
    memory: Bytes = Field(default="1Gi", description="memory that it may not pass, at least 512Mi")
    external: Elsewhere | None = Field(default=None, description="for mode `external`: keys endpoint, protocol, tls, …")
