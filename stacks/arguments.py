"""From settings to the arguments of components: the one place where both are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from components.alertmanager import names as am
from components.alertmanager.args import AlertmanagerArgs, Receiver, Webhook
from components.existing_prometheus.args import ExistingPrometheusArgs
from components.naming import recovery_namespace_name, swanlab_namespace_name
from components.prometheus.args import (
    AlertmanagerTarget,
    BasicAuth,
    PrometheusArgs,
    RemoteWrite,
    Resources,
    ScrapeLimits,
)
from components.pushgateway.args import PushgatewayArgs
from components.scrape import PodTargets
from components.secrets import Existing
from signals.routing import RECEIVERS
from stacks.scraping import guarded, rule_inputs, scrape_jobs

if TYPE_CHECKING:
    from components.images import ImagePin
    from stacks import alerting
    from stacks import settings as of
    from stacks.existing import ExistingPrometheus
    from stacks.settings import Settings

_ALERTMANAGER_RESOURCES = Resources(cpu_request="20m", memory_request="64Mi", memory_limit="256Mi")
_PUSHGATEWAY_RESOURCES = Resources(cpu_request="10m", memory_request="32Mi", memory_limit="256Mi")


def prometheus_args(settings: Settings, images: dict[str, ImagePin]) -> PrometheusArgs:
    """Arguments of the Prometheus component, where the stack has one. images: role → image."""
    wanted = cast("of.Prometheus", settings.prometheus)
    jobs = scrape_jobs(settings)
    return PrometheusArgs(
        stack=settings.stack,
        namespace=settings.namespace,
        cluster=settings.cluster.name,
        environment=settings.cluster.environment,
        image=images["prometheus"],
        retention=wanted.retention,
        retention_size=wanted.retention_size,
        volume=wanted.volume,
        storage_class=settings.storage.class_name,
        scrape_interval=wanted.scrape_interval,
        scrape_timeout=wanted.scrape_timeout,
        limits=ScrapeLimits(**wanted.limits.model_dump()),
        resources=_resources(wanted.resources),
        verify_kubelets=settings.kubelet.tls == "verify",
        network_policies=settings.network.policies,
        jobs=jobs,
        rules=rule_inputs(settings, jobs),
        alertmanagers=_alertmanagers(settings),
        remote_write=tuple(_store(store) for store in wanted.remote_write),
    )


def existing_prometheus_args(settings: Settings, wanted: ExistingPrometheus) -> ExistingPrometheusArgs:
    """Arguments of what a Prometheus that runs already is given."""
    jobs = scrape_jobs(settings)
    return ExistingPrometheusArgs(
        namespace=settings.namespace,
        prometheus_namespace=wanted.namespace,
        labels=dict(wanted.labels),
        service_account=wanted.service_account,
        cluster=settings.cluster.name,
        environment=settings.cluster.environment,
        interval=wanted.interval,
        timeout=wanted.timeout,
        limits=ScrapeLimits(**wanted.limits.model_dump()),
        verify_kubelets=settings.kubelet.tls == "verify",
        jobs=jobs,
        rules=rule_inputs(settings, jobs),
        opened=guarded(settings) if settings.network.policies else (),
    )


def alertmanager_args(settings: Settings, images: dict[str, ImagePin]) -> AlertmanagerArgs:
    """Arguments of the Alertmanager component. images: role → image."""
    wanted = settings.alertmanager
    return AlertmanagerArgs(
        stack=settings.stack,
        namespace=settings.namespace,
        image=images["alertmanager"],
        volume=wanted.volume,
        storage_class=settings.storage.class_name,
        retention=wanted.retention,
        resources=_ALERTMANAGER_RESOURCES,
        network_policies=settings.network.policies,
        receivers=tuple(
            Receiver(name=name, webhooks=tuple(_webhook(hook) for hook in getattr(wanted.receivers, name)))
            for name in RECEIVERS
        ),
        external_url=wanted.external_url,
    )


def pushgateway_args(settings: Settings, images: dict[str, ImagePin]) -> PushgatewayArgs:
    """Arguments of the Pushgateway component. images: role → image."""
    return PushgatewayArgs(
        stack=settings.stack,
        namespace=settings.namespace,
        image=images["pushgateway"],
        volume=settings.pushgateway.volume,
        storage_class=settings.storage.class_name,
        resources=_PUSHGATEWAY_RESOURCES,
        network_policies=settings.network.policies,
        push_from=(*settings.pushgateway.push_from, *_recovery_namespaces(settings)),
    )


def _recovery_namespaces(settings: Settings) -> tuple[str, ...]:
    """Where jobs of recovery run, which push what they did."""
    if settings.recovery.mode == "off":
        return ()
    return (swanlab_namespace_name(settings.namespace), recovery_namespace_name(settings.namespace))


def _alertmanagers(settings: Settings) -> tuple[AlertmanagerTarget, ...]:
    wanted = settings.alertmanager
    if wanted.mode == "managed":
        pods = PodTargets(namespace=settings.namespace, labels=am.selector(settings.namespace), port_name=am.PORT_NAME)
        return (AlertmanagerTarget(pods=pods),)
    return tuple(AlertmanagerTarget(address=found.address, scheme=found.scheme) for found in wanted.existing)


def _webhook(wanted: alerting.Webhook) -> Webhook:
    return Webhook(
        url=wanted.url,
        url_secret=_entry(wanted.url_secret),
        token=_entry(wanted.token),
        send_resolved=wanted.send_resolved,
    )


def _entry(wanted: alerting.SecretEntry | None) -> Existing | None:
    return None if wanted is None else Existing(name=wanted.name, key=wanted.key)


def _resources(wanted: of.Resources) -> Resources:
    return Resources(
        cpu_request=wanted.requests.cpu,
        memory_request=wanted.requests.memory,
        memory_limit=wanted.limits.memory,
        cpu_limit=wanted.limits.cpu,
    )


def _store(wanted: of.RemoteWrite) -> RemoteWrite:
    auth = None
    if wanted.secret is not None:
        auth = BasicAuth(
            secret=wanted.secret.name,
            username_key=wanted.secret.username_key,
            password_key=wanted.secret.password_key,
        )
    return RemoteWrite(name=wanted.name, url=wanted.url, basic_auth=auth)
