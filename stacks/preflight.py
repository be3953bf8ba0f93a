"""Everything that is asked before a change, and only asked: backend, identity, claims, Secrets, a way back, GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

from components.alertmanager.names import CLAIM as ALERTMANAGER_CLAIM
from components.grafana.names import CLAIM as GRAFANA_CLAIM
from components.logs.names import CLAIM as LOGS_CLAIM
from components.object_store.names import CLAIM as OBJECT_STORE_CLAIM
from components.otel_collector.names import claim_name
from components.prometheus.names import CLAIM as PROMETHEUS_CLAIM
from components.pushgateway.names import CLAIM as PUSHGATEWAY_CLAIM
from components.traces.names import CLAIM as TRACES_CLAIM
from stacks.backend import check_backend
from stacks.claims import check_claim, check_namespace, own_claims
from stacks.cluster import KubeReader, access
from stacks.gpus import check_gpus
from stacks.grafana_preflight import check_grafana
from stacks.identity import check_identity
from stacks.images import resolve
from stacks.object_store import check_object_store
from stacks.operator import check_operator
from stacks.recovery_gate import check_gate
from stacks.recovery_preflight import check_recovery
from stacks.root_secret import check_same_root
from stacks.secrets import check_secrets
from stacks.swanlab_arguments import roles as swanlab_roles
from stacks.swanlab_arguments import swanlab_args
from stacks.swanlab_preflight import check_swanlab

if TYPE_CHECKING:
    from stacks.cluster import Access, Reader
    from stacks.settings import Settings


def preflight(settings: Settings) -> Access:
    """Run all checks; returns how the cluster is reached. Raises DeployError at the first that fails."""
    check_backend(settings)
    where = access(settings)
    check_cluster(settings, where, KubeReader(where))
    return where


def check_cluster(settings: Settings, where: Access, reader: Reader) -> None:
    """Identity first: nothing else that a wrong cluster says is worth reading."""
    check_identity(settings, where, reader)
    for name, size in volumes(settings).items():
        check_namespace(reader, settings.stack, settings.namespace, name)
        check_claim(reader, settings.namespace, name, size, settings.storage.class_name)
    check_secrets(reader, settings)
    if settings.object_store.mode == "managed":
        check_object_store(reader, settings)
    check_grafana(reader, settings)
    if settings.swanlab.mode == "managed":
        args = swanlab_args(settings, resolve(settings.images, swanlab_roles(settings.swanlab)))
        check_same_root(settings, args.namespace, own_claims(reader, args.namespace, args.stack))
        check_swanlab(reader, args, pulumi.log.warn)
        check_gate(reader, settings, args, pulumi.log.warn)
    if settings.recovery.mode == "managed":
        check_recovery(reader, settings)
    check_gpus(reader, settings, pulumi.log.warn)
    if settings.existing_prometheus is not None:
        check_operator(reader, settings, settings.existing_prometheus, pulumi.log.warn)


def volumes(settings: Settings) -> dict[str, str]:
    """Name of each claim of the stack → the size that the settings want."""
    found: dict[str, str] = {}
    if settings.prometheus is not None:
        found[PROMETHEUS_CLAIM] = settings.prometheus.volume
    if settings.alertmanager.mode == "managed":
        found[ALERTMANAGER_CLAIM] = settings.alertmanager.volume
    if settings.pushgateway.mode == "managed":
        found[PUSHGATEWAY_CLAIM] = settings.pushgateway.volume
    if settings.object_store.mode == "managed":
        found[OBJECT_STORE_CLAIM] = settings.object_store.volume
    if settings.logs.mode == "managed":
        found[LOGS_CLAIM] = settings.logs.volume
    if settings.traces.mode == "managed":
        found[TRACES_CLAIM] = settings.traces.volume
    if settings.otel_collector.mode == "managed":
        gateway = settings.otel_collector.gateway
        found |= {claim_name(replica): gateway.volume for replica in range(gateway.replicas)}
    if settings.grafana.mode == "managed" and settings.grafana.database.kind == "sqlite":
        found[GRAFANA_CLAIM] = settings.grafana.database.volume
    return found
