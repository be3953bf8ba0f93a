"""Scraping: every expected target, once, up."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from smoke.model import Problem

if TYPE_CHECKING:
    from collections.abc import Collection

    from signals.catalogue.model import Metric, Producer
    from stacks.contract import ScrapeJob

Json = dict[str, Any]

UNIQUE = frozenset({"UUID", "uid"})
"""Labels whose values no other object in the world has."""

HOLDER = frozenset({"namespace", "pod", "container"})


def expected_jobs(targets: Json, jobs: tuple[ScrapeJob, ...], nodes: dict[str, set[str]]) -> list[Problem]:
    """Each contracted job has at least its number of targets up. A missing job yields no `up`, so it is named here.

    nodes: job → nodes on each of which it must have a target up.
    """
    if not jobs:
        return [Problem("contract", "no scrape job", "at least one scrape job")]
    problems = []
    for job in jobs:
        subject = f"job {job.job}"
        wanted = f"at least {job.min_targets} targets up"
        mine = [t for t in _active(targets) if t["labels"].get("job") == job.job]
        dropped = _dropped(targets, job.job)
        up = [t for t in mine if t["health"] == "up"]
        without = nodes.get(job.job, set()) - {t["labels"].get("node") for t in up}
        problems += [Problem(f"{subject}, node {node}", "no target up", "a target up") for node in sorted(without)]
        if not mine and not job.min_targets:
            continue
        if not mine and dropped:
            problems.append(Problem(subject, f"no active target, {dropped} dropped by relabelling", wanted))
        elif not mine:
            problems.append(Problem(subject, "no such job", wanted))
        elif len(up) < job.min_targets:
            problems.append(Problem(subject, f"{len(up)} of {len(mine)} targets up", wanted))
    return problems


def all_up(targets: Json, jobs: Collection[str] | None = None) -> list[Problem]:
    """Every active target is up. jobs: only those of these jobs, where somebody else's are scraped as well."""
    active = [t for t in _active(targets) if jobs is None or t["labels"].get("job") in jobs]
    if not active:
        return [Problem("targets", "no active target", "at least one")]
    return [
        Problem(f"target {t['scrapeUrl']} of job {t['labels'].get('job')}", _health(t), "up")
        for t in active
        if t["health"] != "up"
    ]


def no_duplicates(targets: Json, jobs: Collection[str] | None = None) -> list[Problem]:
    """No endpoint is scraped twice: not by address, and not under labels that differ by job alone.

    Jobs may share an instance (kubelet and cAdvisor do, and whatever else is named by its node), so the second
    comparison includes port and path. jobs: one of these must be among the two; what somebody else does with targets
    of his own is his affair.
    """
    active = _active(targets)
    if not active:
        return [Problem("targets", "no active target", "at least one")]
    by_url: dict[str, list[Json]] = defaultdict(list)
    by_labels: dict[tuple[Any, ...], list[Json]] = defaultdict(list)
    for target in active:
        by_url[_normal(target["scrapeUrl"])].append(target)
        labels = {k: v for k, v in target["labels"].items() if k != "job"}
        url = urlsplit(target["scrapeUrl"])
        by_labels[(url.port, url.path, *sorted(labels.items()))].append(target)
    doubled = {url: group for url, group in by_url.items() if len(group) > 1 and _ours(group, jobs)}
    problems = [_twice(f"address {url}", group) for url, group in doubled.items()]
    named = {id(t) for group in doubled.values() for t in group}
    for group in by_labels.values():
        if len(group) > 1 and _ours(group, jobs) and not all(id(t) in named for t in group):
            problems.append(_twice(f"instance {group[0]['labels'].get('instance')}", group))
    return problems


def _ours(group: list[Json], jobs: Collection[str] | None) -> bool:
    return jobs is None or any(t["labels"].get("job") in jobs for t in group)


def about(metric: Metric, producer: Producer) -> frozenset[str]:
    """Labels that say which object a series is about, whichever target tells of it.

    Who holds a GPU is left out: one of two exporters may not know. What is not unique by itself is so on its node.
    """
    found = {*metric.labels, *(set(producer.identity) - HOLDER)}
    by_node = producer.per_node and not found & UNIQUE
    return frozenset(found | ({"node"} if by_node else set()))


def shared_objects(told: list[tuple[dict[str, str], list[Json]]], producer: Producer) -> list[Problem]:
    """No object is told of by two targets. told: labels of an object → its series by job and instance.

    Two exporters of one GPU have addresses of their own; what they have in common is the GPU.
    """
    problems = []
    for labels, series in told:
        targets = sorted({f"{s['metric'].get('job')} ({s['metric'].get('instance')})" for s in series})
        names = ", ".join(f"{name}={value}" for name, value in sorted(labels.items()) if value)
        seen = f"told of by {len(targets)} targets: {', '.join(targets)}"
        problems.append(Problem(f"{producer.title} object {names}", seen, "one target"))
    return problems


def over_budget(samples: list[Json], jobs: tuple[ScrapeJob, ...], largest: dict[str, list[Json]]) -> list[Problem]:
    """No job stores more series than were planned. samples: series by job. largest: job → its largest metrics."""
    seen = {series["metric"].get("job", ""): float(series["value"][1]) for series in samples}
    problems = []
    for job in jobs:
        if seen.get(job.job, 0.0) <= job.max_series:
            continue
        most = ", ".join(f"{s['metric'].get('__name__')} {float(s['value'][1]):.0f}" for s in largest.get(job.job, []))
        told = f"{seen[job.job]:.0f} series" + (f", most of them {most}" if most else "")
        problems.append(Problem(f"job {job.job}", told, f"at most {job.max_series}"))
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
