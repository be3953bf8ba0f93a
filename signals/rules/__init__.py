"""Rules, rendered as files for a Prometheus that reads them natively."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from signals.rules.alertmanager import alertmanager_groups, pipeline_groups
from signals.rules.apiserver import apiserver_groups
from signals.rules.budgets import budget_groups
from signals.rules.gpu_alerts import gpu_alerts
from signals.rules.gpu_allocation import gpu_allocation_records
from signals.rules.gpu_health import gpu_health_alerts
from signals.rules.gpu_kubernetes import gpu_kubernetes_alerts
from signals.rules.gpu_records import gpu_records
from signals.rules.gpu_xid import xid_alerts, xid_records
from signals.rules.identity import identity_records
from signals.rules.kubernetes import kubernetes_groups, self_groups
from signals.rules.model import Group, rule_file
from signals.rules.node import node_groups
from signals.rules.object_store import object_store_groups
from signals.rules.page_proof import page_proof_groups
from signals.rules.prometheus import prometheus_alerts
from signals.rules.pushgateway import pushgateway_groups
from signals.rules.recovery import recovery_groups
from signals.rules.remote_write import remote_write_alerts
from signals.rules.swanlab import swanlab_groups
from signals.rules.swanlab_clickhouse import swanlab_clickhouse_groups
from signals.rules.swanlab_vector import swanlab_vector_groups
from signals.rules.targets import target_alerts, target_records
from signals.rules.telemetry import telemetry_groups
from signals.rules.telemetry_sampling import span_metric_groups
from signals.rules.telemetry_stores import logs_groups, traces_groups
from signals.rules.watchdog import watchdog_groups
from signals.rules.within import within

if TYPE_CHECKING:
    from collections.abc import Callable

    from signals.rules.inputs import RuleInputs


@dataclass(frozen=True)
class RuleFile:
    """One file: its name, the jobs without which it is not rendered, and what makes its groups.

    wanted: whether a stack that has these jobs has what the file is about.
    """

    name: str
    needs: frozenset[str]
    build: Callable[[RuleInputs], tuple[Group, ...]]
    wanted: Callable[[RuleInputs], bool] = lambda _: True


RULE_FILES: tuple[RuleFile, ...] = (
    RuleFile("rules-prometheus.yml", frozenset({"prometheus"}), lambda _: (prometheus_alerts(), remote_write_alerts())),
    RuleFile(
        "rules-targets.yml",
        frozenset(),
        lambda inputs: (target_records(), target_alerts(inputs.jobs, inputs.may_be_empty)),
    ),
    RuleFile("rules-series.yml", frozenset(), budget_groups),
    RuleFile("rules-node.yml", frozenset({"node-exporter"}), node_groups),
    RuleFile("rules-kubernetes.yml", frozenset({"kube-state-metrics"}), kubernetes_groups),
    RuleFile("rules-apiserver.yml", frozenset({"apiserver"}), lambda _: apiserver_groups()),
    RuleFile("rules-kube-state-metrics.yml", frozenset({"kube-state-metrics-self"}), self_groups),
    RuleFile("rules-pushgateway.yml", frozenset({"pushgateway"}), pushgateway_groups),
    RuleFile("rules-page-proof.yml", frozenset({"pushgateway"}), page_proof_groups),
    RuleFile("rules-watchdog.yml", frozenset(), watchdog_groups),
    RuleFile("rules-alerting.yml", frozenset({"prometheus"}), pipeline_groups),
    RuleFile("rules-alertmanager.yml", frozenset({"alertmanager"}), alertmanager_groups),
    RuleFile("rules-object-store.yml", frozenset({"object-store"}), object_store_groups),
    RuleFile("rules-swanlab.yml", frozenset({"swanlab-gate"}), swanlab_groups),
    RuleFile("rules-swanlab-buffer.yml", frozenset({"swanlab-vector"}), swanlab_vector_groups),
    RuleFile("rules-swanlab-clickhouse.yml", frozenset({"swanlab-clickhouse"}), lambda _: swanlab_clickhouse_groups()),
    RuleFile(
        "rules-recovery.yml", frozenset({"pushgateway"}), recovery_groups, lambda inputs: inputs.recovery is not None
    ),
    RuleFile(
        "rules-telemetry.yml",
        frozenset({"otel-gateway"}),
        telemetry_groups,
        lambda inputs: inputs.telemetry is not None,
    ),
    RuleFile("rules-span-metrics.yml", frozenset({"span-metrics"}), lambda _: span_metric_groups()),
    RuleFile("rules-logs.yml", frozenset({"victoria-logs"}), logs_groups),
    RuleFile("rules-traces.yml", frozenset({"jaeger"}), traces_groups),
    RuleFile("rules-identity.yml", frozenset({"kube-state-metrics"}), lambda inputs: (identity_records(inputs),)),
    RuleFile(
        "rules-gpu.yml",
        frozenset({"dcgm-exporter"}),
        lambda inputs: (
            gpu_records(),
            xid_records(),
            gpu_alerts(inputs),
            xid_alerts(),
            gpu_health_alerts(inputs),
        ),
    ),
    RuleFile(
        "rules-gpu-kubernetes.yml",
        frozenset({"dcgm-exporter", "kube-state-metrics"}),
        lambda inputs: (gpu_allocation_records(), gpu_kubernetes_alerts(inputs)),
    ),
)


def groups(inputs: RuleInputs) -> dict[str, tuple[Group, ...]]:
    """File name → its groups, for the jobs that exist. The sentinel is not among them."""
    jobs = set(inputs.jobs)
    found = {file.name: file.build(inputs) for file in RULE_FILES if file.needs <= jobs and file.wanted(inputs)}
    if inputs.cluster is None:
        return found
    return {name: tuple(_confined(group, inputs.cluster) for group in built) for name, built in found.items()}


def _confined(group: Group, cluster: str) -> Group:
    """The same group, about series of this cluster alone."""
    return replace(group, rules=tuple(replace(rule, expr=within(rule.expr, cluster)) for rule in group.rules))


def rule_files(inputs: RuleInputs) -> dict[str, str]:
    """File name → YAML text."""
    return {name: rule_file(found, inputs.runbooks) for name, found in groups(inputs).items()}
