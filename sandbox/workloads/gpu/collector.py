"""From GPUs to metric families: labels and series as the collectors of dcgm-exporter 4.6.0-4.8.3 make them.

Sources: internal/pkg/collector (gpu, exp, xid_total, clock_events_total, gpu_health and p2p_status collectors) and
internal/pkg/transformation/kubernetes.go of that tag.
"""

from __future__ import annotations

from collections import Counter as Tally
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sandbox.workloads.gpu import counters
from sandbox.workloads.gpu.exposition import Family, Labels, labels
from sandbox.workloads.gpu.fields import FIELDS, LABELS, NOT_SUPPORTED
from sandbox.workloads.gpu.gpu import CLOCK_EVENTS, POWER, THERMAL
from sandbox.workloads.gpu.identity import MODEL, pci_bus_id
from sandbox.workloads.gpu.xids import XIDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sandbox.workloads.gpu.board import Incident
    from sandbox.workloads.gpu.fields import Instance
    from sandbox.workloads.gpu.gpu import Gpu
    from sandbox.workloads.gpu.kubelet import Pod

Pairs = tuple[tuple[str, str], ...]

XID_FIELD: Final = "DCGM_FI_DEV_XID_ERRORS"
PASS, WARN, FAIL = 0, 10, 20  # DCGM_HEALTH_RESULT_*
WATCHES: Final = ("PCIE", "NVLINK", "PMU", "MCU", "MEM", "SM", "INFOROM", "THERMAL", "POWER", "DRIVER", "ALL")
UNCONTAINED_XID: Final = 95


@dataclass(frozen=True)
class Shape:
    """What is exported. hostname: None leaves it out. Windows in milliseconds, as the exporter's flags."""

    node: str
    hostname: str | None
    counters: counters.Counters
    hostname_label: str = "hostname"
    xid_window: int = 300_000
    clock_window: int = 300_000
    model: str = MODEL

    @property
    def longest_window(self) -> float:
        """In seconds: as long as samples must be kept."""
        return max(self.xid_window, self.clock_window) / 1000


@dataclass(frozen=True)
class Entity:
    """What has series: a GPU, or an instance of a sliced one."""

    gpu: Gpu
    instance: Instance | None

    @property
    def device(self) -> str:
        """The id under which a container holds it: the exporter looks instances up by GPU and number."""
        return self.gpu.uuid if self.instance is None else f"{self.gpu.index}-{self.instance.number}"


@dataclass(frozen=True)
class Verdict:
    """One of DCGM's health watches."""

    result: int = PASS
    code: str = "DCGM_FR_OK"
    severity: str = "NONE"
    category: str = "NONE"


class Collector:
    """Makes the families of one node."""

    def __init__(self, shape: Shape) -> None:
        """shape: what is exported."""
        self._shape = shape
        self._common: Pairs = tuple((name, LABELS[name]) for name in shape.counters.labels)
        self._cache: dict[tuple[object, ...], Labels] = {}

    def families(
        self, entities: Sequence[Entity], pods: Mapping[str, Pod], active: Sequence[Incident], now: float
    ) -> list[Family]:
        """Families at `now`. Raises RenderError for labels that do not go together."""
        renamed = {i.options["label"]: i.options["name"] for i in active if i.kind == "renamed_label"}
        found = []
        for counter in self._shape.counters.families:
            family = Family(counter.name, counter.kind, counter.help, [])
            for entity in entities:
                for extra, attributes, value in self._series(counter.name, entity, entities, now):
                    own = self._labels(entity, pods.get(entity.device), (extra, attributes), renamed)
                    family.samples.append((own, value))
            _spoil(family, active)
            found.append(family)
        return found

    def _series(
        self, name: str, entity: Entity, entities: Sequence[Entity], now: float
    ) -> list[tuple[Pairs, Pairs, float]]:
        """Own labels, own attributes and value of each series that a family has for an entity."""
        if name in FIELDS:
            return _field(name, entity)
        if entity.instance is not None:
            return self._of_instance(name)
        if name == counters.HEALTH:
            return _health(entity.gpu)
        if name == counters.P2P:
            peers = sorted({e.gpu.index for e in entities} - {entity.gpu.index})
            return [((("peer_gpu", str(peer)), ("link_status", "OK")), (), 0) for peer in peers]
        return self._counted(name, entity.gpu, now)

    def _of_instance(self, name: str) -> list[tuple[Pairs, Pairs, float]]:
        """DCGM reports events, health and links of whole GPUs alone: windows of an instance are empty."""
        window = {counters.XID_COUNT: self._shape.xid_window, counters.CLOCK_COUNT: self._shape.clock_window}.get(name)
        return [] if window is None else _windowed(Tally(), "", window, sampled=False)

    def _counted(self, name: str, item: Gpu, now: float) -> list[tuple[Pairs, Pairs, float]]:
        """What the exporter counts by itself."""
        events = item.events
        if name == counters.XID_COUNT:
            recent = [code for at, code in events.xids if at >= now - self._shape.xid_window / 1000]
            return _windowed(Tally(map(str, recent)), "xid", self._shape.xid_window, sampled=bool(recent))
        if name == counters.CLOCK_COUNT:
            samples = [bits for at, bits in events.reasons if at >= now - self._shape.clock_window / 1000]
            tally = Tally(event for bits in samples for bit, event in CLOCK_EVENTS.items() if bits & bit)
            return _windowed(tally, "clock_event", self._shape.clock_window, sampled=bool(samples))
        if name == counters.XID_TOTAL:
            return [((("xid", str(code)),), (), count) for code, count in events.xid_totals.items()]
        return [((("clock_event", CLOCK_EVENTS[bit]),), (), count) for bit, count in events.reason_totals.items()]

    def _labels(self, entity: Entity, pod: Pod | None, own: tuple[Pairs, Pairs], renamed: Mapping[str, str]) -> Labels:
        key = (entity.gpu.uuid, entity.instance, pod, own, tuple(renamed.items()))
        if key not in self._cache:
            if len(self._cache) > 20_000:  # noqa: PLR2004  pods come and go; a page has a few hundred
                self._cache.clear()
            pairs = self._pairs(entity, pod, own)
            self._cache[key] = labels([(renamed.get(name, name), value) for name, value in pairs])
        return self._cache[key]

    def _pairs(self, entity: Entity, pod: Pod | None, own: tuple[Pairs, Pairs]) -> list[tuple[str, str]]:
        item = entity.gpu
        pairs = [
            ("gpu", str(item.index)),
            ("UUID", item.uuid),
            ("pci_bus_id", pci_bus_id(item.index)),
            ("device", f"nvidia{item.index}"),
            ("modelName", self._shape.model),
        ]
        if entity.instance is not None:
            pairs += [("GPU_I_PROFILE", entity.instance.profile), ("GPU_I_ID", str(entity.instance.number))]
        if self._shape.hostname is not None:
            pairs.append((self._shape.hostname_label, self._shape.hostname))
        extra, attributes = own
        if pod is not None:
            holder = (("pod", pod.name), ("namespace", pod.namespace), ("container", pod.container))
            attributes = (*attributes, *holder)
        return [*pairs, *sorted((*self._common, *extra)), *sorted(attributes)]


def _field(name: str, entity: Entity) -> list[tuple[Pairs, Pairs, float]]:
    """Series of a DCGM field: none while its value is blank."""
    field = FIELDS[name]
    if entity.instance is None:
        value = field.of_gpu(entity.gpu)
    else:
        value = field.of_instance(entity.gpu, entity.instance) if field.of_instance else None
    if value is None:
        return []
    attributes: Pairs = ()
    if name == XID_FIELD:
        attributes = (("err_code", str(int(value))), ("err_msg", XIDS[int(value)]))
    return [((), attributes, round(value, 6) if field.kind == "float" else value)]


def _windowed(tally: Tally[str], label: str, window: int, *, sampled: bool) -> list[tuple[Pairs, Pairs, float]]:
    """One series per value seen in the window; zero without that label when DCGM has no sample in it.

    Samples that hold no value (a busy GPU whose clocks nothing limits) leave no series at all.
    """
    size = (("window_size_in_ms", str(window)),)
    if not sampled:
        return [(size, (), 0)]
    return [((*size, (label, value)), (), count) for value, count in tally.items()]


def _health(item: Gpu) -> list[tuple[Pairs, Pairs, float]]:
    """One series per health watch. Severities and categories as in DCGM's dcgm_errors.c."""
    found: dict[str, Verdict] = {}
    if item.reasons & THERMAL:
        found["THERMAL"] = Verdict(WARN, "DCGM_FR_CLOCK_THROTTLE_THERMAL", "MONITOR", "HARDWARE_THERMAL")
    if item.reasons & POWER:
        found["POWER"] = Verdict(WARN, "DCGM_FR_CLOCK_THROTTLE_POWER", "MONITOR", "HARDWARE_POWER")
    if item.memory.dbe_volatile:
        found["MEM"] = Verdict(FAIL, "DCGM_FR_VOLATILE_DBE_DETECTED", "ISOLATE", "HARDWARE_MEMORY")
    if item.memory.remap_failed:
        found["MEM"] = Verdict(FAIL, "DCGM_FR_ROW_REMAP_FAILURE", "ISOLATE", "HARDWARE_MEMORY")
    if item.events.last_xid == UNCONTAINED_XID:
        found["ALL"] = Verdict(FAIL, "DCGM_FR_UNCONTAINED_ERROR", "ISOLATE", "SOFTWARE_XID")
    series: list[tuple[Pairs, Pairs, float]] = []
    for watch in WATCHES:
        verdict = found.get(watch, Verdict())
        own = (
            ("health_watch", watch),
            ("health_error_code", verdict.code),
            ("health_error_severity", verdict.severity),
            ("health_error_category", verdict.category),
        )
        series.append((own, (), verdict.result))
    return series


def _spoil(family: Family, active: Sequence[Incident]) -> None:
    """What incidents do to a whole family."""
    for incident in active:
        if incident.options.get("metric") != family.name:
            continue
        if incident.kind == "out_of_range":
            family.samples = [(own, NOT_SUPPORTED) for own, _ in family.samples]
        elif incident.kind == "wrong_type":
            family.kind = incident.options["type"]
    for incident in active:
        if incident.kind == "renamed_metric" and incident.options["metric"] == family.name:
            family.name = incident.options["name"]
