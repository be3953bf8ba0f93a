"""Prometheus as Kubernetes objects: pure functions from arguments to dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.naming import cluster_scoped_name, stack_label
from components.network import allow_ingress
from components.objects import Manifest, config_map, metadata
from components.pods import headless, one_pod, service
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
    from components.rendered import Rendered

_RBAC = "rbac.authorization.k8s.io"
REVISION_ANNOTATION = "plumbline/config-revision"


def manifests(args: PrometheusArgs, rendered: Rendered) -> dict[str, Manifest]:
    """Role of the object in the component → manifest, in the order in which they are registered."""
    own, pods = object_labels(args.namespace), selector(args.namespace)
    reached = service(NAME, args.namespace, own, pods, (PORT_NAME, PORT))
    found = {
        "service-account": _service_account(args),
        "cluster-role": _cluster_role(args),
        "cluster-role-binding": _cluster_role_binding(args),
        "config": _config(args, rendered),
        "data": _data(args),
        "service": reached,
        "service-headless": headless(reached, HEADLESS_SERVICE),
        "stateful-set": _stateful_set(args),
    }
    if args.network_policies:
        found["network-policy"] = allow_ingress(NAME, args.namespace, own, pods, (PORT,))
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


def _stateful_set(args: PrometheusArgs) -> Manifest:
    """No revision in its template: a new configuration is loaded without a restart."""
    meta = metadata(NAME, object_labels(args.namespace, args.image.version), args.namespace)
    return one_pod(meta, selector(args.namespace), pod_spec(args), headless_service=HEADLESS_SERVICE, annotations={})
