"""Objects that the cluster itself needs: rights of its host processes, storage class, the provisioner's settings."""

from __future__ import annotations

from typing import Any

import yaml

from sandbox.cluster.configs import PROVISIONER_NAMESPACE

STORAGE_CLASS = "plumbline-local"
READ = ["get", "list", "watch"]

_RIGHTS: dict[str, list[dict[str, Any]]] = {
    "coredns": [
        {"apiGroups": [""], "resources": ["services", "pods", "namespaces", "endpoints"], "verbs": READ},
        {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": READ},
    ],
    "network-policy": [
        {"apiGroups": [""], "resources": ["namespaces", "pods", "services", "nodes", "endpoints"], "verbs": READ},
        {"apiGroups": ["networking.k8s.io"], "resources": ["networkpolicies"], "verbs": READ},
        {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": READ},
    ],
    "provisioner": [
        {"apiGroups": [""], "resources": ["nodes", "persistentvolumeclaims", "configmaps", "pods/log"], "verbs": READ},
        {"apiGroups": [""], "resources": ["pods", "persistentvolumes"], "verbs": ["*"]},
        {"apiGroups": [""], "resources": ["endpoints", "events"], "verbs": ["*"]},
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["*"]},
        {"apiGroups": ["storage.k8s.io"], "resources": ["storageclasses"], "verbs": READ},
    ],
}


def manifests(provisioner_config: dict[str, str]) -> str:
    """All objects as one YAML stream."""
    items: list[dict[str, Any]] = []
    for name, rules in _RIGHTS.items():
        items += _role(f"plumbline:{name}", rules)
    items.append({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": PROVISIONER_NAMESPACE}})
    items.append(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "local-path-config", "namespace": PROVISIONER_NAMESPACE},
            "data": provisioner_config,
        }
    )
    items.append(
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {
                "name": STORAGE_CLASS,
                "annotations": {
                    "storageclass.kubernetes.io/is-default-class": "true",
                    "defaultVolumeType": "local",  # hostPath volumes, the default, would ignore fsGroup
                },
            },
            "provisioner": "rancher.io/local-path",
            "volumeBindingMode": "WaitForFirstConsumer",
            "reclaimPolicy": "Retain",  # a claim deleted by mistake must not take its samples with it
        }
    )
    return yaml.safe_dump_all(items)


def _role(user: str, rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": user},
            "rules": rules,
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": user},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": user},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
        },
    ]
