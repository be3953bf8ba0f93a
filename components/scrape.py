"""How targets are found and what is done to their labels: one description, rendered for Prometheus and its operator."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from signals.catalogue.labels import BANNED, DROPPED_LABEL

if TYPE_CHECKING:
    from components.objects import Manifest
    from signals.catalogue.model import Drop, LabelChange, Producer

_NOT_RUNNING = "Succeeded|Failed"


@dataclass(frozen=True, kw_only=True)
class PodTargets:
    """Pods that are scraped: those with all the labels, in one namespace, at one container port.

    port_name: of the port; None where whoever wrote the pods has not named it, and then port is its number.
    """

    namespace: str
    labels: dict[str, str]
    port_name: str | None = None
    port: int | None = None

    def __post_init__(self) -> None:
        """Raises ValueError unless the port is told in exactly one way."""
        if (self.port_name is None) == (self.port is None):
            raise ValueError(
                f"pods {self.labels} in {self.namespace} have port_name {self.port_name} and port {self.port}; "
                "accepted is one of the two; give the name if the pods have one"
            )

    @property
    def port_text(self) -> str:
        """Name or number, whichever is told, as discovery spells it."""
        return self.port_name if self.port_name is not None else str(self.port)

    @property
    def policy_port(self) -> int | str:
        """The port as a NetworkPolicy counts it."""
        return int(self.port_text) if self.port_name is None else self.port_name

    @property
    def port_label(self) -> str:
        """What discovery puts the port's name or number into."""
        return f"__meta_kubernetes_pod_container_port_{'number' if self.port_name is None else 'name'}"

    def port_relabel(self) -> Manifest:
        """The native rule that keeps this port of those that a pod declares."""
        regex = re.escape(self.port_text).replace(r"\-", "-")
        return {"source_labels": [self.port_label], "regex": regex, "action": "keep"}


@dataclass(frozen=True, kw_only=True)
class StaticTarget:
    """An exporter outside the cluster. node: value of the label `node`. address: `host:port`."""

    node: str
    address: str


@dataclass(frozen=True, kw_only=True)
class ScrapeJob:
    """One page of the catalogue and where its targets are.

    pods: None for producers of the cluster itself, whose discovery follows from the job's name. static: further
    targets by address. interval: Prometheus duration, None means the stack's. sample_limit: samples per scrape.
    """

    page: Producer
    sample_limit: int
    pods: PodTargets | None = None
    static: tuple[StaticTarget, ...] = ()
    interval: str | None = None


def pod_relabels(pods: PodTargets) -> list[Manifest]:
    """Keep one port of running pods; a finished pod keeps its address for a while and would count as a dead target."""
    return [
        pods.port_relabel(),
        {"source_labels": ["__meta_kubernetes_pod_phase"], "regex": _NOT_RUNNING, "action": "drop"},
    ]


def target_relabels(job: ScrapeJob, cluster: str, environment: str) -> list[Manifest]:
    """The labels that the catalogue promises for this job, and no other."""
    node = "__meta_kubernetes_pod_node_name" if job.pods else "__meta_kubernetes_node_name"
    sources: dict[str, Manifest] = {
        "cluster": {"replacement": cluster},
        "environment": {"replacement": environment},
        "node": {"source_labels": [node]},
    }
    found = [{**sources[label], "target_label": label} for label in job.page.target_labels]
    if job.page.instance_is_node:
        found.append({"source_labels": [node], "target_label": "instance"})
    return found


def metric_relabels(page: Producer) -> list[Manifest]:
    """What is done to the series of a scrape: spellings made one, banned labels taken off and marked, drops."""
    found = [rule for change in page.label_changes for rule in _change(change)]
    if page.of_others:
        found += _banned()
    return [*found, *(_drop(drop) for drop in page.drops)]


def _change(change: LabelChange) -> list[Manifest]:
    """A rename copies first: `labelmap` takes whichever spelling there is."""
    gone = {"regex": change.source, "action": "labeldrop"}
    if not change.target:
        return [gone]
    return [{"regex": f"({change.source})", "replacement": change.target, "action": "labelmap"}, gone]


def _banned() -> list[Manifest]:
    """A producer that speaks of others may say anything; the mark keeps what was taken off visible and countable."""
    marks = [
        {"source_labels": [name], "regex": ".+", "target_label": DROPPED_LABEL, "replacement": name} for name in BANNED
    ]
    return [*marks, {"regex": "|".join(BANNED), "action": "labeldrop"}]


def _drop(drop: Drop) -> Manifest:
    names, patterns = ["__name__"], [drop.metric]
    if drop.buckets:
        names.append("le")
        # Prometheus 3 writes whole numbers as `2.0`, whatever the producer wrote.
        steps = (re.escape(step) + ("" if "." in step else r"(\.0)?") for step in drop.buckets)
        patterns.append(f"({'|'.join(steps)})")
    for label, pattern in drop.labels:
        names.append(label)
        patterns.append(pattern)
    return {"source_labels": names, "regex": ";".join(patterns), "action": "drop"}
