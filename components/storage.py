"""Persistent volume claims as objects of their own."""

from __future__ import annotations

from typing import Final

from components.naming import PART_OF
from components.objects import KEPT, Manifest, metadata

GENERATION: Final = f"{PART_OF}/generation"
"""Annotation: which generation of a password the data of a claim was given, or a pod was started with."""


def claim(
    name: str,
    namespace: str,
    object_labels: dict[str, str],
    size: str,
    storage_class: str | None,
    *,
    generation: int | None = None,
) -> Manifest:
    """A claim for one writer, named by the workload instead of templated in it.

    A `volumeClaimTemplate` cannot be changed and its claim belongs to no state; this one can grow, is compared with
    the settings, and stays when the workload is replaced or the stack destroyed. size: Kubernetes quantity.
    storage_class: None means the cluster's default class. generation: of the password that its data is given, None
    where it knows none of ours.

    `skipAwait`: a class that binds on first consumer leaves the claim pending until the pod exists, and waiting for
    it can hang an update. The smoke suite asserts that every claim is bound.
    """
    spec: Manifest = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": size}},
        "volumeMode": "Filesystem",
    }
    if storage_class is not None:
        spec["storageClassName"] = storage_class
    annotations = {"pulumi.com/skipAwait": "true", **KEPT}
    if generation is not None:
        annotations[GENERATION] = str(generation)
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata(name, object_labels, namespace, annotations),
        "spec": spec,
    }
