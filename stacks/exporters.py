"""Sections of the settings: what exposes metrics about GPUs, nodes, Kubernetes objects and short jobs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stacks.fields import Bytes, DnsName, Duration, Text
from stacks.section import Section

ExporterMode = Literal["managed", "existing", "off"]


class PodSource(Section):
    """Pods of an exporter that somebody else deploys."""

    namespace: DnsName = Field(description="namespace of the pods")
    labels: dict[str, str] = Field(min_length=1, description="labels that all of them have")
    port: DnsName = Field(description="name of the container port that serves /metrics")


class NodeTarget(Section):
    """An exporter outside the cluster."""

    node: Text = Field(description="value of the label `node`")
    address: Text = Field(pattern=r"^[^\s/:]+:[0-9]{1,5}$", description="`host:port`")


class DcgmExporter(Section):
    """What measures the GPUs."""

    mode: Literal["managed", "existing", "simulated", "off"] = Field(
        default="managed",
        description="`managed`: deployed by this stack; `existing`: by the GPU Operator or somebody else; `simulated`: "
        "no GPU needed, for clusters to try things on; `off`: no GPUs",
    )
    interval: Duration = Field(default="30s", description="time between two measurements, 1s to 5m")
    node_selector: dict[str, str] = Field(
        default_factory=lambda: {"nvidia.com/gpu.present": "true"}, description="labels of nodes with GPUs"
    )
    runtime_class: DnsName | None = Field(default=None, description="RuntimeClass, where NVIDIA's is not the default")
    hostengine: Text | None = Field(
        default=None, description="`host:port` of a running nv-hostengine to attach to, instead of one of its own"
    )
    virtual_gpus: bool = Field(default=False, description="true where GPUs are shared by time-slicing or MPS")
    dra: bool = Field(default=False, description="true where GPUs are claimed through Dynamic Resource Allocation")
    existing: PodSource | None = Field(default=None, description="for mode `existing`: keys namespace, labels, port")
    may_be_empty: bool = Field(
        default=False, description="true where the pool of GPU nodes is scaled to none: then no target is no fault"
    )
    targets: tuple[NodeTarget, ...] = Field(
        default=(), description="exporters outside the cluster, as on Slurm nodes: list of node, address"
    )


class NodeExporter(Section):
    """What measures the nodes."""

    mode: ExporterMode = Field(default="managed", description="`managed`, `existing` or `off`")
    port: int = Field(default=9100, gt=0, lt=65536, description="port on every node's address")
    textfile_directory: Text | None = Field(
        default=None, description="directory on the nodes whose *.prom files are exposed as well"
    )
    follow_mounts: bool = Field(
        default=True,
        description="see file systems that are mounted later; false on nodes whose root is not a shared mount",
    )
    existing: PodSource | None = Field(default=None, description="for mode `existing`: keys namespace, labels, port")


class KubeStateMetrics(Section):
    """What tells of Kubernetes objects."""

    mode: ExporterMode = Field(default="managed", description="`managed`, `existing` or `off`")
    existing: PodSource | None = Field(default=None, description="for mode `existing`: keys namespace, labels, port")


class Pushgateway(Section):
    """Where jobs that are too short to be scraped leave their metrics."""

    mode: Literal["managed", "off"] = Field(default="managed", description="`managed` or `off`")
    volume: Bytes = Field(default="1Gi", description="size of the claim, a Kubernetes quantity")
    push_from: tuple[DnsName, ...] = Field(default=(), description="other namespaces whose pods may push")
