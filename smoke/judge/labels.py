"""Target labels: what scraping adds is what the catalogue says, on every target, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smoke.judge import signals
from smoke.model import Problem

if TYPE_CHECKING:
    from signals.catalogue.model import Producer
    from stacks.contract import Cluster

Json = dict[str, Any]

OWN = frozenset({"__name__", "job", "instance"})
COLLISION = signals.COLLISION


def target_labels(up: list[Json], producer: Producer, cluster: Cluster, nodes: set[str]) -> list[Problem]:
    """Every `up` series of the producer's job carries exactly the contracted labels, with the contracted values.

    nodes: those on which a producer that has one target per node must have one.
    """
    mine = [series["metric"] for series in up if series["metric"].get("job") == producer.job]
    if not mine and producer.per_node and not nodes:
        return []
    if not mine:
        return [Problem(f"job {producer.job}", "no `up` series", "at least one")]
    problems = [problem for labels in mine for problem in _labels(labels, producer, cluster)]
    seen = {labels.get("node", "") for labels in mine}
    if producer.per_node and seen != nodes:
        told = [f"without {_shown(nodes - seen)}"] if nodes - seen else []
        told += [f"with {_shown(seen - nodes)} besides"] if seen - nodes else []
        problems.append(Problem(f"job {producer.job}", f"nodes {', '.join(told)}", f"nodes {_shown(nodes)}"))
    return problems


def unknown_jobs(jobs: list[str], catalogue: list[str]) -> list[Problem]:
    """Every contracted job has a page in the catalogue: what is not described cannot be judged."""
    return [Problem(f"job {job}", "not in the catalogue", "a page there") for job in jobs if job not in catalogue]


def collided(found: dict[str, list[Json]]) -> list[Problem]:
    """No label of a catalogued metric was renamed to `exported_…`.

    found: label name → series that carry it now, counted by metric and job.
    """
    return [
        Problem(
            f"{series['metric'].get('__name__', '?')} of job {series['metric'].get('job', '?')}",
            f"label {name} on {series['value'][1]} series",
            "no such label",
        )
        for name, result in found.items()
        for series in result
    ]


def _labels(labels: dict[str, str], producer: Producer, cluster: Cluster) -> list[Problem]:
    subject = f"up of job {producer.job}, instance {labels.get('instance', '?')}"
    seen = set(labels) - OWN
    wanted = set(producer.target_labels)
    problems = []
    if seen != wanted:
        problems.append(Problem(subject, f"labels {_shown(seen)}", f"labels {_shown(wanted)}"))
    for name, value in (("cluster", cluster.name), ("environment", cluster.environment)):
        if name in wanted and labels.get(name) != value:
            problems.append(Problem(subject, f"{name} {labels.get(name, 'missing')}", f"{name} {value}"))
    if producer.per_node and not labels.get("node"):
        problems.append(Problem(subject, "node missing", "the name of a node"))
    return problems


def _shown(words: set[str]) -> str:
    return ", ".join(sorted(word or "(none)" for word in words)) or "(none)"
