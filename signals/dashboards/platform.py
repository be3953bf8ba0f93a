"""Platform: is everything up, what fires, and which part of the stack to look at next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals.dashboards.firing import PAGES, held, number
from signals.dashboards.links import board, log_lines, runbook
from signals.dashboards.model import Board, Good, Kind, Limits, Panel, Query, Row, Unit
from signals.dashboards.panels import stat, table, timeseries
from signals.dashboards.platform_parts import parts
from signals.dashboards.variables import CLUSTER, ENVIRONMENT, NAMESPACE, chosen, of_jobs
from signals.rules.gpu_labels import FLEET, NODE, POD

if TYPE_CHECKING:
    from signals.dashboards.inputs import BoardInputs
    from signals.dashboards.model import Link

_OBJECTS: Final = "kube-state-metrics"
_SPACE: Final = 'namespace=~"$namespace"'
_PRESSURE: Final = "(Memory|Disk|PID)Pressure"
_AT_FAULT: Final = 'reason!~"ContainerCreating|PodInitializing"'
"""Of a container that waits. The two others are how every container begins."""
_SOME: Final = 20


def platform(inputs: BoardInputs) -> Board:
    """From the question whether anything is wrong to the board of the part in which it is."""
    objects = _OBJECTS in inputs.rules.jobs
    return Board(
        uid="plumbline-platform",
        title="Platform",
        meaning="Whether everything is up, what fires, and where to look next.",
        rows=(_now(inputs), _jobs(inputs), _nodes(inputs), _pods(inputs), _quotas(inputs), *parts(inputs)),
        variables=(CLUSTER, ENVIRONMENT, *((NAMESPACE,) if objects else ())),
    )


def _now(inputs: BoardInputs) -> Row:
    up, alerting = chosen("up"), board("plumbline-alerting")
    return Row(
        title="Now",
        panels=(
            stat(
                "Alerts that page",
                number(PAGES),
                "P0 and P1 that fire. Above zero somebody must act now: which they are stands in the table. Grey: no "
                "rule has looked, which is worse.",
                limits=Limits(warn=1, bad=1),
                links=alerting,
            ),
            stat(
                "Other alerts",
                number('severity!~"P0|P1"'),
                "P2 within the hour, P3 on a working day.",
                limits=Limits(warn=1),
                links=alerting,
            ),
            stat(
                "Jobs without a target",
                _missing_jobs(inputs),
                "Jobs of this stack of which nothing is scraped. Whatever needs them is blind.",
                limits=Limits(warn=1, bad=1),
                links=runbook(inputs, "scrape-job-absent"),
            ),
            stat(
                "Targets that do not answer",
                f"count({up}) - sum({up})",
                "At the last scrape. Which they are stands beneath, by job.",
                limits=Limits(warn=1),
                links=runbook(inputs, "scrape-target-down"),
            ),
            _pressing(alerting),
        ),
    )


def _pressing(links: tuple[Link, ...]) -> Panel:
    return table(
        "Alerts of P0 to P2",
        held('severity=~"P0|P1|P2"'),
        "What fires, and for how long its condition has held. The oldest is first and often the cause.",
        Unit.SECONDS,
        links=links,
        empty="no such alert is known to fire",
    )


def _missing_jobs(inputs: BoardInputs) -> str:
    """In every cluster where this stack runs. A job that may be empty without GPUs is none that is missing."""
    names = [job for job in inputs.rules.jobs if job not in inputs.rules.may_be_empty]
    scraped = f"count by ({FLEET}, job) ({chosen('up', of_jobs(names))})"
    return f"sum(\n  {len(names)} - count by ({FLEET}) ({scraped})\n)"


def _jobs(inputs: BoardInputs) -> Row:
    limits = inputs.rules.thresholds
    planned = set(inputs.rules.budgets) & set(inputs.rules.jobs)
    answering = timeseries(
        "Answering targets by job",
        {"{{cluster}} {{job}}": chosen("job:up:avg")},
        "Share of a job's targets that answered. A job that ends has none left, and is counted above.",
        Unit.RATIO,
        Limits(warn=1.0, good=Good.HIGH),
        links=runbook(inputs, "scrape-target-down"),
        high=1,
    )
    series = timeseries(
        "Series against plan by job",
        {"{{cluster}} {{job}}": chosen("job:series_budget:ratio")},
        "Series that a job stores, of those that are planned for it. Above one, scrapes are soon thrown away whole.",
        Unit.RATIO,
        Limits(warn=limits.series_budget_high, bad=1.0),
        links=runbook(inputs, "series-budget"),
    )
    return Row(title="Scrape jobs", panels=(answering, *((series,) if planned else ())))


def _nodes(inputs: BoardInputs) -> Row:
    condition = "kube_node_status_condition"
    is_ready, unready, pressure = (
        chosen(condition, f'condition=~"{names}", status{status}')
        for names, status in (("Ready", '="true"'), ("Ready", '!="true"'), (_PRESSURE, '="true"'))
    )
    ready = f"max by ({NODE}) ({is_ready})"
    found = f"max by ({NODE}, condition, status)"
    links = runbook(inputs, "kubernetes-node")
    return Row(
        title="Nodes",
        panels=(
            stat("Nodes", f"sum({chosen('cluster:nodes:count')})", "Known to the API server."),
            stat(
                "Nodes not ready",
                f"sum(1 - {ready})",
                "Their pods are moved away after five minutes, and jobs that span them stand still.",
                limits=Limits(warn=1, bad=1),
                links=links,
            ),
            stat(
                "Nodes under pressure",
                f"count(max by ({NODE}) ({pressure}) > 0)\nor\n0 * count({ready})",
                "Short of memory, disk or process numbers: they evict pods.",
                limits=Limits(warn=1),
                links=links,
            ),
            table(
                "Nodes in trouble",
                f"{found} ({unready}) == 1\nor\n{found} ({pressure}) == 1",
                "Ready that is false: the kubelet says so. Ready that is unknown: the node is silent, look at its "
                "machine.",
                Unit.YES_OR_NO,
                links=links,
                empty="no node is known to be in trouble",
            ),
        ),
        needs=frozenset({_OBJECTS}),
    )


def _pods(inputs: BoardInputs) -> Row:
    waits = chosen("kube_pod_container_status_waiting_reason", f"{_SPACE}, {_AT_FAULT}")
    waiting = f"max by ({POD}, container, reason) ({waits})"
    lines = log_lines(inputs, '{"k8s.namespace.name"="${__field.labels.namespace}"}')
    pods = "namespace:pods:sum"
    pending = chosen(pods, f'{_SPACE}, phase="Pending"')
    return Row(
        title="Pods",
        panels=(
            stat(
                "Pods that wait",
                f"sum({pending})",
                "For a node, an image or a volume. Many that wait while GPUs are free: look at quotas and requests.",
            ),
            stat(
                "Containers that cannot run",
                f"sum({waiting})\nor\n0 * sum({chosen(pods, _SPACE)})",
                "They crash again and again, or have no image, no setting or no secret.",
                limits=Limits(warn=1),
                links=runbook(inputs, "kubernetes-pod"),
            ),
            table(
                "Why containers cannot run",
                waiting,
                "CrashLoopBackOff: read its logs. ErrImagePull: the image or its credentials. CreateContainer…: a "
                "missing ConfigMap or Secret.",
                Unit.YES_OR_NO,
                links=(*runbook(inputs, "kubernetes-pod"), *lines),
                empty="no container is known to wait for a fault",
            ),
            table(
                "Pods that workloads lack",
                "\nor\n".join(_short(*kind) for kind in _KINDS),
                "Missing for a quarter of an hour they are an alert; meanwhile it may be a roll-out.",
                links=runbook(inputs, "kubernetes-workload"),
                empty="no workload is known to lack a pod",
            ),
        ),
        needs=frozenset({_OBJECTS}),
    )


_KINDS: Final = (
    ("deployment", "spec_replicas", "status_replicas_available"),
    ("statefulset", "replicas", "status_replicas_ready"),
    ("daemonset", "status_desired_number_scheduled", "status_number_available"),
)


def _short(kind: str, wanted: str, there: str) -> str:
    by = f"max by ({FLEET}, namespace, {kind})"
    want, have = (f"{by} ({chosen(f'kube_{kind}_{what}', _SPACE)})" for what in (wanted, there))
    return f"{want}\n- {have} > 0"


def _quotas(inputs: BoardInputs) -> Row:
    limits = inputs.rules.thresholds
    phase = chosen("kube_persistentvolumeclaim_status_phase", f'{_SPACE}, phase=~"Pending|Lost"')
    used = Panel(
        title="Fullest quotas",
        kind=Kind.BARS,
        unit=Unit.RATIO,
        meaning="Used share, the largest first. At one the API server refuses new pods; nothing waits in a queue.",
        queries=(
            Query(
                expr=f"topk({_SOME}, {chosen('namespace:quota_used:ratio', _SPACE)})",
                legend="{{namespace}} {{resource}}",
                instant=True,
            ),
        ),
        limits=Limits(warn=limits.quota_high, bad=1.0),
        links=runbook(inputs, "kubernetes-quota"),
        empty="nothing until the first quota is made",
        width=12,
        high=1,
    )
    claims = table(
        "Claims without a volume",
        f"max by ({FLEET}, namespace, persistentvolumeclaim, phase) ({phase}) == 1",
        "Pending for a while is normal for a class that waits for its first pod. Lost: the volume is gone.",
        Unit.YES_OR_NO,
        links=runbook(inputs, "kubernetes-storage"),
        empty="no claim is known to lack its volume",
    )
    return Row(title="Quotas and claims", panels=(used, claims), needs=frozenset({_OBJECTS}))
