"""From settings to the arguments of components: the one place where both are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.prometheus.args import BasicAuth, PrometheusArgs, RemoteWrite, Resources, ScrapeLimits
from signals.catalogue import PRODUCERS

if TYPE_CHECKING:
    from components.images import ImagePin
    from stacks import settings as of
    from stacks.settings import Settings


def prometheus_args(settings: Settings, images: dict[str, ImagePin]) -> PrometheusArgs:
    """Arguments of the Prometheus component. images: role → image."""
    wanted = settings.prometheus
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
        producers=PRODUCERS,
        remote_write=tuple(_store(store) for store in wanted.remote_write),
    )


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
