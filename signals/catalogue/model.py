"""The shape of the signal catalogue: what each producer exposes, written down once.

Scrape jobs, rules, dashboards, simulators and smoke checks are derived from these records or checked against them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class MetricType(StrEnum):
    """Types as Prometheus reports them in its metadata API."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"
    SUMMARY = "summary"


class Presence(StrEnum):
    """`ALWAYS`: absence is a fault. `EVENT`: absent by design until the event named in the metric happens."""

    ALWAYS = "always"
    EVENT = "event"


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One metric family.

    name: as exposed. unit: UCUM-like word (`seconds`, `bytes`, `1` for a ratio or count).
    labels: the producer's own labels that rules may use; each has a value on at least one series, always. low/high:
    inclusive bounds of a sane value, None = unbounded.
    event: what makes the series appear, for `Presence.EVENT`. source: where the definition was read.
    """

    name: str
    type: MetricType
    unit: str
    meaning: str
    labels: tuple[str, ...] = ()
    presence: Presence = Presence.ALWAYS
    event: str = ""
    low: float | None = 0.0
    high: float | None = None
    source: str = ""


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
class Producer:
    """One scrape job and what it exposes.

    job: value of the label `job`. target_labels: labels that every target of this job carries besides job and instance.
    per_node: the job has one target on every node. versions: producer versions for which the record was checked.
    drops: what is not stored. own_timestamps: the producer stamps its samples itself, at its own rhythm.
    sample_delay_seconds: how much older than the scrape such a sample of a healthy producer may be.
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
