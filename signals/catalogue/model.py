"""The shape of the signal catalogue: what each producer exposes, written down once.

Scrape jobs, rules, dashboards, simulators and smoke checks are derived from these records or checked against them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class MetricType(StrEnum):
    """Types as Prometheus reports them in its metadata API. `UNKNOWN`: the producer declares none, or `untyped`."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"
    SUMMARY = "summary"
    UNKNOWN = "unknown"


class Presence(StrEnum):
    """`ALWAYS`: absence is a fault. `EVENT`: absent by design until the event named in the metric happens."""

    ALWAYS = "always"
    EVENT = "event"


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One metric family.

    name: as exposed. unit: UCUM-like word (`seconds`, `bytes`, `1` for a ratio or count).
    labels: the producer's own labels that rules may use; each has a value on at least one series, always. optional:
    labels that rules may use and that no series need carry (a GPU without a pod has no `pod`). low/high: inclusive
    bounds of a sane value, None = unbounded. moves: every series of it must have changed within two minutes on a
    producer that measures; one that stands still is a producer that repeats itself.
    event: what makes the series appear, empty if it is always there. source: where the definition was read.
    """

    name: str
    type: MetricType
    unit: str
    meaning: str
    labels: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    event: str = ""
    low: float | None = 0.0
    high: float | None = None
    moves: bool = False
    source: str = ""

    @property
    def presence(self) -> Presence:
        """`EVENT` for a metric that names one."""
        return Presence.EVENT if self.event else Presence.ALWAYS


@dataclass(frozen=True)
class Described:
    """Makes the metrics of a page that were read in one place. prefix: of all names. source: of all metrics."""

    prefix: str
    source: str

    def counter(  # one parameter per field of the record that varies
        self,
        name: str,
        meaning: str,
        labels: tuple[str, ...] = (),
        *,
        optional: tuple[str, ...] = (),
        unit: str = "1",
        event: str = "",
    ) -> Metric:
        """A counter; `name` without the prefix."""
        return Metric(
            name=f"{self.prefix}{name}",
            type=MetricType.COUNTER,
            unit=unit,
            meaning=meaning,
            labels=labels,
            optional=optional,
            event=event,
            source=self.source,
        )

    def gauge(  # as above
        self,
        name: str,
        meaning: str,
        labels: tuple[str, ...] = (),
        *,
        unit: str = "1",
        event: str = "",
        low: float | None = 0.0,
        high: float | None = None,
    ) -> Metric:
        """A gauge; `name` without the prefix."""
        return Metric(
            name=f"{self.prefix}{name}",
            type=MetricType.GAUGE,
            unit=unit,
            meaning=meaning,
            labels=labels,
            event=event,
            low=low,
            high=high,
            source=self.source,
        )


@dataclass(frozen=True, kw_only=True)
class Drop:
    """Series that are deliberately not stored, because they cost more than anybody asks of them.

    metric: regular expression over the whole exposed name, suffix included. buckets: if set, only series whose `le`
    is one of these are dropped, so that the histogram stays usable with coarser steps. labels: if set, only series
    that match every (name, regular expression) are dropped. why: what is lost, and what to use instead.
    """

    metric: str
    why: str
    buckets: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class LabelChange:
    """A label of the producer that is stored under another name, or not at all.

    source: regular expression over the name as exposed, all spellings that versions have used. target: name as
    stored, empty = not stored. why: what varies, or what to use instead.
    """

    source: str
    target: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Series that a healthy producer may store, as a sum over the objects that a cluster holds.

    fixed: whatever the cluster holds. per_target: for each target of the job. per_gpu, per_pod, per_node: for each
    of them, whichever target tells of it. per_api_server: for each API server, which is a target of its own.
    """

    fixed: int = 0
    per_target: int = 0
    per_gpu: int = 0
    per_pod: int = 0
    per_node: int = 0
    per_api_server: int = 0


@dataclass(frozen=True, kw_only=True)
class Producer:
    """One scrape job and what it exposes.

    job: value of the label `job`. target_labels: labels that every target of this job carries besides job and instance.
    per_node: the job has one target on every node. versions: producer versions for which the record was checked.
    drops: what is not stored. own_timestamps: the producer stamps its samples itself, at its own rhythm.
    sample_delay_seconds: how much older than the scrape such a sample of a healthy producer may be.
    honor_labels: the producer speaks of other objects (pods, pushed jobs), and its labels win over the target's.
    passes_on: the producer has metrics of others beside its own, whose labels nobody planned.
    instance_is_node: `instance` is the node's name, so that the series outlive the exporter's pod.
    label_changes: spellings that are made one. identity: labels that say what a series is about; no relabelling may
    ever drop one. budget: series that are planned for.
    complete: deployed by this stack, the producer exposes what is on its page and nothing else, so that a name which
    is not there is one that was renamed.
    """

    job: str
    title: str
    versions: str
    target_labels: tuple[str, ...]
    per_node: bool
    metrics: tuple[Metric, ...]
    drops: tuple[Drop, ...] = ()
    own_timestamps: bool = False
    sample_delay_seconds: float = 0.0
    honor_labels: bool = False
    passes_on: bool = False
    instance_is_node: bool = False
    label_changes: tuple[LabelChange, ...] = ()
    identity: tuple[str, ...] = ()
    budget: Budget = field(default_factory=Budget)
    complete: bool = False

    @property
    def of_others(self) -> bool:
        """Whether its labels may be anything, so that banned ones are taken off."""
        return self.honor_labels or self.passes_on
