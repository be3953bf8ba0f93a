"""How one field of the counters file becomes a metric: labels that all share, and where they were read."""

from __future__ import annotations

from dataclasses import dataclass

from signals.catalogue.model import Metric, MetricType

EXPORTER = "github.com/NVIDIA/dcgm-exporter v4.5.3-4.8.2 "
COUNTERS_FILE = EXPORTER + "etc/default-counters.csv"

LABELS = ("gpu", "UUID", "pci_bus_id", "device", "modelName")
"""On every series of a GPU; internal/pkg/rendermetrics/render_metrics.go."""

INSTANCE = ("GPU_I_PROFILE", "GPU_I_ID")
"""With MIG, on every series: the instance. Values of the board (power, energy, temperature) repeat on each."""

WORKLOAD = ("namespace", "pod", "container")
"""Of the pod that holds the device; missing on a device that nobody holds."""

SHARER = ("pod_uid", "vgpu")
"""Where GPUs are shared in time: the pod's UID, on use that is measured per process, and the replica that it holds."""

DRIVER_VERSION = "DCGM_FI_DRIVER_VERSION"
"""A field that is exposed as a label of all others."""

OPTIONAL = (
    *INSTANCE,
    *WORKLOAD,
    *SHARER,
    DRIVER_VERSION,
    "hpc_job",
    "dra_claim_name",
    "dra_claim_namespace",
    "dra_driver_name",
    "dra_pool_name",
    "dra_device_name",
    "dra_mig_profile",
    "dra_mig_device_uuid",
)
"""internal/pkg/transformation/const.go."""


@dataclass(frozen=True, kw_only=True)
class Field:
    """One row of the counters file, and what is true of its values.

    help: text behind `# HELP`, as the exporter's own file spells it. own_labels: labels that only this metric has.
    event: what makes the series appear; empty if every GPU has it. source: where the field was read.
    """

    name: str
    type: MetricType
    unit: str
    help: str
    meaning: str
    high: float | None = None
    low: float = 0.0
    own_labels: tuple[str, ...] = ()
    own_optional: tuple[str, ...] = ()
    event: str = ""
    moves: bool = False
    source: str = COUNTERS_FILE

    def metric(self) -> Metric:
        """The catalogue's record of it."""
        return Metric(
            name=self.name,
            type=self.type,
            unit=self.unit,
            meaning=self.meaning,
            labels=(*LABELS, *self.own_labels),
            optional=(*OPTIONAL, *self.own_optional),
            event=self.event,
            low=self.low,
            high=self.high,
            moves=self.moves,
            source=self.source,
        )
