"""Alerts that need both dcgm-exporter and kube-state-metrics: what a node should have, and which pods suffer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from signals.rules.expressions import grew_since
from signals.rules.gpu_labels import NODE, POD
from signals.rules.gpu_xid import CLASSIFIED
from signals.rules.model import Alert, Group, Severity

if TYPE_CHECKING:
    from signals.rules.inputs import RuleInputs

_NODE_WHERE = "{{ $labels.node }} (cluster {{ $labels.cluster }})"
_RESTARTS = "kube_pod_container_status_restarts_total"
_STARTED = "kube_pod_start_time"


def gpu_kubernetes_alerts(inputs: RuleInputs) -> Group:
    """GPUs by count against what the node offers, XIDs with pods that fail, exporters that restart."""
    return Group(
        name="plumbline-gpu-kubernetes",
        rules=(
            _fewer_than_capacity(inputs.thresholds.gpu_replicas),
            _node_without_series(),
            _xid_with_pod_errors(),
            _exporter_restarting(),
        ),
    )


def _fewer_than_capacity(replicas: int) -> Alert:
    shown = "max_over_time(node:gpu_devices:count[5m])"
    return Alert(
        alert="GpuFewerThanCapacity",
        expr=f"{shown if replicas == 1 else f'{replicas} * {shown}'}\n< on ({NODE})\nnode:gpu_capacity:sum",
        wait="10m",
        severity=Severity.P1,
        summary="{{ $labels.node }} offers more GPUs than it has: {{ $value }} answer",
        description=f"{_NODE_WHERE} offers more GPUs to pods than the {{{{ $value }}}} that dcgm-exporter sees. Pods "
        "that get a missing one fail. Likely causes: a GPU that fell off the bus (XID 79), a device plugin or exporter "
        "that sees a part only, time-slicing without plumbline:thresholds.gpu_replicas.",
        runbook="gpu-lost",
    )


def _node_without_series() -> Alert:
    """A cordoned node is on its way out or in repair; it may be without an exporter."""
    return Alert(
        alert="GpuNodeWithoutSeries",
        expr=f"node:gpu_capacity:sum > 0\nunless on ({NODE}) max_over_time(node:gpus:count[5m]) > 0\n"
        f"unless on ({NODE}) max by ({NODE}) (max_over_time(kube_node_spec_unschedulable[10m])) == 1",
        wait="15m",
        severity=Severity.P2,
        summary="No GPU of {{ $labels.node }} is measured",
        description=f"{_NODE_WHERE} offers {{{{ $value }}}} GPUs and no series of dcgm-exporter tells of them. Every "
        "alert about them is blind. Likely causes: the exporter does not run there, started before the driver, or "
        "answers with an empty page; a taint that it does not tolerate.",
        runbook="gpu-node-without-series",
    )


def _xid_with_pod_errors() -> Alert:
    """Set operators, not arithmetic: two kube-state-metrics, or a pod that moved, cannot make the join ambiguous.

    A container of a young pod that was never seen without a restart counts as well: the first one is born at 1.
    """
    held = 'present_over_time(gpu:memory_used:ratio{pod!=""}[15m])'
    started = f"max by (cluster, namespace, pod) ({_STARTED})"
    restarted = f"max by ({POD}) (\n{grew_since(_RESTARTS, '15m', started, 'cluster, namespace, pod')}\n)"
    failed = f'max by ({POD}) (kube_pod_status_phase{{phase="Failed"}}) == 1'
    return Alert(
        alert="GpuXidWithPodErrors",
        expr=f"group by ({NODE}, gpu, UUID, namespace, pod) ({held})\n"
        f'and on ({NODE}, UUID) max_over_time({CLASSIFIED}{{class!="info"}}[15m]) > 0\n'
        f"and on ({POD}) (\n{restarted}\nor {failed}\n)",
        wait="0s",
        severity=Severity.P1,
        summary="{{ $labels.namespace }}/{{ $labels.pod }} fails on GPU {{ $labels.gpu }} of {{ $labels.node }}, "
        "which reports an XID",
        description="{{ $labels.namespace }}/{{ $labels.pod }} restarted or failed within 15 minutes of an XID on GPU "
        "{{ $labels.gpu }} of {{ $labels.node }} (cluster {{ $labels.cluster }}, {{ $labels.UUID }}). Likely causes: "
        "the GPU, if pods of different programs fail on it; the program, if it fails on other GPUs too.",
        runbook="gpu-xid",
    )


def _exporter_restarting() -> Alert:
    """Two within six hours are no roll-out, which makes a new pod. Counted by changes: a first sample may be 1."""
    series = f'{_RESTARTS}{{container=~"(nvidia-)?dcgm-exporter"}}'
    return Alert(
        alert="GpuExporterRestarting",
        expr=f"max by ({POD}, container) (changes({series}[6h])) >= 2",
        wait="0s",
        severity=Severity.P2,
        summary="dcgm-exporter restarts in cycles: {{ $labels.namespace }}/{{ $labels.pod }}",
        description="{{ $labels.namespace }}/{{ $labels.pod }} (cluster {{ $labels.cluster }}) restarted {{ $value }} "
        "times within 6 hours. Each time there is a gap in the data, and XIDs in it are lost. Likely causes: it "
        "outgrows its memory limit, the driver was reloaded below it, another client holds the profiling module.",
        runbook="gpu-exporter",
    )
