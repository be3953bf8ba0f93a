"""Signals: each metric of the catalogue is there, has its type and labels, a sane value, and is fresh."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from signals.catalogue.model import MetricType, Presence
from smoke import limits
from smoke.model import Problem

if TYPE_CHECKING:
    from signals.catalogue.model import Metric

Json = dict[str, Any]

# These types are exposed as several series; the count is always among them.
COUNTED = (MetricType.HISTOGRAM, MetricType.SUMMARY)


@dataclass(frozen=True)
class Observation:
    """What was seen of one metric in one job.

    count: live series. low/high: extreme values, None without series and for types that store counts. labelled:
    label → series that carry it. types: what the targets declare, empty if they declare nothing.
    """

    count: int
    low: float | None
    high: float | None
    labelled: dict[str, int]
    types: frozenset[str]


def series_name(metric: Metric, label: str = "") -> str:
    """The name of a series by which presence and age of the metric, or the presence of its label, can be judged."""
    if metric.type not in COUNTED or label == "quantile":
        return metric.name
    return f"{metric.name}_bucket" if label == "le" else f"{metric.name}_count"


def declared_types(metadata: dict[str, list[Json]], metric: Metric) -> frozenset[str]:
    """Types that targets declare. In OpenMetrics a counter is declared without its suffix `_total`."""
    entries = metadata.get(metric.name) or metadata.get(metric.name.removesuffix("_total")) or []
    return frozenset(entry["type"] for entry in entries)


def contracted(metric: Metric, job: str, seen: Observation) -> list[Problem]:
    """The metric keeps its contract. One that is absent by design until an event is judged only once it is there."""
    subject = f"{metric.name} of job {job}"
    if not seen.count:
        if metric.presence is Presence.EVENT:
            return []
        return [Problem(subject, "no series", "present at all times")]
    problems = [
        Problem(subject, f"no series with label {label}", f"label {label}")
        for label in metric.labels
        if not seen.labelled.get(label)
    ]
    if metric.type.value not in seen.types:
        declared = ", ".join(sorted(seen.types)) or "undeclared"
        problems.append(Problem(subject, f"type {declared}", f"type {metric.type.value}"))
    return problems + _range(subject, metric, seen)


def fresh(metric: Metric, job: str, ages: list[Json], instances: set[str], allowed: float) -> list[Problem]:
    """The newest sample of each active instance is at most `allowed` seconds old, and not from the future.

    ages: one series per instance. A metric that waits for an event is absent again once its samples are older: after a
    time without Prometheus nothing marks their end.
    """
    subject = f"{metric.name} of job {job}"
    wanted = f"younger than {allowed:.0f} s"
    seen = {series["metric"].get("instance"): float(series["value"][1]) for series in ages}
    problems = []
    for instance in sorted(instances):
        age = seen.get(instance)
        if metric.presence is Presence.EVENT and (age is None or age > allowed):
            continue
        about = f"{subject}, instance {instance}"
        if age is None:
            problems.append(Problem(about, "no samples", f"a sample {wanted}"))
        elif age < -limits.FRESH_FUTURE:
            problems.append(Problem(about, f"newest sample {-age:.0f} s in the future", "none from the future"))
        elif not age <= allowed:
            problems.append(Problem(about, f"newest sample {age:.0f} s old", wanted))
    return problems


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
