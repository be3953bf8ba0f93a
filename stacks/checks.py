"""Which checks a stack expects, by what it claims. A check that is expected and does not run makes smoke red."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from stacks.contract import Capability

ALWAYS: Final = (
    "cluster.identity",
    "pods.running",
    "pods.not_restarted",
    "workloads.rolled_out",
    "workloads.image",
    "claims.bound",
    "node.conditions",
    "pod.security",
)
"""Checks that every stack brings, whatever runs on it."""

BY_CAPABILITY: Final[dict[tuple[Capability, ...], tuple[str, ...]]] = {
    ("metrics",): (
        "prometheus.rules_healthy",
        "prometheus.sentinel_rule",
        "scrape.expected_jobs",
        "scrape.all_up",
        "scrape.no_duplicates",
        "scrape.labels",
        "signals.contract",
        "signals.fresh",
        "signals.budget",
        "signals.banned",
        "boards.choices",
        "boards.answered",
    ),
    ("metrics", "prometheus-managed"): (
        "prometheus.reload",
        "prometheus.revision",
        "prometheus.flags",
        "prometheus.storage_fresh",
        "pod.volume",
    ),
    ("metrics", "gpu"): ("gpu.count", "gpu.attribution", "gpu.handover"),
    ("alerting",): ("alertmanager.config",),
    ("metrics", "alerting"): ("alertmanager.connected",),
    ("push",): ("push.flags",),
    ("metrics", "push"): ("push.labels",),
    ("metrics", "push", "alerting", "alert-sink"): ("alerting.delivery",),
    ("object-store",): ("objects.roundtrip", "objects.anonymous"),
    ("experiments",): (
        "swanlab.ready",
        "swanlab.activated",
        "swanlab.closed",
        "swanlab.large_bodies",
        "swanlab.volumes",
        "swanlab.roundtrip",
    ),
    ("experiments", "experiments-pod"): ("swanlab.roundtrip_pod",),
    ("recovery",): ("recovery.jobs", "recovery.target"),
    ("recovery", "metrics"): ("recovery.points",),
    ("telemetry",): ("telemetry.config", "telemetry.accounting", "telemetry.redaction"),
    ("telemetry", "logs"): ("telemetry.log",),
    ("telemetry", "traces"): ("telemetry.trace", "telemetry.sampling"),
    ("telemetry", "traces", "metrics"): ("telemetry.span_metrics",),
    ("logs",): ("logs.retention",),
    ("traces",): ("traces.retention",),
    ("grafana",): ("grafana.health", "grafana.closed", "grafana.datasources", "grafana.boards"),
    ("grafana", "metrics"): ("grafana.panels",),
    ("node-access",): ("node.kernel", "node.cgroup", "node.runtime", "node.kubelet", "node.disk", "node.clock"),
}
"""Capabilities → checks that run where all of them are claimed."""

PROOFS: Final = ("prometheus.data_survives_kill", "swanlab.survives_kill", "telemetry.survives_kill")
"""Disruptive: run by `make prove` alone and therefore not expected of a plain smoke run."""


def expected(capabilities: tuple[Capability, ...]) -> tuple[str, ...]:
    """Ids of the checks that must run."""
    found = list(ALWAYS)
    for needed, checks in BY_CAPABILITY.items():
        if set(needed) <= set(capabilities):
            found += checks
    return tuple(found)
