"""The outputs contract of a stack: what it promises, so that the smoke suite can hold it to that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.alertmanager.config import receivers
from components.otel_collector.names import AGENT
from stacks.arguments import alertmanager_args
from stacks.checks import expected
from stacks.contract import Capability, Cluster, Contract
from stacks.experiment_systems import promised_buckets
from stacks.grafana_systems import promised as promised_grafana
from stacks.recovery_arguments import promised as promised_recovery
from stacks.recovery_arguments import recovery_args
from stacks.scraping import promised_jobs, rule_inputs, scrape_jobs, tells_own_alertmanager
from stacks.swanlab_arguments import experiments
from stacks.telemetry_systems import agents, telemetry

if TYPE_CHECKING:
    from components.images import ImagePin
    from stacks.settings import Settings
    from stacks.system import System


def contract(settings: Settings, images: dict[str, ImagePin], systems: tuple[System, ...]) -> Contract:
    """The contract. images: role → image. A throw-away stack allows disruption; node access is a setting."""
    jobs = scrape_jobs(settings)
    found = capabilities(settings)
    components = {system.name: system.promise for system in systems}
    if "telemetry" in found:
        components[AGENT] = agents(settings, images)
    return Contract(
        stack=settings.stack,
        cluster=Cluster(
            uid=settings.cluster.uid or "",
            context=settings.cluster.context or "",
            name=settings.cluster.name,
            environment=settings.cluster.environment,
        ),
        namespace=settings.namespace,
        capabilities=found,
        components=components,
        scrape=promised_jobs(settings, jobs),
        rules=rule_inputs(settings, jobs),
        receivers=receivers(alertmanager_args(settings, images)) if "alerting" in found else (),
        experiments=experiments(settings, images) if "experiments" in found else None,
        object_store=promised_buckets(settings) if "object-store" in found else None,
        recovery=promised_recovery(recovery_args(settings, images), settings) if "recovery" in found else None,
        telemetry=telemetry(settings, images, components) if {"telemetry", "logs", "traces"} & set(found) else None,
        grafana=promised_grafana(settings),
        expected_checks=expected(found),
    )


def capabilities(settings: Settings) -> tuple[Capability, ...]:
    """What may be checked on this stack, in the order of CAPABILITIES in the contract."""
    gpus = settings.dcgm_exporter.mode != "off" or bool(settings.dcgm_exporter.targets)
    alerting = tells_own_alertmanager(settings)
    claimed: dict[Capability, bool] = {
        "metrics": True,
        "prometheus-managed": settings.prometheus is not None,
        "gpu": gpus,
        "kube-state": settings.kube_state_metrics.mode != "off",
        "alerting": alerting,
        "alert-sink": alerting and settings.alertmanager.sink is not None,
        "push": settings.pushgateway.mode == "managed",
        "object-store": settings.object_store.mode == "managed",
        "experiments": settings.swanlab.mode == "managed",
        "experiments-pod": settings.swanlab.mode == "managed"
        and (settings.images.source == "file" or settings.swanlab.sdk_image is not None),
        "recovery": settings.recovery.mode == "managed",
        "telemetry": settings.otel_collector.mode == "managed",
        "logs": settings.logs.mode == "managed",
        "traces": settings.traces.mode == "managed",
        "grafana": settings.grafana.mode == "managed",
        "node-access": settings.cluster.node_access,
        "disruptive": settings.profile == "throwaway",
    }
    return tuple(name for name, there in claimed.items() if there)
