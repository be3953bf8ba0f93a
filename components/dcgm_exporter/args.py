"""What the dcgm-exporter component must be told: plain, frozen, already validated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from components.dcgm_exporter.names import POD_RESOURCES_PATH
from components.exporters import EVERY_TAINT

if TYPE_CHECKING:
    from components.images import ImagePin
    from components.prometheus.args import Resources


@dataclass(frozen=True, kw_only=True)
class Counter:
    """One line of the counters file.

    field: DCGM's or the exporter's own name (`DCGM_FI_…`, `DCGM_EXP_…`). type: as it is exposed; a `label` becomes a
    label of every other series. help: text without comma, quotation mark or line break.
    """

    field: str
    type: Literal["gauge", "counter", "label"]
    help: str


@dataclass(frozen=True, kw_only=True)
class DcgmExporterArgs:
    """Everything that decides what dcgm-exporter runs.

    namespace: of node agents. instance: the stack's namespace, whose pods may scrape. simulated: the image imitates
    GPUs, so the pod gets neither rights to a GPU nor a node selector for one. counters: all that is measured, not an
    addition to upstream's. interval_ms: milliseconds between two measurements. hostengine: `host:port` of a running
    nv-hostengine to attach to; `$(NODE_IP)` in it is the node's address; None embeds one. node_selector: labels of
    nodes with GPUs. runtime_class: where NVIDIA's is not the default. pod_resources: the kubelet's directory of that
    name on the node. resource_names: further extended resources that are GPUs. kubernetes_virtual_gpus: GPUs are
    shared by time-slicing or MPS; the exporter then sees processes of the node and reads pods. dra: GPUs are claimed
    through Dynamic Resource Allocation; it then reads pods and ResourceSlices. max_unavailable: nodes without a pod
    during a roll-out, a number or per cent.
    """

    namespace: str
    instance: str
    image: ImagePin
    simulated: bool
    counters: tuple[Counter, ...]
    resources: Resources
    network_policies: bool
    interval_ms: int = 30_000
    hostengine: str | None = None
    node_selector: dict[str, str] = field(default_factory=lambda: {"nvidia.com/gpu.present": "true"})
    tolerations: tuple[dict[str, str], ...] = EVERY_TAINT
    runtime_class: str | None = None
    pod_resources: str = POD_RESOURCES_PATH
    gpu_id_type: Literal["uid", "device-name"] = "uid"
    resource_names: tuple[str, ...] = ()
    kubernetes_virtual_gpus: bool = False
    dra: bool = False
    max_unavailable: str = "10%"
