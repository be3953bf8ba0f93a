"""Kubernetes labels as labels of Prometheus."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from sandbox.workloads.kube_state_metrics.model import Family, Sample
from sandbox.workloads.kube_state_metrics.objects import part

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sandbox.workloads.kube_state_metrics.model import Object

_INVALID: Final = re.compile(r"[^a-zA-Z0-9_]")
_CAMEL: Final = re.compile(r"([a-z0-9])([A-Z])")
WILDCARD: Final = "*"
"""Allows every label of a resource, when it is the first allowed key."""


def sanitise(name: str) -> str:
    """A name in which every character that Prometheus forbids is an underscore: `nvidia.com/gpu` → `nvidia_com_gpu`."""
    return _INVALID.sub("_", name)


def prometheus_labels(labels: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """`label_…` pairs in the order of the Kubernetes keys, in snake case.

    Keys that become the same name are told apart by `_conflict1`, `_conflict2`, … in that order.
    """
    keys = sorted(labels, key=str.encode)  # Go sorts by bytes
    names = ["label_" + _CAMEL.sub(r"\1_\2", sanitise(key)).lower() for key in keys]
    seen: dict[str, int] = {}
    pairs = []
    for key, name in zip(keys, names, strict=True):
        seen[name] = seen.get(name, 0) + 1
        unique = name if names.count(name) == 1 else f"{name}_conflict{seen[name]}"
        pairs.append((unique, labels[key]))
    return tuple(pairs)


def allowed(labels: Mapping[str, str], keys: tuple[str, ...]) -> dict[str, str]:
    """The labels whose keys are allowed."""
    if keys and keys[0] == WILDCARD:
        return dict(labels)
    return {key: labels[key] for key in keys if key in labels}


def labels_family(name: str, keys: tuple[str, ...]) -> Family:
    """The family that shows the allowed labels of an object; without an allowed key it has no series."""

    def samples(obj: Object) -> Iterator[Sample]:
        if keys:
            yield Sample(1.0, prometheus_labels(allowed(part(obj, "metadata", "labels"), keys)))

    return Family(name=name, help="Kubernetes labels converted to Prometheus labels.", samples=samples)
