"""Everything that is asked before a change, and only asked: backend, cluster identity, live claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.prometheus.names import CLAIM
from stacks.backend import check_backend
from stacks.claims import check_claim, check_namespace
from stacks.cluster import KubeReader, access
from stacks.identity import check_identity

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
    check_namespace(reader, settings.stack, settings.namespace, CLAIM)
    wanted = settings.prometheus.volume
    check_claim(reader, settings.namespace, CLAIM, wanted, settings.storage.class_name)
