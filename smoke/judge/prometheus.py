"""Prometheus: the configuration that runs is the one that was rendered."""

from __future__ import annotations

from collections import Counter
from typing import Any

from smoke.access.exposition import Sample, values
from smoke.judge.units import duration, prometheus_bytes
from smoke.model import Problem

Json = dict[str, Any]

RELOAD = "prometheus_config_last_reload_successful"
REVISION = "plumbline:config_revision"


def reload_succeeded(own: list[Sample], stored: list[Json]) -> list[Problem]:
    """The last reload succeeded, by its own page (true now) and by the stored series (true when it was scraped)."""
    problems = []
    direct = values(own, RELOAD)
    if direct != [1.0]:
        problems.append(Problem(f"{RELOAD} on /metrics", _shown(direct), "1"))
    queried = [float(series["value"][1]) for series in stored]
    if not queried or set(queried) != {1.0}:
        problems.append(Problem(f"{RELOAD} by query", _shown(queried), "1"))
    return problems


def revision(series: list[Json], cluster: str, expected: str) -> list[Problem]:
    """Exactly one revision series per cluster, and the one of this cluster shows the contracted revision."""
    counts = Counter(s["metric"].get("cluster", "") for s in series)
    problems = [
        Problem(f"{REVISION}{{cluster={name!r}}}", f"{count} series", "one series")
        for name, count in counts.items()
        if count != 1
    ]
    # A rule that names no cluster speaks for the only one there is.
    own = [s["metric"].get("revision") for s in series if s["metric"].get("cluster", cluster) == cluster]
    if own != [expected]:
        seen = ", ".join(map(str, own)) or "no series"
        problems.append(Problem(f"{REVISION} of cluster {cluster}", f"revision {seen}", f"revision {expected}"))
    return problems


def flags(seen: dict[str, str], expected: dict[str, str]) -> list[Problem]:
    """Each contracted flag has the contracted value; `24h` and `1d`, `8GB` and `8GiB` are the same."""
    problems = []
    for name, value in expected.items():
        found = seen.get(name.removeprefix("--"))
        if found is None:
            problems.append(Problem(f"flag {name}", "not set", value))
        elif not same_value(found, value):
            problems.append(Problem(f"flag {name}", found, value))
    return problems


def same_value(one: str, other: str) -> bool:
    """Whether two settings mean the same: by letter, as durations or as sizes."""
    if one == other:
        return True
    for parse in (duration, prometheus_bytes):
        try:
            return parse(one) == parse(other)
        except ValueError:
            continue
    return False


def _shown(numbers: list[float]) -> str:
    return ", ".join(f"{number:g}" for number in numbers) or "no such series"
