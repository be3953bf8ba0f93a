"""Proves that the cluster which answers is the one that the stack names, before anything is changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.errors import DeployError

if TYPE_CHECKING:
    from stacks.cluster import Access, Reader
    from stacks.settings import Settings

IDENTITY_NAMESPACE = "kube-system"
"""Its uid is made when the cluster is, never changes, and every account that deploys may read it."""


def check_identity(settings: Settings, where: Access, reader: Reader) -> None:
    """Compare the uid in the settings with the cluster's own.

    Raises DeployError with the uid seen and the line to add if the settings have none, with both uids if they differ.
    """
    seen, expected = reader.namespace_uid(IDENTITY_NAMESPACE), settings.cluster.uid
    behind = f"the cluster behind context `{where.context}` of {where.kubeconfig}"
    fix = f"pulumi config set --path 'plumbline:cluster.uid' {seen} --stack {settings.stack}"
    if expected is None:
        raise DeployError(
            f"stack {settings.stack} does not say which cluster it belongs to; {behind} has uid {seen}. If that is the "
            f"one, record it, then run again:\n  {fix}\nor in stacks/Pulumi.{settings.stack}.yaml:\n"
            f"  plumbline:cluster:\n    uid: {seen}"
        )
    if seen != expected:
        raise DeployError(
            f"wrong cluster: stack {settings.stack} belongs to uid {expected} (plumbline:cluster.uid), but {behind} "
            f"has uid {seen}; nothing was changed. Fix: name the right context or kubeconfig. Only if the cluster was "
            f"made anew and its data is known to be gone:\n  {fix}"
        )
