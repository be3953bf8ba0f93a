"""Every resource that the stand-in knows, by the name that `--resources` takes."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from sandbox.workloads.kube_state_metrics.families.batch import CRONJOBS, JOBS
from sandbox.workloads.kube_state_metrics.families.namespaces import NAMESPACES, RESOURCE_QUOTAS
from sandbox.workloads.kube_state_metrics.families.nodes import NODES
from sandbox.workloads.kube_state_metrics.families.pods import PODS
from sandbox.workloads.kube_state_metrics.families.sets import DAEMONSETS, DEPLOYMENTS, STATEFULSETS
from sandbox.workloads.kube_state_metrics.families.volumes import VOLUME_CLAIMS, VOLUMES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sandbox.workloads.kube_state_metrics.model import Resource

RESOURCES: Final[Mapping[str, Resource]] = MappingProxyType(
    {
        resource.name: resource
        for resource in (
            CRONJOBS,
            DAEMONSETS,
            DEPLOYMENTS,
            JOBS,
            NAMESPACES,
            NODES,
            VOLUME_CLAIMS,
            VOLUMES,
            PODS,
            RESOURCE_QUOTAS,
            STATEFULSETS,
        )
    }
)
"""All are among upstream's defaults. Upstream writes them in the order of their names, and so does this."""
