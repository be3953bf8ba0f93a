"""Alerts and records about Kubernetes objects, from kube-state-metrics: nodes, workloads, jobs, storage, quotas.

Every side of every expression is aggregated first: two kube-state-metrics, or an old and a new pod of it during a
roll-out, tell the same twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from signals.rules.kubernetes_pods import pod_alerts
from signals.rules.model import Alert, Group, Record, Severity
from signals.rules.volumes import volume_groups

if TYPE_CHECKING:
    from signals.rules.inputs import RuleInputs

_JOB = 'job="kube-state-metrics"'
_SELF = f"{{{_JOB}}}"
_CLUSTER = "cluster, environment"
_NODE = f"{_CLUSTER}, node"
_WHERE = "(cluster {{ $labels.cluster }})"


def kubernetes_groups(inputs: RuleInputs) -> tuple[Group, ...]:
    """Every group of this file."""
    return (
        Group(name="plumbline-kubernetes-records", rules=_records()),
        Group(name="plumbline-kubernetes-nodes", rules=_nodes()),
        Group(name="plumbline-kubernetes-pods", rules=pod_alerts()),
        Group(name="plumbline-kubernetes-workloads", rules=(*_workloads(), _rollout_stuck(), _job_failed())),
        Group(name="plumbline-kubernetes-storage", rules=(*_claims(), _volume_failed(), _quota(inputs))),
        *volume_groups(inputs),
    )


def self_groups(_: RuleInputs) -> tuple[Group, ...]:
    """What kube-state-metrics says about itself: whether it sees the objects at all."""
    return (Group(name="plumbline-kube-state-metrics", rules=(_failing("list"), _failing("watch"), _shards())),)


def _records() -> tuple[Record, ...]:
    ready = f'kube_node_status_condition{{{_JOB}, condition="Ready", status="true"}}'
    per_pod = f"max by ({_CLUSTER}, namespace, pod, phase) (kube_pod_status_phase{_SELF})"
    used, hard = (f'kube_resourcequota{{{_JOB}, type="{kind}"}}' for kind in ("used", "hard"))
    quota = f"{_CLUSTER}, namespace, resourcequota, resource"
    return (
        Record(record="cluster:nodes:count", expr=f"count by ({_CLUSTER}) (max by ({_NODE}) (kube_node_info{_SELF}))"),
        Record(record="cluster:nodes_ready:ratio", expr=f"avg by ({_CLUSTER}) (max by ({_NODE}) ({ready}))"),
        Record(record="namespace:pods:sum", expr=f"sum by ({_CLUSTER}, namespace, phase) ({per_pod})"),
        Record(
            record="namespace:quota_used:ratio",
            expr=f"max by ({quota}) ({used})\n/ max by ({quota}) ({hard} > 0)",
        ),
    )


def _nodes() -> tuple[Alert, ...]:
    def condition(name: str, status: str) -> str:
        return f'kube_node_status_condition{{{_JOB}, condition="{name}", status="{status}"}}'

    return (
        Alert(
            alert="NodeNotReady",
            # A mean also sees a node that comes and goes.
            expr=f"max by ({_NODE}) (avg_over_time({condition('Ready', 'true')}[5m])) < 0.75",
            wait="2m",
            severity=Severity.P1,
            summary="Node {{ $labels.node }} is not ready",
            description=f"Node {{{{ $labels.node }}}} {_WHERE} was ready for {{{{ $value | humanizePercentage }}}} of "
            "the last five minutes. Its pods are moved away once it has not been ready for five, and jobs that span it "
            "stand still. Likely causes: the kubelet or the container runtime has stopped, the node is down or cut "
            "off, its disk or memory is full.",
            runbook="kubernetes-node",
        ),
        Alert(
            alert="NodeUnderPressure",
            expr=f"max by ({_NODE}, condition) ("
            f'kube_node_status_condition{{{_JOB}, condition=~"(Memory|Disk|PID)Pressure", status="true"}}) == 1',
            wait="5m",
            severity=Severity.P2,
            summary="Node {{ $labels.node }} reports {{ $labels.condition }}",
            description=f"The kubelet of node {{{{ $labels.node }}}} {_WHERE} reports {{{{ $labels.condition }}}}: it "
            "evicts pods and takes no new ones. Likely causes: images and logs that fill the disk, pods without a "
            "memory limit, a program that starts processes without end.",
            runbook="kubernetes-node",
        ),
        _gone(),
    )


def _gone() -> Alert:
    """A drained node is cordoned before it is taken away, and so is one that an autoscaler removes."""
    cordoned = f"max by ({_NODE}) (max_over_time(kube_node_spec_unschedulable{_SELF}[1h])) == 1"
    return Alert(
        alert="NodeGone",
        expr=f"max by ({_NODE}) (max_over_time(kube_node_info{_SELF}[1h]))\n"
        f"unless max by ({_NODE}) (kube_node_info{_SELF})\nunless {cordoned}\n"
        f"and on (cluster) count by (cluster) (kube_node_info{_SELF})",
        wait="5m",
        severity=Severity.P2,
        summary="Node {{ $labels.node }} has disappeared",
        description=f"Node {{{{ $labels.node }}}} {_WHERE} was there within the hour and is not known any more, "
        "without having been cordoned. Likely causes: its machine was deleted or reclaimed, it has "
        "another name now.",
        runbook="kubernetes-node",
    )


def _workloads() -> tuple[Alert, ...]:
    kinds = (
        ("Deployment", "spec_replicas", "status_replicas_available"),
        ("StatefulSet", "replicas", "status_replicas_ready"),
        ("DaemonSet", "status_desired_number_scheduled", "status_number_available"),
    )
    return tuple(_short(kind, wanted, there) for kind, wanted, there in kinds)


def _short(kind: str, wanted: str, there: str) -> Alert:
    """Fifteen minutes: pulling an image of 20 GB takes ten."""
    label = kind.lower()
    by = f"{_CLUSTER}, namespace, {label}"
    return Alert(
        alert=f"{kind}ReplicasMissing",
        expr=f"max by ({by}) (kube_{label}_{wanted}{_SELF})\n- max by ({by}) (kube_{label}_{there}{_SELF})\n> 0",
        wait="15m",
        severity=Severity.P2,
        summary=f"{kind} {{{{ $labels.namespace }}}}/{{{{ $labels.{label} }}}} is short of pods",
        description=f"{kind} {{{{ $labels.namespace }}}}/{{{{ $labels.{label} }}}} {_WHERE} has {{{{ $value }}}} pods "
        "too few for 15 minutes. Likely causes: pods that crash or do not become ready, no node with room, an image "
        "that cannot be pulled, a quota.",
        runbook="kubernetes-workload",
    )


def _rollout_stuck() -> Alert:
    by = f"{_CLUSTER}, namespace, deployment"
    return Alert(
        alert="DeploymentNotActedUpon",
        expr=f"max by ({by}) (kube_deployment_metadata_generation{_SELF})\n"
        f"- max by ({by}) (kube_deployment_status_observed_generation{_SELF})\n> 0",
        wait="15m",
        severity=Severity.P2,
        summary="A change of Deployment {{ $labels.namespace }}/{{ $labels.deployment }} is not acted upon",
        description=f"Deployment {{{{ $labels.namespace }}}}/{{{{ $labels.deployment }}}} {_WHERE} was changed, and "
        "its controller has not looked at it for 15 minutes. Likely causes: the controller manager is down, overloaded "
        "or without its lease; etcd is slow.",
        runbook="kubernetes-workload",
    )


def _job_failed() -> Alert:
    """A failed Job stays for as long as it is kept; it is news for a day. Looking back an hour bridges a gap."""
    by = f"{_CLUSTER}, namespace, job_name"
    failed = f'kube_job_failed{{{_JOB}, condition="true"}}'
    return Alert(
        alert="JobFailed",
        expr=f"max by ({by}) ({failed}) == 1\nunless\nmax by ({by}) (max_over_time({failed}[1h] offset 1d)) == 1",
        wait="0s",
        severity=Severity.P3,
        summary="Job {{ $labels.namespace }}/{{ $labels.job_name }} has failed",
        description=f"Job {{{{ $labels.namespace }}}}/{{{{ $labels.job_name }}}} {_WHERE} has failed for good within "
        "the last day. Likely causes: its program ends with an error more often than it may, it took longer than it "
        "may, its node was lost.",
        runbook="kubernetes-workload",
    )


def _claims() -> tuple[Alert, ...]:
    by = f"{_CLUSTER}, namespace, persistentvolumeclaim"
    phases = (
        ("Pending", "1h", Severity.P3, "has no volume"),
        ("Lost", "5m", Severity.P1, "has lost its volume"),
    )
    return tuple(
        Alert(
            alert=f"PersistentVolumeClaim{phase}",
            expr=f'max by ({by}) (kube_persistentvolumeclaim_status_phase{{{_JOB}, phase="{phase}"}}) == 1',
            wait=wait,
            severity=severity,
            summary=f"Claim {{{{ $labels.namespace }}}}/{{{{ $labels.persistentvolumeclaim }}}} {what}",
            description=f"Claim {{{{ $labels.namespace }}}}/{{{{ $labels.persistentvolumeclaim }}}} {_WHERE} {what}; "
            f"it has been {phase} for {wait}. Likely causes: no such StorageClass, a provisioner that does not work or "
            "has no room, a volume that was deleted under the claim, a class that waits for a pod which never comes.",
            runbook="kubernetes-storage",
        )
        for phase, wait, severity, what in phases
    )


def _volume_failed() -> Alert:
    by = f"{_CLUSTER}, persistentvolume"
    return Alert(
        alert="PersistentVolumeFailed",
        expr=f'max by ({by}) (kube_persistentvolume_status_phase{{{_JOB}, phase="Failed"}}) == 1',
        wait="5m",
        severity=Severity.P2,
        summary="Volume {{ $labels.persistentvolume }} could not be reclaimed",
        description=f"Volume {{{{ $labels.persistentvolume }}}} {_WHERE} is Failed: its claim is gone, and deleting or "
        "recycling it did not work. Likely causes: the provisioner lost its permission, the storage is not reached.",
        runbook="kubernetes-storage",
    )


def _quota(inputs: RuleInputs) -> Alert:
    return Alert(
        alert="ResourceQuotaNearlyUsedUp",
        expr=f"namespace:quota_used:ratio > {inputs.thresholds.quota_high}",
        wait="15m",
        severity=Severity.P3,
        summary="Quota of {{ $labels.namespace }} for {{ $labels.resource }} is nearly used up",
        description="Quota {{ $labels.namespace }}/{{ $labels.resourcequota }} "
        f"{_WHERE}: {{{{ $value | humanizePercentage }}}} of {{{{ $labels.resource }}}} is used. New pods will be "
        "refused. Likely causes: the team has grown, finished work was not cleaned away.",
        runbook="kubernetes-quota",
    )


def _failing(verb: str) -> Alert:
    """Per verb: a sum of both would be nothing at all as long as one of them has never failed."""
    by = f"{_CLUSTER}, resource"
    errors, calls = (
        f'sum by ({by}) (rate(kube_state_metrics_{verb}_total{{job="kube-state-metrics-self"{extra}}}[10m]))'
        for extra in (', result="error"', "")
    )
    return Alert(
        alert="KubeStateMetricsBlind",
        expr=f"{errors}\n/ {calls}\n> 0.05",
        wait="15m",
        severity=Severity.P2,
        labels={"verb": verb},
        summary="kube-state-metrics cannot see {{ $labels.resource }}",
        description=f"kube-state-metrics {_WHERE}: {{{{ $value | humanizePercentage }}}} of its calls to {verb} "
        "{{ $labels.resource }} fail. What it says about them is old or missing. Likely causes: its role lost a "
        "permission, the API server is overloaded.",
        runbook="kubernetes-state-metrics",
    )


def _shards() -> Alert:
    there = f'count by ({_CLUSTER}, shard_ordinal) (kube_state_metrics_shard_ordinal{{job="kube-state-metrics-self"}})'
    wanted = 'kube_state_metrics_total_shards{job="kube-state-metrics-self"}'
    return Alert(
        alert="KubeStateMetricsShardMissing",
        expr=f"max by ({_CLUSTER}) ({wanted})\n- count by ({_CLUSTER}) ({there})\n> 0",
        wait="15m",
        severity=Severity.P2,
        summary="A share of kube-state-metrics is missing",
        description=f"{{{{ $value }}}} shards of kube-state-metrics {_WHERE} are not scraped. The objects of that "
        "share are missing everywhere. Likely causes: a pod of it is down, replicas that were told different totals.",
        runbook="kubernetes-state-metrics",
    )
