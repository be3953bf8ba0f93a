"""Storage: samples still arrive. A full disk leaves Prometheus Ready, so readiness proves nothing here."""

from __future__ import annotations

import math
from typing import Any

from smoke import limits
from smoke.access.exposition import Sample, values
from smoke.judge.units import duration
from smoke.model import Problem

Json = dict[str, Any]

CORRUPTIONS = "prometheus_tsdb_wal_corruptions_total"
APPENDED = "prometheus_tsdb_head_samples_appended_total"


def scrape_intervals(targets: Json) -> dict[str, float]:
    """Job → its longest scrape interval in seconds."""
    longest: dict[str, float] = {}
    for target in targets.get("activeTargets") or []:
        job = target["labels"].get("job", "")
        longest[job] = max(longest.get(job, 0.0), duration(target["scrapeInterval"]))
    return longest


def allowed_age(interval: float) -> float:
    """Seconds that the newest sample of a job with this scrape interval may be old."""
    return max(interval * limits.FRESH_INTERVALS, limits.FRESH_MINIMUM)


def lookback(targets: Json) -> float:
    """Seconds without a sample after which a series belongs to the past, for the slowest job."""
    return allowed_age(max(scrape_intervals(targets).values(), default=0.0))


def instances(targets: Json, job: str) -> set[str]:
    """Instances of the job's active targets."""
    return {
        t["labels"].get("instance", "") for t in targets.get("activeTargets") or [] if t["labels"].get("job") == job
    }


def up_is_fresh(ages: list[Json], targets: Json) -> list[Problem]:
    """Each active target has a sample of `up` younger than two of its scrape intervals. `ages` in seconds.

    Series of targets that are no longer active are left to fade.
    """
    active = targets.get("activeTargets") or []
    if not active:
        return [Problem("targets", "no active target", "at least one")]
    youngest: dict[tuple[str, str], float] = {}
    for series in ages:
        key = (series["metric"].get("job", ""), series["metric"].get("instance", ""))
        youngest[key] = min(youngest.get(key, math.inf), float(series["value"][1]))
    problems = []
    for target in active:
        job, instance = target["labels"].get("job", ""), target["labels"].get("instance", "")
        age, allowed = youngest.get((job, instance)), allowed_age(duration(target["scrapeInterval"]))
        if age is None or not age < allowed:
            seen = "no sample" if age is None else f"newest sample {age:.0f} s old"
            wanted = f"younger than {allowed:.0f} s"
            problems.append(Problem(f"up of job {job}, instance {instance}", seen, wanted))
    return problems


def log_is_sound(own: list[Sample]) -> list[Problem]:
    """The write-ahead log was never found corrupt since the start; a repair cuts off its tail."""
    found = values(own, CORRUPTIONS)
    if found == [0.0]:
        return []
    seen = ", ".join(f"{number:g}" for number in found) or "no such series"
    return [Problem(CORRUPTIONS, seen, "0", terminal=bool(found))]


def advancing(before: list[Sample], after: list[Sample]) -> list[Problem]:
    """Samples were appended between two readings of its own metrics."""
    earlier, later = sum(values(before, APPENDED)), sum(values(after, APPENDED))
    if later > earlier:
        return []
    return [Problem(APPENDED, f"{later:g}, as before", f"more than {earlier:g}")]
