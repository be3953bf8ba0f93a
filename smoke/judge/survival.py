"""Survival: the same samples, claim and volume after the pod was killed."""

from __future__ import annotations

from typing import Any

from smoke import limits
from smoke.judge.pods import is_ready
from smoke.model import Problem

Json = dict[str, Any]


def enough(before: list[Json]) -> list[Problem]:
    """The window holds enough samples for a comparison to mean something."""
    longest = max((len(series["values"]) for series in before), default=0)
    if longest >= limits.SURVIVAL_SAMPLES:
        return []
    seen = f"{longest} samples in {limits.SURVIVAL_WINDOW}"
    return [Problem("up before the kill", seen, f"at least {limits.SURVIVAL_SAMPLES}")]


def replaced(pod: Json | None, old_uid: str, name: str) -> list[Problem]:
    """Another pod of the same name is Ready."""
    if pod is None:
        return [Problem(f"pod {name}", "does not exist", "a new pod, Ready")]
    if pod["metadata"]["uid"] == old_uid:
        return [Problem(f"pod {name}", "still the old pod", "a new pod, Ready")]
    return [] if is_ready(pod) else [Problem(f"pod {name}", "new, not Ready", "Ready")]


def same_samples(before: list[Json], after: list[Json]) -> list[Problem]:
    """Each series holds the very samples it held, same times and same values."""
    kept = {_key(series): dict(map(tuple, series["values"])) for series in after}
    problems = []
    for series in before:
        found = kept.get(_key(series), {})
        lost = [(at, value) for at, value in series["values"] if found.get(at) != value]
        if lost:
            subject = f"up of job {series['metric'].get('job')}, instance {series['metric'].get('instance')}"
            total = len(series["values"])
            problems.append(Problem(subject, f"{len(lost)} of {total} samples lost or changed", f"all {total} samples"))
    return problems


def same_object(what: str, before: Json, after: Json | None) -> list[Problem]:
    """The object is still the same one, by uid."""
    uid = (after or {}).get("metadata", {}).get("uid", "missing")
    expected = before["metadata"]["uid"]
    return [] if uid == expected else [Problem(what, f"uid {uid}", f"uid {expected}", terminal=True)]


def _key(series: Json) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(series["metric"].items()))
