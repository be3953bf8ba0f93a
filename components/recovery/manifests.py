"""Recovery as Kubernetes objects: pure functions from arguments to dictionaries.

Secrets are not among them: what they hold is known to the engine alone, see identities.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from components.naming import PART_OF, labels
from components.objects import KEPT, POD_SECURITY, Manifest, config_map, metadata
from components.recovery import scratch
from components.recovery.access import access
from components.recovery.config import render
from components.recovery.jobs import cron_jobs, job_memory
from components.recovery.names import ALERTMANAGER_FILE, CONFIG, CONFIG_FILE, QUOTA, RESTORE_FILE, object_labels
from components.recovery.network import policies
from components.recovery.store import KEEPER_RESOURCES, store_manifests
from components.swanlab.quantity import size_bytes

if TYPE_CHECKING:
    from components.recovery.args import RecoveryArgs

_VERIFICATIONS: Final = 2
"""That fit into the namespace: one of the schedule, and one that a person starts."""
_OTHER_PODS: Final = 3
"""The store, one that prunes, and its successor during an update."""


def manifests(args: RecoveryArgs) -> dict[str, Manifest]:
    """Role → manifest, in the order in which they are registered: the namespace first, what runs last."""
    found = {"namespace": namespace(args), "quota": quota(args), **access(args)}
    if args.network_policies:
        found |= policies(args)
    beside = {CONFIG_FILE: render(args, "create"), RESTORE_FILE: render(args, "restore")}
    found["config-create"] = _config(args, args.swanlab_namespace, beside)
    here = {CONFIG_FILE: render(args, "recovery")}
    if args.scratch.alertmanager is not None:
        here[ALERTMANAGER_FILE] = scratch.alertmanager_config()
    found["config-recovery"] = _config(args, args.namespace, here)
    if args.target.own is not None:
        found |= store_manifests(args, args.target.own)
    return found | cron_jobs(args)


def namespace(args: RecoveryArgs) -> Manifest:
    """Recovery's namespace. Retained: deleting a namespace takes every claim in it along, outside Pulumi's view."""
    levels = {f"pod-security.kubernetes.io/{mode}": POD_SECURITY for mode in ("enforce", "audit", "warn")}
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": metadata(args.namespace, labels(PART_OF, args.instance, "namespace") | levels, annotations=KEPT),
    }


def quota(args: RecoveryArgs) -> Manifest:
    """Bounds what verifications take of the cluster, however many somebody starts."""
    own = args.target.own
    storage = sum(_mebibytes(size) for size in scratch.claims(args)) * _VERIFICATIONS
    memory = sum(_mebibytes(size) for size in job_memory(args)) * _VERIFICATIONS
    memory += _mebibytes(args.resources.memory_limit) * _OTHER_PODS
    claims = len(scratch.claims(args)) * _VERIFICATIONS
    if own is not None:
        storage += _mebibytes(own.volume)
        memory += 2 * sum(_mebibytes(limit) for limit in (own.resources.memory_limit, KEEPER_RESOURCES.memory_limit))
        claims += 1
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": metadata(QUOTA, object_labels(args.instance), args.namespace),
        "spec": {
            "hard": {
                "pods": str(_VERIFICATIONS + _OTHER_PODS),
                "limits.memory": f"{memory}Mi",
                "requests.storage": f"{storage}Mi",
                "persistentvolumeclaims": str(claims),
            }
        },
    }


def _mebibytes(size: str) -> int:
    return -(-size_bytes(size) // 2**20)


def _config(args: RecoveryArgs, where: str, files: dict[str, str]) -> Manifest:
    return config_map(CONFIG, where, object_labels(args.instance), files, {})
