"""Systems of a stack, one function each: what settings make of a component, and what the contract promises of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

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
from components.kube_state_metrics import names as ksm
from components.kube_state_metrics.component import KubeStateMetrics
from components.kube_state_metrics.manifests import manifests as ksm_manifests
from components.node_exporter import names as node
from components.node_exporter.component import NodeExporter
from components.node_exporter.manifests import manifests as node_manifests
from components.prometheus import names as prom
from components.prometheus.component import Prometheus
from components.prometheus.config import render as render_prometheus
from components.prometheus.lint import lint as lint_prometheus
from components.prometheus.manifests import manifests as prometheus_manifests
from components.pushgateway import names as push
from components.pushgateway.component import Pushgateway
from components.pushgateway.manifests import manifests as pushgateway_manifests
from stacks import arguments, exporter_arguments
from stacks.contract import Claim, Component, Endpoint, Image, Workload
from stacks.scraping import may_be_empty

if TYPE_CHECKING:
    from collections.abc import Callable

    import pulumi

    from components.images import ImagePin
    from components.objects import Manifest
    from stacks.existing import ExistingPrometheus as Wanted
    from stacks.settings import Settings

Images = dict[str, "ImagePin"]


@dataclass(frozen=True, kw_only=True)
class System:
    """One component as decided, before anything of it exists.

    manifests: role → manifest. promise: its part of the contract. register: makes the Pulumi component. lint: judges
    the rendered configuration with the program's own tool; raises DeployError.
    """

    name: str
    manifests: dict[str, Manifest]
    promise: Component
    register: Callable[[pulumi.ResourceOptions], object]
    lint: Callable[[], None] = field(default=lambda: None)


def roles(settings: Settings) -> tuple[str, ...]:
    """Images that the stack needs, by role; each role is the name of the component that runs it."""
    sections = {
        prom.NAME: "managed" if settings.prometheus is not None else "existing",
        am.NAME: settings.alertmanager.mode,
        push.NAME: settings.pushgateway.mode,
        ksm.NAME: settings.kube_state_metrics.mode,
        node.NAME: settings.node_exporter.mode,
        dcgm.NAME: settings.dcgm_exporter.mode,
    }
    return tuple(name for name, mode in sections.items() if mode in ("managed", "simulated"))


def systems(settings: Settings, images: Images) -> tuple[System, ...]:
    """Every system of the stack, in the order of registration. images: role → image, for `roles`."""
    made = tuple(_MAKERS[role](settings, images) for role in roles(settings))
    wanted = settings.existing_prometheus
    return made if wanted is None else (_existing_prometheus(settings, wanted), *made)


def _prometheus(settings: Settings, images: Images) -> System:
    args = arguments.prometheus_args(settings, images)
    rendered = render_prometheus(args)
    promise = Component(
        tier=_tier(args.image),
        workloads=(_workload("StatefulSet", prom.NAME, 1, prom.NAME, args.image),),
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
    )


def _alertmanager(settings: Settings, images: Images) -> System:
    args = arguments.alertmanager_args(settings, images)
    rendered = render_alertmanager(args)
    endpoints = {"http": Endpoint(service=am.NAME, port=am.PORT)}
    sink = settings.alertmanager.sink
    if sink is not None:
        endpoints["sink"] = Endpoint(service=sink.service, namespace=sink.namespace, port=sink.port)
    promise = Component(
        tier=_tier(args.image),
        workloads=(_workload("StatefulSet", am.NAME, 1, am.NAME, args.image),),
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
        tier=_tier(args.image),
        workloads=(_workload("StatefulSet", push.NAME, 1, push.NAME, args.image),),
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
        tier=_tier(args.image),
        workloads=(_workload("Deployment", ksm.NAME, 1, ksm.CONTAINER, args.image),),
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
        tier=_tier(args.image),
        namespace=args.namespace,
        workloads=(_workload("DaemonSet", node.NAME, None, node.CONTAINER, args.image),),
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
        workloads=(_workload("DaemonSet", dcgm.NAME, least, dcgm.CONTAINER, args.image),),
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
}


def _workload(
    kind: Literal["StatefulSet", "Deployment", "DaemonSet"],
    name: str,
    replicas: int | None,
    container: str,
    image: ImagePin,
) -> Workload:
    pinned = Image(container=container, reference=image.reference, image_id=image.image_id)
    return Workload(kind=kind, name=name, replicas=replicas, images=(pinned,))


def _tier(image: ImagePin) -> Literal["simulated", "live"]:
    return "simulated" if image.stand_in else "live"
