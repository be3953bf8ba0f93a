"""node-exporter as Kubernetes objects: pure functions from arguments to dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.exporters import daemon_set, service, service_account
from components.node_exporter.names import CONTAINER, NAME, PORT_NAME, object_labels, selector
from components.node_exporter.pod import pod_spec

if TYPE_CHECKING:
    from components.node_exporter.args import NodeExporterArgs
    from components.objects import Manifest


def manifests(args: NodeExporterArgs) -> dict[str, Manifest]:
    """Role of the object in the component → manifest, in the order in which they are registered.

    There is no NetworkPolicy: none applies to a pod in the node's own network. Who may reach the port is up to the
    network of the nodes.
    """
    labels_, selected = object_labels(args.instance), selector(args.instance)
    return {
        "service-account": service_account(NAME, args.namespace, labels_),
        "service": service(NAME, args.namespace, labels_, selected, {PORT_NAME: args.port}),
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
