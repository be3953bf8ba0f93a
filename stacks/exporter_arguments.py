"""From settings to the arguments of exporters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from components.dcgm_exporter.args import Counter, DcgmExporterArgs
from components.kube_state_metrics.args import KubeStateMetricsArgs
from components.naming import node_namespace_name
from components.node_exporter.args import NodeExporterArgs
from components.prometheus.args import Resources
from signals.catalogue.dcgm import COUNTERS
from signals.catalogue.kube_state_metrics import RESOURCES, allowlist, labels_allowlist
from signals.catalogue.node_exporter import FLAGS
from stacks.fields import duration_seconds

if TYPE_CHECKING:
    from components.images import ImagePin
    from stacks.settings import Settings

# Native allocations of DCGM grow with fields and GPUs; upstream's own limit is the origin of many restarts in cycles.
_DCGM_RESOURCES = Resources(cpu_request="100m", memory_request="128Mi", memory_limit="1Gi")
_NODE_RESOURCES = Resources(cpu_request="20m", memory_request="32Mi", memory_limit="256Mi")
_KUBE_STATE_FIXED_MIB, _KUBE_STATE_MIB_PER_1000_PODS = 64, 128


def dcgm_exporter_args(settings: Settings, images: dict[str, ImagePin]) -> DcgmExporterArgs:
    """Arguments of the dcgm-exporter component. images: role → image."""
    wanted = settings.dcgm_exporter
    simulated = wanted.mode == "simulated"
    return DcgmExporterArgs(
        namespace=node_namespace_name(settings.namespace),
        instance=settings.namespace,
        image=images["dcgm-exporter"],
        simulated=simulated,
        counters=tuple(_counter(*row) for row in COUNTERS),
        resources=_DCGM_RESOURCES,
        network_policies=settings.network.policies,
        interval_ms=int(duration_seconds(wanted.interval) * 1000),
        hostengine=wanted.hostengine,
        node_selector={} if simulated else dict(wanted.node_selector),
        runtime_class=wanted.runtime_class,
        kubernetes_virtual_gpus=wanted.virtual_gpus,
        dra=wanted.dra,
    )


def _counter(field: str, kind: str, text: str) -> Counter:
    """One row of the catalogue. The component refuses a kind that there is not, with every other fault of the file."""
    return Counter(field=field, type=cast("Literal['gauge', 'counter', 'label']", kind), help=text)


def node_exporter_args(settings: Settings, images: dict[str, ImagePin]) -> NodeExporterArgs:
    """Arguments of the node-exporter component. images: role → image."""
    wanted = settings.node_exporter
    return NodeExporterArgs(
        namespace=node_namespace_name(settings.namespace),
        instance=settings.namespace,
        image=images["node-exporter"],
        flags=FLAGS,
        resources=_NODE_RESOURCES,
        port=wanted.port,
        textfile_directory=wanted.textfile_directory,
        follow_mounts=wanted.follow_mounts,
    )


def kube_state_metrics_args(settings: Settings, images: dict[str, ImagePin]) -> KubeStateMetricsArgs:
    """Arguments of the kube-state-metrics component. images: role → image. Its memory follows the number of pods."""
    limit = _KUBE_STATE_FIXED_MIB + _KUBE_STATE_MIB_PER_1000_PODS * (1 + settings.sizing.pods // 1000)
    return KubeStateMetricsArgs(
        namespace=settings.namespace,
        image=images["kube-state-metrics"],
        objects=RESOURCES,
        metric_allowlist=allowlist(),
        labels_allowlist=labels_allowlist(tuple(sorted(settings.workload_labels.values()))),
        resources=Resources(cpu_request="20m", memory_request="64Mi", memory_limit=f"{limit}Mi"),
        network_policies=settings.network.policies,
    )
