"""Choices that boards have at their top, and what they make of a selector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from signals.catalogue.labels import INFO_METRIC
from signals.dashboards.model import Variable

if TYPE_CHECKING:
    from collections.abc import Iterable

CLUSTER = Variable(name="cluster", label="Cluster", series="up")
ENVIRONMENT = Variable(name="environment", label="Environment", series='up{cluster=~"$cluster"}')
FLEET_CHOICE = 'cluster=~"$cluster", environment=~"$environment"'
"""Matchers of whatever is told of a cluster."""

TEAM = Variable(
    name="team",
    label="Team",
    series=f"{INFO_METRIC}{{{FLEET_CHOICE}}}",
    empty="a pod carries the label of a team",
)
NAMESPACE = Variable(name="namespace", label="Namespace", series=f"kube_pod_info{{{FLEET_CHOICE}}}")
NODE = Variable(name="node", label="Node", series=f"kube_node_info{{{FLEET_CHOICE}}}")


def of_jobs(jobs: Iterable[str]) -> str:
    """A matcher for the targets of these jobs."""
    return f'job=~"{"|".join(jobs)}"'


def chosen(metric: str, more: str = "") -> str:
    """The series of a metric in the chosen clusters. more: further matchers."""
    return f"{metric}{{{FLEET_CHOICE}{', ' + more if more else ''}}}"
