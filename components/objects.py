"""Kubernetes objects as plain dictionaries: built once, read by Pulumi, golden files, policy rules and people."""

from __future__ import annotations

from typing import Any

from components.naming import PART_OF, labels, node_namespace_name

Manifest = dict[str, Any]

RETAIN = f"{PART_OF}/retain"
"""Annotation of an object that must outlive `pulumi destroy`. It is in the manifest so that policy rules can see it."""

KEPT = {RETAIN: "true", "pulumi.com/patchFieldManager": PART_OF, "pulumi.com/patchForce": "true"}
"""Annotations of what outlives the stack.

The engine names a new field manager whenever it creates an object. A stack made anew over kept objects would share
their fields with the manager of the destroyed one, and the first change of a value would be refused as a conflict.
"""

WRITTEN_BY_OTHERS = f"{PART_OF}/written-by-others"
"""Annotation of an object of which the stack writes the first content alone: its fields, joined by commas."""

CONFIG_UID = f"{PART_OF}/config-uid"
DEBUG_UID = f"{PART_OF}/debug-uid"
"""Annotations of pods that read their configuration once: uids of the ConfigMaps that they were made for."""

POD_SECURITY = "restricted"
NODE_POD_SECURITY = "privileged"
"""Pod Security Admission refuses host paths at both lower levels, whatever they are mounted for."""

CRITICAL = "system-node-critical"
"""Priority of an agent that every node must have: it is scheduled and kept before anything that it measures."""


def metadata(
    name: str, object_labels: dict[str, str], namespace: str | None = None, annotations: dict[str, str] | None = None
) -> Manifest:
    """`metadata` with only the keys that have a value."""
    found: Manifest = {"name": name, "labels": object_labels}
    if namespace is not None:
        found["namespace"] = namespace
    if annotations:
        found["annotations"] = dict(annotations)
    return found


def identity(manifest: Manifest) -> str:
    """`Kind/namespace/name`, for messages and for sorting; cluster-scoped objects have no middle part."""
    meta = manifest["metadata"]
    return "/".join(part for part in (manifest["kind"], meta.get("namespace"), meta["name"]) if part)


def namespace(name: str, selected_by: dict[str, str] | None = None) -> Manifest:
    """The stack's namespace. Retained: deleting a namespace takes every claim in it along, outside Pulumi's view.

    selected_by: further labels, by which somebody else selects it.
    """
    found = _namespace(name, name, POD_SECURITY)
    found["metadata"]["labels"] = {**(selected_by or {}), **found["metadata"]["labels"]}
    return found


def node_namespace(instance: str) -> Manifest:
    """The namespace of node agents beside the stack's namespace `instance`.

    It holds no state. It is retained like every other: whatever else somebody put there would go with it.
    """
    return _namespace(node_namespace_name(instance), instance, NODE_POD_SECURITY)


def _namespace(name: str, instance: str, level: str) -> Manifest:
    levels = {f"pod-security.kubernetes.io/{mode}": level for mode in ("enforce", "audit", "warn")}
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": metadata(name, labels(PART_OF, instance, "namespace") | levels, annotations=KEPT),
    }


def critical_pods_quota(instance: str) -> Manifest:
    """Lets pods of priority CRITICAL into the node namespace where an admission plugin asks for a quota that names it.

    GKE does so outside kube-system. The number is no limit in practice: one pod per node and agent.
    """
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": metadata("critical-pods", labels(PART_OF, instance, "node-agents"), node_namespace_name(instance)),
        "spec": {
            "hard": {"pods": "100k"},
            "scopeSelector": {
                "matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": [CRITICAL]}]
            },
        },
    }


def config_map(
    name: str, namespace: str, object_labels: dict[str, str], data: dict[str, str], annotations: dict[str, str]
) -> Manifest:
    """A ConfigMap of text files. data: file name → content."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(name, object_labels, namespace, annotations),
        "data": data,
    }
