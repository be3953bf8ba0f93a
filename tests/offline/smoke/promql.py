"""The few forms of PromQL that smoke asks, evaluated over a list of series."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from signals.catalogue import PRODUCERS
from signals.catalogue.model import MetricType, Presence

if TYPE_CHECKING:
    from collections.abc import Callable

    from signals.catalogue.model import Producer

Json = dict[str, Any]

SELECTOR = re.compile(r"^(?P<name>[\w:]*)(?:\{(?P<matchers>.*)\})?(?: offset -\d+s)?$")
AHEAD = re.compile(r" offset -(\d+)s")
MATCHER = re.compile(r'(\w+|"[^"]+")(=~|!~|!=|=)"([^"]*)"')
AGGREGATION = re.compile(r"^(?P<word>count|group|min|max|sum)(?: by \((?P<by>[\w, ]+)\))? ?\((?P<inner>.*)\)$")
ABOVE = re.compile(r"^(?P<inner>.*) > (?P<bound>\d+)$")
TOP = re.compile(r"^topk\((?P<number>\d+), (?P<inner>.*)\)$")
AGE = re.compile(r"^time\(\) - timestamp\((?P<inner>.*)\)$")
OVER_TIME = re.compile(r"^(?P<word>increase|changes|count_over_time)\((?P<inner>.*)\[\w+\]\)$")
RANGE = re.compile(r"^(?P<inner>[^()]*)\[(?P<minutes>\d+)m\]$")
STEP = 15
LOOKBACK = 300


@dataclass
class Series:
    """One series: its last value, how many seconds ago that was, and what it did in any window."""

    labels: dict[str, str]
    value: float
    age: float = 1.0
    increase: float = 0.0
    changes: int = 1
    samples: int = 20


def series_of_catalogue(targets: Json) -> list[Series]:
    """`up` of every target, and every metric of the catalogue that is never absent, with a value within bounds."""
    return [series for target in targets["activeTargets"] for series in series_of(target["labels"])]


def series_of(own: dict[str, str]) -> list[Series]:
    """The series of one target."""
    page = next(page for page in PRODUCERS if page.job == own["job"])
    found = _exposed(own, page)
    kept = {"__name__": "scrape_samples_post_metric_relabeling", **own}
    return [*found, Series({"__name__": "up", **own}, 1.0), Series(kept, float(len(found)))]


def _exposed(own: dict[str, str], page: Producer) -> list[Series]:
    found = []
    for metric in page.metrics:
        if metric.presence is Presence.EVENT:
            continue
        labels = own | dict.fromkeys(metric.labels, "x")
        value = 1.0 if metric.low is None else metric.low
        names = [metric.name]
        if metric.type is MetricType.HISTOGRAM:
            names = [f"{metric.name}{suffix}" for suffix in ("_bucket", "_count", "_sum")]
        found += [Series({"__name__": name, **labels}, value) for name in names]
    return found


def evaluate(expression: str, stored: list[Series], query: dict[str, str]) -> Json:
    """The `data` of an instant query's answer."""
    at = query.get("time")
    found = AHEAD.search(expression)
    ahead = float(found[1]) if found else 0.0
    series = [s for s in stored if -ahead <= s.age <= float(query.get("lookback_delta", LOOKBACK)) - ahead]
    if expression == "time()":
        return {"resultType": "scalar", "result": [time.time(), f"{time.time():.3f}"]}
    spanned = RANGE.match(expression)
    if spanned:
        end = float(at or time.time())
        return {"resultType": "matrix", "result": [_span(s, end, spanned) for s in _select(spanned["inner"], series)]}
    return {"resultType": "vector", "result": [_point(labels, value) for labels, value in _vector(expression, series)]}


def _vector(expression: str, series: list[Series]) -> list[tuple[dict[str, str], float]]:
    if found := ABOVE.match(expression):
        return [pair for pair in _vector(found["inner"], series) if pair[1] > float(found["bound"])]
    if found := TOP.match(expression):
        return sorted(_vector(found["inner"], series), key=lambda pair: -pair[1])[: int(found["number"])]
    if found := AGGREGATION.match(expression):
        return _aggregate(found["word"], (found["by"] or "").replace(",", " ").split(), _vector(found["inner"], series))
    if found := AGE.match(expression):
        return [(_bare(s), s.age) for s in _select(found["inner"], series)]
    if found := OVER_TIME.match(expression):
        part = {"increase": "increase", "changes": "changes", "count_over_time": "samples"}[found["word"]]
        return [(_bare(s), float(getattr(s, part))) for s in _select(found["inner"], series)]
    return [(s.labels, s.value) for s in _select(expression, series)]


def _aggregate(
    word: str, by: list[str], vector: list[tuple[dict[str, str], float]]
) -> list[tuple[dict[str, str], float]]:
    groups: dict[tuple[str, ...], list[float]] = {}
    for labels, value in vector:
        groups.setdefault(tuple(labels.get(name, "") for name in by), []).append(value)
    pairs = [(dict(zip(by, key, strict=True)), values) for key, values in groups.items()]
    if word == "count":
        return [(labels, float(len(values))) for labels, values in pairs]
    if word == "group":
        return [(labels, 1.0) for labels, _ in pairs]
    reduce: dict[str, Callable[[list[float]], float]] = {"min": min, "max": max, "sum": sum}
    return [(labels, reduce[word](values)) for labels, values in pairs]


def _select(selector: str, series: list[Series]) -> list[Series]:
    parsed = SELECTOR.match(selector)
    if not parsed:
        raise ValueError(f"the stand-in does not understand {selector!r}")
    if not re.fullmatch(rf"(?:{MATCHER.pattern}(?:, ?|$))*", parsed["matchers"] or ""):
        raise ValueError(f"the stand-in does not understand {selector!r}: a name with other characters needs quotes")
    matchers = [(label.strip('"'), op, value) for label, op, value in MATCHER.findall(parsed["matchers"] or "")]
    if parsed["name"]:
        matchers.append(("__name__", "=", parsed["name"]))
    return [s for s in series if all(_matches(s.labels.get(label, ""), op, value) for label, op, value in matchers)]


def _matches(seen: str, operator: str, wanted: str) -> bool:
    if operator in ("=~", "!~"):
        return bool(re.fullmatch(wanted, seen)) is (operator == "=~")
    return (seen == wanted) is (operator == "=")


def _bare(series: Series) -> dict[str, str]:
    return {name: value for name, value in series.labels.items() if name != "__name__"}


def _point(labels: dict[str, str], value: float) -> Json:
    return {"metric": labels, "value": [time.time(), f"{value:.15g}"]}


def _span(series: Series, end: float, spanned: re.Match[str]) -> Json:
    begin = end - 60 * int(spanned["minutes"])
    times = range(int(begin) // STEP * STEP + STEP, int(end) + 1, STEP)
    return {"metric": series.labels, "values": [[float(at), f"{series.value:g}"] for at in times]}
