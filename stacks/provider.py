"""The one Kubernetes provider of a stack."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi_kubernetes as k8s

if TYPE_CHECKING:
    from stacks.cluster import Access
    from stacks.settings import Settings


def kubernetes_provider(settings: Settings, where: Access) -> k8s.Provider:
    """A provider for exactly the cluster that the preflight has identified.

    The identifier is the cluster's uid: without one, Pulumi guesses from the kubeconfig whether the cluster is still
    the same, and a guess can end in replacing everything. ConfigMaps and Secrets are mutable, because replacing one
    means deleting it while pods use it.
    """
    return k8s.Provider(
        "kubernetes",
        kubeconfig=str(where.kubeconfig),
        context=where.context,
        cluster_identifier=settings.cluster.uid,
        enable_server_side_apply=True,
        enable_config_map_mutable=True,
        enable_secret_mutable=True,
    )
