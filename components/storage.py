"""Persistent volume claims as objects of their own."""

from __future__ import annotations

from components.objects import RETAIN, Manifest, metadata


def claim(name: str, namespace: str, object_labels: dict[str, str], size: str, storage_class: str | None) -> Manifest:
    """A claim for one writer, named by the workload instead of templated in it.

    A `volumeClaimTemplate` cannot be changed and its claim belongs to no state; this one can grow, is compared with
    the settings, and stays when the workload is replaced or the stack destroyed. size: Kubernetes quantity.
    storage_class: None means the cluster's default class.

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
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata(name, object_labels, namespace, {"pulumi.com/skipAwait": "true", RETAIN: "true"}),
        "spec": spec,
    }
