"""Kubernetes objects as plain dictionaries: built once, read by Pulumi, golden files, policy rules and people."""

from __future__ import annotations

from typing import Any

from components.naming import PART_OF, labels

Manifest = dict[str, Any]

RETAIN = f"{PART_OF}/retain"
"""Annotation of an object that must outlive `pulumi destroy`. It is in the manifest so that policy rules can see it."""

POD_SECURITY = "restricted"


def metadata(
    name: str, object_labels: dict[str, str], namespace: str | None = None, annotations: dict[str, str] | None = None
) -> Manifest:
    """`metadata` with only the keys that have a value."""
    found: Manifest = {"name": name, "labels": object_labels}
    if namespace is not None:
        found["namespace"] = namespace
    if annotations:
        found["annotations"] = annotations
    return found


def identity(manifest: Manifest) -> str:
    """`Kind/namespace/name`, for messages and for sorting; cluster-scoped objects have no middle part."""
    meta = manifest["metadata"]
    return "/".join(part for part in (manifest["kind"], meta.get("namespace"), meta["name"]) if part)


def namespace(name: str) -> Manifest:
    """The stack's namespace. Retained: deleting a namespace takes every claim in it along, outside Pulumi's view."""
    levels = {f"pod-security.kubernetes.io/{mode}": POD_SECURITY for mode in ("enforce", "audit", "warn")}
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": metadata(name, labels(PART_OF, name, "namespace") | levels, annotations={RETAIN: "true"}),
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
