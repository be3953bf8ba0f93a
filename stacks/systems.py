"""Systems of a stack, one function each: what settings make of a component, and what the contract promises of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.alertmanager import names as am
from components.alertmanager.component import Alertmanager
from components.alertmanager.config import render as render_alertmanager
from components.alertmanager.lint import lint as lint_alertmanager
from components.alertmanager.manifests import manifests as alertmanager_manifests
from components.dcgm_exporter import names as dcgm
from components.dcgm_exporter.component import DcgmExporter
from components.dcgm_exporter.manifests import manifests as dcgm_manifests
from components.existing_prometheus import names as existing
from components.existing_prometheus.component import ExistingPrometheus
from components.existing_prometheus.lint import lint as lint_existing
from components.existing_prometheus.manifests import render as render_existing
from components.grafana.names import NAME as GRAFANA
from components.kube_state_metrics import names as ksm
from components.kube_state_metrics.component import KubeStateMetrics
from components.kube_state_metrics.manifests import manifests as ksm_manifests
from components.logs.names import NAME as LOGS
from components.node_exporter import names as node
from components.node_exporter.component import NodeExporter
from components.node_exporter.manifests import manifests as node_manifests
from components.object_store.names import NAME as OBJECT_STORE
from components.otel_collector.names import COMPONENT as COLLECTOR
from components.prometheus import names as prom
from components.prometheus.component import Prometheus
from components.prometheus.config import render as render_prometheus
from components.prometheus.lint import lint as lint_prometheus
from components.prometheus.manifests import manifests as prometheus_manifests
from components.pushgateway import names as push
from components.pushgateway.component import Pushgateway
from components.pushgateway.manifests import manifests as pushgateway_manifests
from components.recovery.names import NAME as RECOVERY
from components.swanlab.names import NAME as SWANLAB
from components.swanlab_gate.names import NAME as SWANLAB_GATE
from components.traces.names import NAME as TRACES
from stacks import arguments, exporter_arguments
from stacks.contract import Claim, Component, Endpoint
from stacks.experiment_systems import has_gate, named_images, object_store, swanlab, swanlab_gate
from stacks.grafana_systems import existing_grafana, managed_grafana
from stacks.recovery_arguments import roles as recovery_roles
from stacks.recovery_systems import recovery
from stacks.scraping import may_be_empty
from stacks.swanlab_arguments import SDK_ROLE
from stacks.swanlab_arguments import roles as swanlab_roles
from stacks.system import System, tier, workload
from stacks.telemetry_systems import collector, log_store, trace_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from stacks.existing import ExistingPrometheus as Wanted
    from stacks.settings import Settings
    from stacks.system import Images


def roles(settings: Settings) -> tuple[str, ...]:
    """Images that the stack needs and the settings do not name, by role: of a component with one image, its name."""
    ours = tuple(name for name in components(settings) if name not in (SWANLAB, *named_images(settings)))
    built = (SDK_ROLE,) if settings.swanlab.mode != "off" and settings.images.source == "file" else ()
    return tuple(dict.fromkeys((*ours, *swanlab_roles(settings.swanlab), *built, *recovery_roles(settings))))


def components(settings: Settings) -> tuple[str, ...]:
    """Names of the components that the stack deploys, in the order of registration."""
    sections = {
        prom.NAME: "managed" if settings.prometheus is not None else "existing",
        am.NAME: settings.alertmanager.mode,
        push.NAME: settings.pushgateway.mode,
        ksm.NAME: settings.kube_state_metrics.mode,
        node.NAME: settings.node_exporter.mode,
        dcgm.NAME: settings.dcgm_exporter.mode,
        OBJECT_STORE: settings.object_store.mode,
        SWANLAB: settings.swanlab.mode,
        SWANLAB_GATE: settings.swanlab.mode if has_gate(settings) else "off",
        RECOVERY: settings.recovery.mode,
        LOGS: settings.logs.mode,
        TRACES: settings.traces.mode,
        COLLECTOR: settings.otel_collector.mode,
        GRAFANA: settings.grafana.mode,
    }
    return tuple(name for name, mode in sections.items() if mode in ("managed", "simulated"))


def systems(settings: Settings, images: Images) -> tuple[System, ...]:
    """Every system of the stack, in the order of registration. images: role → image, for `roles`."""
    made = tuple(_MAKERS[name](settings, images) for name in components(settings))
    if settings.grafana.existing is not None:
        made = (*made, existing_grafana(settings, settings.grafana.existing))
    wanted = settings.existing_prometheus
    if wanted is None:
        return made
    existing_one = _existing_prometheus(settings, wanted)
    return (*made, existing_one) if existing_one.after else (existing_one, *made)


def _prometheus(settings: Settings, images: Images) -> System:
    args = arguments.prometheus_args(settings, images)
    rendered = render_prometheus(args)
    promise = Component(
        tier=tier(args.image),
        workloads=(workload("StatefulSet", prom.NAME, 1, prom.NAME, args.image),),
        claims=(Claim(name=prom.CLAIM, size=args.volume, mounted_at=prom.DATA_PATH),),
        endpoints={"http": Endpoint(service=prom.NAME, port=prom.PORT)},
        revision=rendered.revision,
        flags=prom.FLAGS,
    )
    return System(
        name=prom.NAME,
        manifests=prometheus_manifests(args, rendered),
        promise=promise,
        register=lambda opts: Prometheus(prom.NAME, args, opts),
        lint=lambda: lint_prometheus(rendered.files),
    )


def _existing_prometheus(settings: Settings, wanted: Wanted) -> System:
    """Part of the contract as `prometheus`, like one of our own: who asks it must not care whose it is."""
    args = arguments.existing_prometheus_args(settings, wanted)
    rendered = render_existing(args)
    asked = Endpoint(
        service=wanted.service, namespace=wanted.namespace, port=wanted.port, scheme=wanted.scheme, url=wanted.url
    )
    promise = Component(
        tier="live",
        managed=False,
        namespace=wanted.namespace,
        endpoints={"http": asked},
        revision=rendered.revision,
    )
    return System(
        name=prom.NAME,
        manifests=rendered.manifests,
        promise=promise,
        register=lambda opts: ExistingPrometheus(existing.NAME, args, opts),
        lint=lambda: lint_existing(rendered.rule_files),
        # Its right to find pods lies in their namespace, and SwanLab brings its own.
        after=(SWANLAB,) if settings.swanlab.mode == "managed" else (),
    )


def _alertmanager(settings: Settings, images: Images) -> System:
    args = arguments.alertmanager_args(settings, images)
    rendered = render_alertmanager(args)
    endpoints = {"http": Endpoint(service=am.NAME, port=am.PORT)}
    sink = settings.alertmanager.sink
    if sink is not None:
        endpoints["sink"] = Endpoint(service=sink.service, namespace=sink.namespace, port=sink.port)
    promise = Component(
        tier=tier(args.image),
        workloads=(workload("StatefulSet", am.NAME, 1, am.NAME, args.image),),
        claims=(Claim(name=am.CLAIM, size=args.volume, mounted_at=am.DATA_PATH),),
        endpoints=endpoints,
        revision=rendered.revision,
    )
    return System(
        name=am.NAME,
        manifests=alertmanager_manifests(args, rendered),
        promise=promise,
        register=lambda opts: Alertmanager(am.NAME, args, opts),
        lint=lambda: lint_alertmanager(args, rendered),
    )


def _pushgateway(settings: Settings, images: Images) -> System:
    args = arguments.pushgateway_args(settings, images)
    promise = Component(
        tier=tier(args.image),
        workloads=(workload("StatefulSet", push.NAME, 1, push.NAME, args.image),),
        claims=(Claim(name=push.CLAIM, size=args.volume, mounted_at=push.DATA_PATH),),
        endpoints={"http": Endpoint(service=push.NAME, port=push.PORT)},
        flags=push.FLAGS,
    )
    return System(
        name=push.NAME,
        manifests=pushgateway_manifests(args),
        promise=promise,
        register=lambda opts: Pushgateway(push.NAME, args, opts),
    )


def _kube_state_metrics(settings: Settings, images: Images) -> System:
    args = exporter_arguments.kube_state_metrics_args(settings, images)
    promise = Component(
        tier=tier(args.image),
        workloads=(workload("Deployment", ksm.NAME, 1, ksm.CONTAINER, args.image),),
        endpoints={"http": Endpoint(service=ksm.NAME, port=ksm.PORT)},
    )
    return System(
        name=ksm.NAME,
        manifests=ksm_manifests(args),
        promise=promise,
        register=lambda opts: KubeStateMetrics(ksm.NAME, args, opts),
    )


def _node_exporter(settings: Settings, images: Images) -> System:
    args = exporter_arguments.node_exporter_args(settings, images)
    promise = Component(
        tier=tier(args.image),
        namespace=args.namespace,
        workloads=(workload("DaemonSet", node.NAME, None, node.CONTAINER, args.image),),
    )
    return System(
        name=node.NAME,
        manifests=node_manifests(args),
        promise=promise,
        register=lambda opts: NodeExporter(node.NAME, args, opts),
    )


def _dcgm_exporter(settings: Settings, images: Images) -> System:
    args = exporter_arguments.dcgm_exporter_args(settings, images)
    least = 0 if dcgm.NAME in may_be_empty(settings) else None
    promise = Component(
        tier="gpu" if settings.dcgm_exporter.mode == "managed" and not args.image.stand_in else "simulated",
        namespace=args.namespace,
        workloads=(workload("DaemonSet", dcgm.NAME, least, dcgm.CONTAINER, args.image),),
    )
    return System(
        name=dcgm.NAME,
        manifests=dcgm_manifests(args),
        promise=promise,
        register=lambda opts: DcgmExporter(dcgm.NAME, args, opts),
    )


_MAKERS: dict[str, Callable[[Settings, Images], System]] = {
    prom.NAME: _prometheus,
    am.NAME: _alertmanager,
    push.NAME: _pushgateway,
    ksm.NAME: _kube_state_metrics,
    node.NAME: _node_exporter,
    dcgm.NAME: _dcgm_exporter,
    OBJECT_STORE: object_store,
    SWANLAB: swanlab,
    SWANLAB_GATE: swanlab_gate,
    RECOVERY: recovery,
    LOGS: log_store,
    TRACES: trace_store,
    COLLECTOR: collector,
    GRAFANA: managed_grafana,
}
