"""Scraping: every expected target, once, up."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from smoke.model import Problem

if TYPE_CHECKING:
    from stacks.contract import ScrapeJob

Json = dict[str, Any]


def expected_jobs(targets: Json, jobs: tuple[ScrapeJob, ...]) -> list[Problem]:
    """Each contracted job has at least its number of targets up. A missing job yields no `up`, so it is named here."""
    if not jobs:
        return [Problem("contract", "no scrape job", "at least one scrape job")]
    problems = []
    for job in jobs:
        subject = f"job {job.job}"
        wanted = f"at least {job.min_targets} targets up"
        mine = [t for t in _active(targets) if t["labels"].get("job") == job.job]
        dropped = _dropped(targets, job.job)
        up = [t for t in mine if t["health"] == "up"]
        if not mine and dropped:
            problems.append(Problem(subject, f"no active target, {dropped} dropped by relabelling", wanted))
        elif not mine:
            problems.append(Problem(subject, "no such job", wanted))
        elif len(up) < job.min_targets:
            problems.append(Problem(subject, f"{len(up)} of {len(mine)} targets up", wanted))
    return problems


def all_up(targets: Json) -> list[Problem]:
    """Every active target is up."""
    active = _active(targets)
    if not active:
        return [Problem("targets", "no active target", "at least one")]
    return [
        Problem(f"target {t['scrapeUrl']} of job {t['labels'].get('job')}", _health(t), "up")
        for t in active
        if t["health"] != "up"
    ]


def no_duplicates(targets: Json) -> list[Problem]:
    """No endpoint is scraped twice: not by address, and not under labels that differ by job alone.

    Jobs may share an instance (kubelet and cAdvisor do), so the second comparison includes the path.
    """
    active = _active(targets)
    if not active:
        return [Problem("targets", "no active target", "at least one")]
    by_url: dict[str, list[Json]] = defaultdict(list)
    by_labels: dict[tuple[Any, ...], list[Json]] = defaultdict(list)
    for target in active:
        by_url[_normal(target["scrapeUrl"])].append(target)
        labels = {k: v for k, v in target["labels"].items() if k != "job"}
        by_labels[(urlsplit(target["scrapeUrl"]).path, *sorted(labels.items()))].append(target)
    problems = [_twice(f"address {url}", group) for url, group in by_url.items() if len(group) > 1]
    named = {id(t) for group in by_url.values() if len(group) > 1 for t in group}
    for group in by_labels.values():
        if len(group) > 1 and not all(id(t) in named for t in group):
            problems.append(_twice(f"instance {group[0]['labels'].get('instance')}", group))
    return problems


def _twice(subject: str, group: list[Json]) -> Problem:
    where = ", ".join(f"{t['labels'].get('job')} ({t['scrapeUrl']})" for t in group)
    return Problem(subject, f"{len(group)} targets: {where}", "one target")


def _active(targets: Json) -> list[Json]:
    return targets.get("activeTargets") or []


def _dropped(targets: Json, job: str) -> int:
    listed = sum(1 for t in targets.get("droppedTargets") or [] if t["discoveredLabels"].get("job") == job)
    # Prometheus may be told to keep fewer dropped targets than there are; the counts stay complete.
    counted = (targets.get("droppedTargetCounts") or {}).get(job, 0)
    return max(listed, int(counted))


def _health(target: Json) -> str:
    error = f": {target['lastError']}" if target.get("lastError") else ""
    return f"{target['health']}{error}"


def _normal(url: str) -> str:
    parts = urlsplit(url)
    query = urlencode(sorted(parse_qsl(parts.query)))
    return urlunsplit((parts.scheme, parts.netloc.lower(), parts.path.rstrip("/"), query, ""))
