"""Prometheus as Kubernetes objects: pure functions from arguments to dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.naming import cluster_scoped_name, stack_label
from components.network import allow_ingress
from components.objects import Manifest, config_map, metadata
from components.prometheus.names import (
    CLAIM,
    CONFIG_MAP,
    HEADLESS_SERVICE,
    NAME,
    PORT,
    PORT_NAME,
    object_labels,
    selector,
)
from components.prometheus.pod import pod_spec
from components.storage import claim

if TYPE_CHECKING:
    from components.prometheus.args import PrometheusArgs
    from components.prometheus.config import Rendered

_RBAC = "rbac.authorization.k8s.io"
REVISION_ANNOTATION = "plumbline/config-revision"


def manifests(args: PrometheusArgs, rendered: Rendered) -> dict[str, Manifest]:
    """Role of the object in the component → manifest, in the order in which they are registered."""
    found = {
        "service-account": _service_account(args),
        "cluster-role": _cluster_role(args),
        "cluster-role-binding": _cluster_role_binding(args),
        "config": _config(args, rendered),
        "data": _data(args),
        "service": _service(args, NAME, {}),
        # Not ready addresses too: it names pods, and a pod has its name before it is ready.
        "service-headless": _service(args, HEADLESS_SERVICE, {"clusterIP": "None", "publishNotReadyAddresses": True}),
        "stateful-set": _stateful_set(args),
    }
    if args.network_policies:
        labels_ = object_labels(args.namespace)
        found["network-policy"] = allow_ingress(NAME, args.namespace, labels_, selector(args.namespace), (PORT,))
    return found


def _service_account(args: PrometheusArgs) -> Manifest:
    """The token is mounted by the one pod that asks for it, not by whatever else uses the account."""
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata(NAME, object_labels(args.namespace), args.namespace),
        "automountServiceAccountToken": False,
    }


def _cluster_role(args: PrometheusArgs) -> Manifest:
    """Reading what discovery needs, the metrics of kubelets and the API server; nothing that changes anything."""
    read = ["get", "list", "watch"]
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": metadata(cluster_scoped_name(args.namespace, NAME), object_labels(args.namespace)),
        "rules": [
            {"apiGroups": [""], "resources": ["nodes", "pods", "services"], "verbs": read},
            {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": read},
            {"apiGroups": [""], "resources": ["nodes/metrics"], "verbs": ["get"]},
            {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
        ],
    }


def _cluster_role_binding(args: PrometheusArgs) -> Manifest:
    name = cluster_scoped_name(args.namespace, NAME)
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": metadata(name, object_labels(args.namespace)),
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": args.namespace}],
    }


def _config(args: PrometheusArgs, rendered: Rendered) -> Manifest:
    return config_map(
        CONFIG_MAP,
        args.namespace,
        object_labels(args.namespace),
        rendered.files,
        {REVISION_ANNOTATION: rendered.revision},
    )


def _data(args: PrometheusArgs) -> Manifest:
    """Marked with the stack, so that a changed namespace is seen before it leaves the data behind."""
    marked = object_labels(args.namespace) | stack_label(args.stack)
    return claim(CLAIM, args.namespace, marked, args.volume, args.storage_class)


def _service(args: PrometheusArgs, name: str, extra: Manifest) -> Manifest:
    """`skipAwait`: waiting for ready endpoints would only repeat the wait for the StatefulSet."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(name, object_labels(args.namespace), args.namespace, {"pulumi.com/skipAwait": "true"}),
        "spec": {
            "type": "ClusterIP",
            **extra,
            "selector": selector(args.namespace),
            "ports": [{"name": PORT_NAME, "port": PORT, "targetPort": PORT_NAME, "protocol": "TCP"}],
        },
    }


def _stateful_set(args: PrometheusArgs) -> Manifest:
    labels_ = object_labels(args.namespace, args.image.version)
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": metadata(NAME, labels_, args.namespace),
        "spec": {
            "replicas": 1,
            "serviceName": HEADLESS_SERVICE,
            # With the ordered policy a pod that never became ready blocks every later roll-out, the repair included.
            "podManagementPolicy": "Parallel",
            "updateStrategy": {"type": "RollingUpdate"},
            "selector": {"matchLabels": selector(args.namespace)},
            "template": {
                "metadata": {
                    "labels": labels_,
                    "annotations": {"kubectl.kubernetes.io/default-container": NAME},
                },
                "spec": pod_spec(args),
            },
        },
    }
