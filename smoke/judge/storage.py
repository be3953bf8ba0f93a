"""Storage: samples still arrive. A full disk leaves Prometheus Ready, so readiness proves nothing here."""

from __future__ import annotations

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


def up_is_fresh(ages: list[Json], intervals: dict[str, float]) -> list[Problem]:
    """The newest sample of each `up` series is younger than two scrape intervals. `ages` in seconds."""
    if not ages:
        return [Problem("up", "no series", "at least one")]
    problems = []
    for series in ages:
        job, age = series["metric"].get("job", "?"), float(series["value"][1])
        if job not in intervals:
            # A target that has just left discovery: its series ends with the next scrape.
            continue
        allowed = allowed_age(intervals[job])
        if not age < allowed:
            subject = f"up of job {job}, instance {series['metric'].get('instance', '?')}"
            problems.append(Problem(subject, f"newest sample {age:.0f} s old", f"younger than {allowed:.0f} s"))
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
