"""Names and labels, computed before anything exists and shared by producers, consumers and checks."""

from __future__ import annotations

import re

from components.errors import DeployError

PART_OF = "plumbline"
MAX_NAME = 63
STACK_LABEL = f"{PART_OF}/stack"
"""Label of a claim: whose data it is, whatever the namespace is called by then."""
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_NOT_IN_LABEL = re.compile(r"[^-A-Za-z0-9_.]")


def object_name(*parts: str) -> str:
    """Kubernetes object name: the parts joined by `-`, a DNS label of at most 63 characters.

    Raises DeployError with the arithmetic; a name is never shortened, because two shortened names can be equal.
    """
    name = "-".join(parts)
    if not _NAME.fullmatch(name):
        raise DeployError(
            f"`{name}` is not a Kubernetes name: accepted are lower-case letters, digits and inner `-`; "
            f"change {' or '.join(repr(part) for part in parts)}."
        )
    if len(name) > MAX_NAME:
        sum_of_parts = " + ".join(f"{len(part)} ({part})" for part in parts)
        raise DeployError(
            f"`{name}` has {len(name)} characters, {MAX_NAME} are accepted: {sum_of_parts}, joined by `-`; shorten one."
        )
    return name


def cluster_scoped_name(namespace: str, name: str) -> str:
    """Name of an object that lies in no namespace: two stacks in one cluster must not share it."""
    return object_name(namespace, name)


def node_namespace_name(namespace: str) -> str:
    """Namespace of a stack's node agents: they need host paths, which the stack's own namespace refuses."""
    return object_name(namespace, "node")


def swanlab_namespace_name(namespace: str) -> str:
    """Namespace of SwanLab and its stores: a chart of somebody else, whose pods are not fit for the stack's own."""
    return object_name(namespace, "swanlab")


def recovery_namespace_name(namespace: str) -> str:
    """Namespace of a stack's restore points and of their verification, where no credential of a live store is."""
    return object_name(namespace, "recovery")


def logical_name(component: str, role: str) -> str:
    """Pulumi's logical name of a child. It is identity: changing one replaces the object."""
    return object_name(component, role)


def selector_labels(name: str, instance: str) -> dict[str, str]:
    """Labels that select the pods of one workload. Selectors cannot be changed later, so no version is among them."""
    return {"app.kubernetes.io/name": name, "app.kubernetes.io/instance": instance}


def labels(name: str, instance: str, component: str, version: str | None = None) -> dict[str, str]:
    """The recommended labels of Kubernetes. instance: the namespace, unique per installation in a cluster."""
    found = selector_labels(name, instance) | {
        "app.kubernetes.io/component": component,
        "app.kubernetes.io/part-of": PART_OF,
        "app.kubernetes.io/managed-by": "pulumi",
    }
    if version is not None:
        found["app.kubernetes.io/version"] = label_value(version)
    return found


def label_value(text: str) -> str:
    """The text with every character that a label cannot hold replaced, and cut to the length of a label."""
    return _NOT_IN_LABEL.sub("-", text)[:MAX_NAME].strip("-_.")


def stack_label(stack: str) -> dict[str, str]:
    """The label that marks a claim as data of a stack."""
    return {STACK_LABEL: label_value(stack)}
