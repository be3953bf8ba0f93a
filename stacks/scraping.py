"""From settings to what is scraped: which pages of the catalogue a stack has, where, and within which budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.alertmanager import names as alertmanager
from components.dcgm_exporter import names as dcgm_exporter
from components.existing_prometheus.names import CLUSTER_JOBS
from components.grafana import names as grafana
from components.kube_state_metrics import names as kube_state_metrics
from components.logs import names as logs
from components.naming import node_namespace_name, swanlab_namespace_name
from components.node_exporter import names as node_exporter
from components.object_store import names as object_store
from components.otel_collector import names as otel
from components.prometheus import names as prometheus
from components.pushgateway import names as pushgateway
from components.scrape import PodTargets, ScrapeJob, StaticTarget
from components.swanlab import names as swanlab
from components.swanlab_gate import names as swanlab_gate
from components.traces import names as traces
from signals.budget import samples_per_scrape, series
from signals.catalogue import PRODUCERS, swanlab_clickhouse, swanlab_vector
from signals.catalogue.kube_state_metrics import SELF
from signals.rules.inputs import RuleInputs
from stacks.contract import ScrapeJob as Promised
from stacks.experiment_systems import has_gate
from stacks.recovery_arguments import aims
from stacks.telemetry_arguments import plans

if TYPE_CHECKING:
    from signals.catalogue.model import Producer
    from stacks.exporters import PodSource
    from stacks.settings import Settings

_CHART_PODS = {swanlab_vector.PRODUCER.job: swanlab.BUFFER, swanlab_clickhouse.PRODUCER.job: "clickhouse"}
"""Job → program of SwanLab's chart whose metrics are known. The gateway, the servers and the login service have
metrics as well; which ones, their vendor does not say."""
_PUSHED_INTERVAL = "5s"
"""Short, because smoke's proof that a page arrives goes through the Pushgateway, and it serves few series."""


def scrape_jobs(settings: Settings) -> tuple[ScrapeJob, ...]:
    """Every job of the stack, in the order of the catalogue."""
    pods = _pods(settings)
    static = tuple(StaticTarget(node=t.node, address=t.address) for t in settings.dcgm_exporter.targets)
    return tuple(
        ScrapeJob(
            page=page,
            sample_limit=min(settings.limits.samples, samples_per_scrape(page, settings.sizing)),
            pods=pods.get(page.job),
            static=static if page.job == dcgm_exporter.NAME else (),
            interval=_PUSHED_INTERVAL if page.job == pushgateway.NAME else None,
        )
        for page in pages(settings)
    )


def pages(settings: Settings) -> tuple[Producer, ...]:
    """The pages of the catalogue that this stack has scraped, in their order."""
    return tuple(page for page in PRODUCERS if _exists(settings, page))


def promised_jobs(settings: Settings, jobs: tuple[ScrapeJob, ...]) -> tuple[Promised, ...]:
    """The same jobs as the contract promises them."""
    return tuple(
        Promised(
            job=job.page.job,
            min_targets=0 if job.page.job in may_be_empty(settings) else 1,
            node_selector=_node_selector(settings, job.page),
            static=tuple(target.node for target in job.static),
            max_series=_planned(settings, job.page),
        )
        for job in jobs
    )


def rule_inputs(settings: Settings, jobs: tuple[ScrapeJob, ...]) -> RuleInputs:
    """What every rule file is made from."""
    return RuleInputs(
        jobs=tuple(job.page.job for job in jobs),
        thresholds=settings.thresholds,
        pod_labels=settings.workload_labels,
        budgets={job.page.job: _planned(settings, job.page) for job in jobs},
        runbooks=settings.runbooks or "",
        alert_pipeline=settings.alertmanager.mode == "existing" or tells_own_alertmanager(settings),
        may_be_empty=may_be_empty(settings),
        recovery=aims(settings),
        telemetry=plans(settings),
        # A Prometheus of our own has no series of anybody else, and gets the labels on the way out as well.
        cluster=settings.cluster.name if settings.existing_prometheus is not None else None,
    )


def may_be_empty(settings: Settings) -> tuple[str, ...]:
    """Jobs that may have no target. Where that makes no sense, the settings are refused (consistency.py)."""
    return (dcgm_exporter.NAME,) if settings.dcgm_exporter.may_be_empty else ()


def tells_own_alertmanager(settings: Settings) -> bool:
    """Whether an Alertmanager of this stack is told what fires; a Prometheus that runs already may not tell it."""
    existing = settings.existing_prometheus
    return settings.alertmanager.mode == "managed" and (existing is None or existing.tells_our_alertmanager)


def guarded(settings: Settings) -> tuple[str, ...]:
    """Jobs whose pods are behind network policies of this stack; none applies to a pod in the node's own network."""
    modes = {
        alertmanager.NAME: settings.alertmanager.mode,
        pushgateway.NAME: settings.pushgateway.mode,
        kube_state_metrics.NAME: settings.kube_state_metrics.mode,
        SELF.job: settings.kube_state_metrics.mode,
        dcgm_exporter.NAME: settings.dcgm_exporter.mode,
        object_store.NAME: settings.object_store.mode,
        # SwanLab's own policies let in whichever Prometheus there is; the gate's know that of the stack.
        swanlab_gate.NAME: _experiment_modes(settings)[swanlab_gate.NAME],
        **_telemetry_modes(settings),
        **_grafana_mode(settings),
    }
    return tuple(name for name, mode in modes.items() if mode in ("managed", "simulated"))


def _planned(settings: Settings, page: Producer) -> int:
    """Series of a whole job. Pods of buffer, gateway and Grafana are the only targets that the settings count."""
    counted = {
        swanlab_vector.PRODUCER.job: settings.swanlab.buffer.replicas,
        otel.GATEWAY: settings.otel_collector.gateway.replicas,
        otel.SPAN_METRICS_PORT_NAME: settings.otel_collector.gateway.replicas,
        grafana.NAME: settings.grafana.replicas,
    }
    return series(page, settings.sizing, counted.get(page.job, 1))


def _exists(settings: Settings, page: Producer) -> bool:
    modes = {
        dcgm_exporter.NAME: settings.dcgm_exporter.mode,
        node_exporter.NAME: settings.node_exporter.mode,
        kube_state_metrics.NAME: settings.kube_state_metrics.mode,
        # About the program itself; an existing one may keep that port to itself.
        SELF.job: "managed" if settings.kube_state_metrics.mode == "managed" else "off",
        pushgateway.NAME: settings.pushgateway.mode,
        alertmanager.NAME: "managed" if settings.alertmanager.mode == "managed" else "off",
        **_experiment_modes(settings),
        **_telemetry_modes(settings),
        **_grafana_mode(settings),
    }
    existing = settings.existing_prometheus
    if existing is not None:
        # What it scrapes already, itself included, would be scraped twice.
        own = (prometheus.NAME, *CLUSTER_JOBS)
        modes |= {job: "managed" if job in existing.jobs else "off" for job in own}
    return modes.get(page.job) != "off" or (page.job == dcgm_exporter.NAME and bool(settings.dcgm_exporter.targets))


def _experiment_modes(settings: Settings) -> dict[str, str]:
    """Job → `managed` or `off`. A store of somebody else is theirs to watch."""
    lab = settings.swanlab
    own_clickhouse = lab.stores.clickhouse.mode == "chart"
    return {
        object_store.NAME: settings.object_store.mode,
        swanlab_gate.NAME: lab.mode if has_gate(settings) else "off",
        swanlab_vector.PRODUCER.job: lab.mode,
        swanlab_clickhouse.PRODUCER.job: lab.mode if own_clickhouse else "off",
    }


def _telemetry_modes(settings: Settings) -> dict[str, str]:
    """Job → `managed` or `off`, as above."""
    ours = {"logs": settings.logs.mode == "managed", "traces": settings.traces.mode == "managed"}
    collectors = dict.fromkeys((otel.AGENT, otel.GATEWAY, otel.SPAN_METRICS_PORT_NAME), settings.otel_collector.mode)
    stores = {
        name: "managed" if ours[signal] else "off" for signal, name in (("logs", logs.NAME), ("traces", traces.NAME))
    }
    return collectors | stores


def _grafana_mode(settings: Settings) -> dict[str, str]:
    """As above. A Grafana of somebody else is theirs to watch."""
    return {grafana.NAME: "managed" if settings.grafana.mode == "managed" else "off"}


def _telemetry_pods(settings: Settings) -> dict[str, PodTargets]:
    stack, node = settings.namespace, node_namespace_name(settings.namespace)
    agents, gateways = otel.selector(otel.AGENT, stack), otel.selector(otel.GATEWAY, stack)
    spans = otel.SPAN_METRICS_PORT_NAME
    return {
        otel.AGENT: PodTargets(namespace=node, labels=agents, port_name="metrics"),
        otel.GATEWAY: PodTargets(namespace=stack, labels=gateways, port_name="metrics"),
        spans: PodTargets(namespace=stack, labels=gateways, port_name=spans),
        logs.NAME: PodTargets(namespace=stack, labels=logs.selector(stack), port_name=logs.PORT_NAME),
        traces.NAME: PodTargets(namespace=stack, labels=traces.selector(stack), port_name="metrics"),
    }


def _pods(settings: Settings) -> dict[str, PodTargets]:
    """Job → pods, for jobs whose pods carry labels that somebody chose: this stack, or the settings."""
    stack, node = settings.namespace, node_namespace_name(settings.namespace)
    lab = swanlab_namespace_name(stack)
    found = {
        name.NAME: PodTargets(namespace=namespace, labels=name.selector(stack), port_name=name.PORT_NAME)
        for name, namespace in (
            (prometheus, stack),
            (alertmanager, stack),
            (pushgateway, stack),
            (kube_state_metrics, stack),
            (node_exporter, node),
            (dcgm_exporter, node),
            (swanlab_gate, lab),
            (grafana, stack),
        )
    }
    found[object_store.NAME] = PodTargets(
        namespace=stack, labels=object_store.selector(stack), port_name=object_store.METRICS_PORT_NAME
    )
    # The chart names its ports as it likes; their numbers are fixed.
    for job, program in _CHART_PODS.items():
        port = swanlab.METRICS_PORTS[program]
        found[job] = PodTargets(namespace=lab, labels=swanlab.pods(program), port=port)
    found |= _telemetry_pods(settings)
    state = kube_state_metrics
    found[SELF.job] = PodTargets(namespace=stack, labels=state.selector(stack), port_name=state.TELEMETRY_PORT_NAME)
    for name, section in (
        (dcgm_exporter.NAME, settings.dcgm_exporter),
        (node_exporter.NAME, settings.node_exporter),
        (kube_state_metrics.NAME, settings.kube_state_metrics),
    ):
        if section.mode == "existing" and section.existing is not None:
            found[name] = _source(section.existing)
    if settings.dcgm_exporter.mode == "off":
        del found[dcgm_exporter.NAME]
    return found


def _source(source: PodSource) -> PodTargets:
    return PodTargets(namespace=source.namespace, labels=dict(source.labels), port_name=source.port)


def _node_selector(settings: Settings, page: Producer) -> dict[str, str]:
    """Simulated GPUs are on every node. Without an exporter in the cluster, its nodes must have no GPUs either."""
    real = page.job == dcgm_exporter.NAME and settings.dcgm_exporter.mode != "simulated"
    return dict(settings.dcgm_exporter.node_selector) if real else {}
