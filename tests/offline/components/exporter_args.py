"""Arguments of the exporters for tests: one plain set of each, and the variants that show every decision."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from components.dcgm_exporter.args import Counter, DcgmExporterArgs
from components.dcgm_exporter.manifests import manifests as dcgm_manifests
from components.images import ImagePin
from components.kube_state_metrics.args import KubeStateMetricsArgs
from components.kube_state_metrics.manifests import manifests as kube_state_metrics_manifests
from components.node_exporter.args import NodeExporterArgs
from components.node_exporter.manifests import manifests as node_manifests
from components.prometheus.args import Resources
from signals.catalogue.kube_state_metrics import RESOURCES as OBJECTS
from signals.catalogue.kube_state_metrics import allowlist, labels_allowlist
from signals.catalogue.node_exporter import FLAGS

if TYPE_CHECKING:
    from components.objects import Manifest

RESOURCES = Resources(cpu_request="50m", memory_request="64Mi", memory_limit="128Mi")

COUNTERS = (
    Counter(field="DCGM_FI_DEV_GPU_TEMP", type="gauge", help="GPU temperature (in C)."),
    Counter(field="DCGM_FI_PROF_GR_ENGINE_ACTIVE", type="gauge", help="Ratio of time the graphics engine is active."),
    Counter(field="DCGM_EXP_XID_ERRORS_COUNT", type="gauge", help="Count of XID errors within a time window."),
    Counter(field="DCGM_FI_DRIVER_VERSION", type="label", help="Driver version"),
)

DCGM = DcgmExporterArgs(
    namespace="plumbline-node",
    instance="plumbline",
    image=ImagePin(reference="registry.example.com/nvidia/dcgm-exporter:4.6.0-4.8.3-distroless"),
    simulated=False,
    counters=COUNTERS,
    resources=RESOURCES,
    network_policies=True,
)

NODE = NodeExporterArgs(
    namespace="plumbline-node",
    instance="plumbline",
    image=ImagePin(reference="registry.example.com/prometheus/node-exporter:v1.12.1"),
    flags=FLAGS,
    resources=RESOURCES,
)

KUBE_STATE_METRICS = KubeStateMetricsArgs(
    namespace="plumbline",
    image=ImagePin(reference="registry.example.com/kube-state-metrics/kube-state-metrics:v2.19.1"),
    objects=OBJECTS,
    metric_allowlist=allowlist(),
    labels_allowlist=labels_allowlist(("plumbline.dev/team", "plumbline.dev/job-id")),
    resources=RESOURCES,
    network_policies=True,
)


def every_variant() -> list[Manifest]:
    """Manifests of all exporters, once plainly and once with everything that settings can add."""
    dcgm = (
        DCGM,
        replace(DCGM, simulated=True),
        replace(DCGM, hostengine="nvidia-dcgm.gpu-operator.svc:5555"),
        replace(
            DCGM, dra=True, kubernetes_virtual_gpus=True, runtime_class="nvidia", resource_names=("nvidia.com/a100",)
        ),
    )
    nodes = (NODE, replace(NODE, textfile_directory="/var/lib/node-exporter", follow_mounts=False))
    return [
        *(found for args in dcgm for found in dcgm_manifests(args).values()),
        *(found for args in nodes for found in node_manifests(args).values()),
        *kube_state_metrics_manifests(KUBE_STATE_METRICS).values(),
    ]
