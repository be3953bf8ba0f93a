"""Signals: each metric of the catalogue is there, has its type and labels, and a sane value."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from signals.catalogue.labels import DROPPED_LABEL
from signals.catalogue.model import MetricType, Presence
from smoke import limits
from smoke.model import Problem

if TYPE_CHECKING:
    from signals.catalogue.model import Metric, Producer

Json = dict[str, Any]

# These types are exposed as several series; the count is always among them.
COUNTED = (MetricType.HISTOGRAM, MetricType.SUMMARY)
SUFFIXES = ("_bucket", "_count", "_sum")
# What no target exposes: alerts, what rules record (a colon in its name), and what Prometheus adds to every scrape
# ("Automatically generated labels and time series" in its documentation).
SYNTHETIC = re.compile(
    r"ALERTS(_FOR_STATE)?|up|.*:.*"
    r"|scrape_(duration_seconds|samples_.*|series_added|timeout_seconds|sample_limit|body_size.*)"
)
COLLISION = "exported_"
TARGET = frozenset({"__name__", "job", "instance"})


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What one job has stored at one moment.

    series: name → instance → live series. low/high: name → extreme value. labelled: label → name → series that carry
    it. kept: instance → samples that its last scrape kept. up: instances that answer. metadata: family → what targets
    say of it.
    """

    series: dict[str, dict[str, int]]
    low: dict[str, float]
    high: dict[str, float]
    labelled: dict[str, dict[str, int]]
    kept: dict[str, int]
    up: frozenset[str]
    metadata: dict[str, list[Json]]


@dataclass(frozen=True)
class Observation:
    """What was seen of one metric in one job.

    count: live series. low/high: extreme values, None without series and for types that store counts. labelled:
    label → series that carry it. types: what the targets declare, empty if they declare nothing. unexpected: label
    that nobody described → series that carry it. alike: series name without a page that this metric may have become.
    """

    count: int
    low: float | None
    high: float | None
    labelled: dict[str, int]
    types: frozenset[str]
    unexpected: dict[str, int] = field(default_factory=dict)
    alike: str = ""


def series_name(metric: Metric, label: str = "") -> str:
    """The name of a series by which presence and age of the metric, or the presence of its label, can be judged."""
    if metric.type not in COUNTED or label == "quantile":
        return metric.name
    return f"{metric.name}_bucket" if label == "le" else f"{metric.name}_count"


def families(metric: str) -> tuple[str, ...]:
    """Names by which a metric may be declared: in OpenMetrics a counter is without its suffix `_total`."""
    return tuple(dict.fromkeys((metric, metric.removesuffix("_total"))))


def declared_types(metadata: dict[str, list[Json]], metric: Metric) -> frozenset[str]:
    """Types that targets declare."""
    found = (metadata.get(family) for family in families(metric.name))
    return frozenset(entry["type"] for entry in next(filter(None, found), []))


def page(producer: Producer, seen: Seen, *, complete: bool = False) -> list[Problem]:
    """The job keeps the contract of its page: no empty target, every metric as described, no series lost.

    complete: nothing but its page is exposed. What is absent until an event can be renamed without being missed; its
    new name cannot.
    """
    empty = {instance for instance in seen.up if not _speaks(producer, seen, instance)}
    problems = [
        Problem(
            f"target {instance} of job {producer.job}",
            "up, and no series of the catalogue on its page",
            f"the {len(producer.metrics)} metrics of the catalogue",
        )
        for instance in sorted(empty)
    ]
    for metric in producer.metrics:
        found = contracted(metric, producer.job, observe(metric, producer, seen))
        problems += found if found or not producer.per_node else _missing(metric, producer.job, seen, empty)
    return [*problems, *(_strangers(producer, seen) if complete else ()), *merged(producer, seen)]


def observe(metric: Metric, producer: Producer, seen: Seen) -> Observation:
    """What of the job's series concerns one metric."""
    count = sum(seen.series.get(series_name(metric), {}).values())
    # Where the producer's labels win over the target's, any label that nobody described may displace one.
    strict = producer.honor_labels and producer.identity
    strange = set(seen.labelled) - _allowed(metric, producer) if strict else _drifted(producer, seen)
    return Observation(
        count=count,
        low=seen.low.get(metric.name),
        high=seen.high.get(metric.name),
        labelled={label: seen.labelled.get(label, {}).get(series_name(metric, label), 0) for label in metric.labels},
        types=declared_types(seen.metadata, metric),
        unexpected={
            label: found
            for label in sorted(strange)
            if not label.startswith(COLLISION) and (found := seen.labelled[label].get(series_name(metric), 0))
        },
        alike="" if count else _alike(metric.name, _unknown(producer, seen)),
    )


def contracted(metric: Metric, job: str, seen: Observation) -> list[Problem]:
    """The metric keeps its contract. One that is absent by design until an event is judged only once it is there."""
    subject = f"{metric.name} of job {job}"
    if not seen.count:
        if metric.presence is Presence.EVENT:
            return []
        renamed = f"; {seen.alike} is there and in no page: renamed?" if seen.alike else ""
        return [Problem(subject, f"no series{renamed}", "present at all times")]
    problems = _labels(subject, metric, seen)
    # A metric without a declaration has no entry, or is told as `unknown`; some are declared to be just that.
    known = seen.types - {MetricType.UNKNOWN.value}
    if known != {metric.type.value} - {MetricType.UNKNOWN.value}:
        declared = ", ".join(sorted(known)) or "undeclared"
        problems.append(Problem(subject, f"type {declared}", f"type {metric.type.value}"))
    return problems + _range(subject, metric, seen)


def merged(producer: Producer, seen: Seen) -> list[Problem]:
    """No two series of a scrape were made one by relabelling: as many are stored as the scrape has kept.

    Not known where the producer stamps its samples itself, because those are not of the last scrape, nor where others
    push series with a job and an instance of their own.
    """
    if producer.own_timestamps or (producer.honor_labels and not producer.identity):
        return []
    stored: dict[str, int] = dict.fromkeys(seen.kept, 0)
    for name, instances in seen.series.items():
        for instance, count in instances.items():
            if instance in stored and not SYNTHETIC.fullmatch(name):
                stored[instance] += count
    return [
        Problem(
            f"target {instance} of job {producer.job}",
            f"{stored[instance]} series stored of {kept} samples kept: {kept - stored[instance]} have the labels of "
            "others, or were refused",
            "a series of its own for each sample",
        )
        for instance, kept in sorted(seen.kept.items())
        if stored[instance] < kept
    ]


def duplicates(increases: list[Json]) -> list[Problem]:
    """No scrape held two values for one series. increases: result of an `increase` over the counter of these."""
    grown = sum(float(series["value"][1]) for series in increases)
    if not grown > 0:
        return []
    seen = f"{grown:.0f} samples refused in {limits.FLAT_WINDOW}, because their series had another value already"
    return [Problem("scrapes", seen, "none: relabelling must not make two series one")]


def banned(marked: list[Json], kept: list[Json]) -> list[Problem]:
    """No series came with a banned label. marked: series by name, job and the label that was taken off.

    kept: series by name, job and a banned label `label` that they still carry.
    """
    taken = [(s, s["metric"].get(DROPPED_LABEL, "?"), "came with banned label") for s in marked]
    there = [(s, s["metric"].get("label", "?"), "carry banned label") for s in kept]
    return [
        Problem(
            f"{s['metric'].get('__name__', '?')} of job {s['metric'].get('job', '?')}",
            f"{float(s['value'][1]):.0f} series {how} {label}",
            "no such label at its source",
        )
        for s, label, how in [*taken, *there]
    ]


def _speaks(producer: Producer, seen: Seen, instance: str) -> bool:
    names = [series_name(metric) for metric in producer.metrics]
    return any(instance in seen.series.get(name, {}) for name in names)


def _missing(metric: Metric, job: str, seen: Seen, empty: set[str]) -> list[Problem]:
    """Targets of a producer on every node that lack a metric which others have. Empty ones were named already."""
    if metric.presence is Presence.EVENT:
        return []
    there = seen.series.get(series_name(metric), {})
    return [
        Problem(f"{metric.name} of job {job}, instance {instance}", "no series", "present at all times")
        for instance in sorted(seen.up - set(there) - empty)
    ]


def _labels(subject: str, metric: Metric, seen: Observation) -> list[Problem]:
    strangers = dict(seen.unexpected)
    problems = []
    for label in metric.labels:
        if seen.labelled.get(label):
            continue
        near = _alike(label, set(strangers))
        strangers.pop(near, None)
        renamed = f"; label {near} is there and in no page: renamed?" if near else ""
        problems.append(Problem(subject, f"no series with label {label}{renamed}", f"label {label}"))
    return problems + [
        Problem(subject, f"unexpected label {label} on {count} series", "only labels of its page in the catalogue")
        for label, count in strangers.items()
    ]


def _allowed(metric: Metric, producer: Producer) -> set[str]:
    spread = {"le", "quantile"} if metric.type in COUNTED else set()
    own = {*metric.labels, *metric.optional, *producer.identity, *producer.target_labels}
    return own | spread | TARGET | {DROPPED_LABEL}


def _drifted(producer: Producer, seen: Seen) -> set[str]:
    """Spellings that scraping should have made one."""
    changed = [change.source for change in producer.label_changes]
    return {label for label in seen.labelled if any(re.fullmatch(source, label) for source in changed)}


def _unknown(producer: Producer, seen: Seen) -> set[str]:
    known = {f"{metric.name}{suffix}" for metric in producer.metrics for suffix in ("", *SUFFIXES)}
    return {name for name in seen.series if name not in known and not SYNTHETIC.fullmatch(name)}


def _strangers(producer: Producer, seen: Seen) -> list[Problem]:
    absent = {metric.name for metric in producer.metrics if series_name(metric) not in seen.series}
    problems = []
    for name in sorted(_unknown(producer, seen)):
        near = _alike(name, absent)
        problems.append(
            Problem(
                f"{name} of job {producer.job}",
                f"in no page{f'; {near} is absent: renamed?' if near else ''}",
                "only metrics of its page in the catalogue",
            )
        )
    return problems


def _alike(name: str, others: set[str]) -> str:
    return next(iter(get_close_matches(name, sorted(others), 1, limits.ALIKE)), "")


def _range(subject: str, metric: Metric, seen: Observation) -> list[Problem]:
    if metric.type in COUNTED:
        # What is stored is a count; the bounds are meant for the values that were counted.
        return []
    bounds = f"a value from {_bound(metric.low)} to {_bound(metric.high)}"
    problems = []
    for value, bad in ((seen.low, _below), (seen.high, _above)):
        if value is None or math.isnan(value) or bad(metric, value):
            problems.append(Problem(subject, "no value" if value is None else f"value {value:g}", bounds))
    return problems


def _below(metric: Metric, value: float) -> bool:
    return metric.low is not None and value < metric.low


def _above(metric: Metric, value: float) -> bool:
    return metric.high is not None and value > metric.high


def _bound(value: float | None) -> str:
    return "any" if value is None else f"{value:g}"
