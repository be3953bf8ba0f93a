"""dcgm-exporter as Kubernetes objects: pure functions from arguments to dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.dcgm_exporter.counters import config_name, counters_csv
from components.dcgm_exporter.names import CONTAINER, COUNTERS_FILE, NAME, PORT, PORT_NAME, object_labels, selector
from components.dcgm_exporter.pod import pod_spec
from components.exporters import cluster_role, cluster_role_binding, daemon_set, service, service_account
from components.naming import cluster_scoped_name
from components.network import allow_ingress
from components.objects import Manifest, config_map

if TYPE_CHECKING:
    from components.dcgm_exporter.args import DcgmExporterArgs


def manifests(args: DcgmExporterArgs) -> dict[str, Manifest]:
    """Role of the object in the component → manifest, in the order in which they are registered."""
    labels_, selected = object_labels(args.instance), selector(args.instance)
    counters = counters_csv(args.counters)
    return {
        "service-account": service_account(NAME, args.namespace, labels_),
        **(_rights(args) if args.dra or args.kubernetes_virtual_gpus else {}),
        "counters": config_map(config_name(counters), args.namespace, labels_, {COUNTERS_FILE: counters}, {}),
        "service": service(NAME, args.namespace, labels_, selected, {PORT_NAME: PORT}),
        **(
            {"network-policy": allow_ingress(NAME, args.namespace, labels_, selected, (PORT,), (args.instance,))}
            if args.network_policies
            else {}
        ),
        "daemon-set": daemon_set(
            NAME,
            args.namespace,
            object_labels(args.instance, args.image.version),
            selected,
            pod_spec(args),
            container=CONTAINER,
            max_unavailable=args.max_unavailable,
        ),
    }


def _rights(args: DcgmExporterArgs) -> dict[str, Manifest]:
    """What the exporter asks the API server for: nothing, unless GPUs are shared or claimed.

    It tells pods on a shared GPU apart by their UIDs, which the kubelet does not give: without them each pod uses 0.
    With Dynamic Resource Allocation the name of a device says nothing; its UUID is in the node's ResourceSlices. The
    exporter reads pods then as well. Source: dcgm-exporter, deployment/templates/clusterrole.yaml and
    internal/pkg/transformation/kubernetes.go.
    """
    labels_, name = object_labels(args.instance), cluster_scoped_name(args.instance, NAME)
    kinds = [("", "pods"), *([("resource.k8s.io", "resourceslices")] if args.dra else [])]
    rules = [{"apiGroups": [group], "resources": [kind], "verbs": ["get", "list", "watch"]} for group, kind in kinds]
    return {
        "cluster-role": cluster_role(name, labels_, rules),
        "cluster-role-binding": cluster_role_binding(name, labels_, NAME, args.namespace),
    }
