"""Alerts about pods: crashing, not ready, not starting, out of memory."""

from __future__ import annotations

from signals.rules.expressions import grew_since
from signals.rules.model import Alert, Severity

_JOB = 'job="kube-state-metrics"'
_POD = "cluster, environment, namespace, pod"
_CONTAINER = f"{_POD}, container"
_WHERE = "{{ $labels.namespace }}/{{ $labels.pod }} (cluster {{ $labels.cluster }})"
_MONITORING = "alertmanager|dcgm-exporter|kube-state-metrics|node-exporter|prometheus|pushgateway"
"""Containers of the monitoring itself. A hole in their data looks like a healthy zero."""


def pod_alerts() -> tuple[Alert, ...]:
    """Alerts about pods of every namespace."""
    return (
        _crash_looping(),
        _cannot_start(),
        _not_ready(),
        _stuck_starting(),
        _unschedulable(),
        _out_of_memory("MonitoringOutOfMemory", f'container=~"{_MONITORING}"', Severity.P2),
        _out_of_memory("ContainerOutOfMemory", f'container!~"{_MONITORING}"', Severity.P3),
    )


def _waiting(reasons: str) -> str:
    return f'kube_pod_container_status_waiting_reason{{{_JOB}, reason=~"{reasons}"}}'


def _phase(phase: str) -> str:
    return f'max by ({_POD}) (kube_pod_status_phase{{{_JOB}, phase="{phase}"}}) == 1'


def _crash_looping() -> Alert:
    """Between two crashes the container runs and waits for nothing; back-off takes up to five minutes."""
    return Alert(
        alert="PodCrashLooping",
        expr=f"max by ({_CONTAINER}) (max_over_time({_waiting('CrashLoopBackOff')}[10m])) == 1",
        wait="10m",
        severity=Severity.P2,
        summary="{{ $labels.container }} of {{ $labels.namespace }}/{{ $labels.pod }} crashes again and again",
        description=f"Container {{{{ $labels.container }}}} of {_WHERE} ends and is started again. Likely causes: an "
        "error at start-up, a missing setting or secret, a liveness probe that is too strict, too little memory.",
        runbook="kubernetes-pod",
    )


def _cannot_start() -> Alert:
    reasons = "ImagePullBackOff|ErrImagePull|InvalidImageName|CreateContainerConfigError|CreateContainerError"
    return Alert(
        alert="PodCannotStart",
        expr=f"max by ({_CONTAINER}, reason) (max_over_time({_waiting(reasons)}[10m])) == 1",
        wait="15m",
        severity=Severity.P2,
        summary="{{ $labels.container }} of {{ $labels.namespace }}/{{ $labels.pod }} cannot start",
        description=f"Container {{{{ $labels.container }}}} of {_WHERE} cannot start: {{{{ $labels.reason }}}}. Likely "
        "causes: an image that does not exist or needs credentials, a ConfigMap or Secret that is missing, a mount "
        "that fails.",
        runbook="kubernetes-pod",
    )


def _not_ready() -> Alert:
    """A mean over ten minutes also sees a pod that is ready every other minute."""
    ready = f'kube_pod_status_ready{{{_JOB}, condition="true"}}'
    return Alert(
        alert="PodNotReady",
        expr=f"max by ({_POD}) (avg_over_time({ready}[10m])) < 0.75\nand\n{_phase('Running')}",
        wait="15m",
        severity=Severity.P3,
        summary="{{ $labels.namespace }}/{{ $labels.pod }} runs and is not ready",
        description=f"Pod {_WHERE} runs and was ready for {{{{ $value | humanizePercentage }}}} of the last ten "
        "minutes. It gets no traffic. Likely causes: the program is still loading a model, a store that it needs is "
        "down, a readiness probe that asks too much.",
        runbook="kubernetes-pod",
    )


def _stuck_starting() -> Alert:
    return Alert(
        alert="PodStuckStarting",
        expr=f'{_phase("Pending")}\nand\nmax by ({_POD}) (kube_pod_info{{{_JOB}, node!=""}})',
        wait="30m",
        severity=Severity.P3,
        summary="{{ $labels.namespace }}/{{ $labels.pod }} has a node and does not start",
        description=f"Pod {_WHERE} was scheduled and has not started for 30 minutes. Likely causes: an image that "
        "takes long to pull, a volume that cannot be attached, an init container that waits, a device "
        "plugin that refuses.",
        runbook="kubernetes-pod",
    )


def _unschedulable() -> Alert:
    """Pods that a queue holds back on purpose are gated, and not meant."""
    gated = f'max by ({_POD}) (kube_pod_status_reason{{{_JOB}, reason="SchedulingGated"}}) == 1'
    return Alert(
        alert="PodUnschedulable",
        expr=f'{_phase("Pending")}\nand\nmax by ({_POD}) (kube_pod_info{{{_JOB}, node=""}})\nunless\n{gated}',
        wait="30m",
        severity=Severity.P3,
        summary="No node takes {{ $labels.namespace }}/{{ $labels.pod }}",
        description=f"Pod {_WHERE} has waited for a node for 30 minutes. Likely causes: not enough free GPUs on one "
        "node, a selector or taint that no node fits, a claim in another zone.",
        runbook="kubernetes-pod",
    )


def _out_of_memory(name: str, which: str, severity: Severity) -> Alert:
    """The reason of the last end stays for the pod's whole life; only with a new restart is it news."""
    restarts = f"kube_pod_container_status_restarts_total{{{_JOB}, {which}}}"
    started = f"max by (cluster, namespace, pod) (kube_pod_start_time{{{_JOB}}})"
    reason = f'kube_pod_container_status_last_terminated_reason{{{_JOB}, reason="OOMKilled"}}'
    grown = grew_since(restarts, "3h", started, "cluster, namespace, pod")
    return Alert(
        alert=name,
        expr=f"max by ({_CONTAINER}) (\n{grown}\n)\nand\nmax by ({_CONTAINER}) ({reason}) == 1",
        wait="0s",
        severity=severity,
        summary="{{ $labels.container }} of {{ $labels.namespace }}/{{ $labels.pod }} ran out of memory",
        description=f"Container {{{{ $labels.container }}}} of {_WHERE} was killed for using more memory than its "
        "limit, and was started again. Likely causes: a limit that is too low for what it has to do, a leak, more "
        "workers or larger batches than before.",
        runbook="kubernetes-out-of-memory",
    )
