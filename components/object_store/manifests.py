"""The object store as Kubernetes objects: pure functions from arguments to dictionaries.

The Secrets are made in identities.py, since their content is known to the engine alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.naming import PART_OF, stack_label
from components.network import allow_ingress
from components.object_store.names import (
    CONFIG_PATH,
    DATA_PATH,
    METRICS_PORT,
    METRICS_PORT_NAME,
    PORT,
    PORT_NAME,
    claim_name,
    config_secret,
    headless_service,
    object_labels,
    selector,
)
from components.object_store.options import arguments, buckets_script, revision, validate
from components.objects import Manifest, metadata
from components.pods import headless, one_pod, quantities, restricted_container, restricted_pod, service
from components.storage import claim

if TYPE_CHECKING:
    from components.object_store.args import ObjectStoreArgs

_STOP_SECONDS = 30
_START_SECONDS = 120
_REVISION = f"{PART_OF}/revision"


def manifests(args: ObjectStoreArgs) -> dict[str, Manifest]:
    """Role → manifest, in the order in which they are registered, without the Secrets. Raises DeployError."""
    validate(args)
    own, pods = _labels(args), _selector(args)
    inside = service(args.name, args.namespace, own, pods, (PORT_NAME, PORT))
    return {
        "data": claim(
            claim_name(args.name),
            args.namespace,
            own | stack_label(args.stack),
            args.volume,
            args.storage_class,
            generation=args.generation,
        ),
        "service": _on_nodes(inside, args.node_port) if args.node_port is not None else inside,
        "service-headless": headless(inside, headless_service(args.name)),
        "network-policy": _network_policy(args),
        "stateful-set": _stateful_set(args),
    }


def _labels(args: ObjectStoreArgs, version: str | None = None) -> dict[str, str]:
    return object_labels(args.stack_namespace, version, args.name)


def _selector(args: ObjectStoreArgs) -> dict[str, str]:
    return selector(args.stack_namespace, args.name)


def _on_nodes(inside: Manifest, node_port: int) -> Manifest:
    """The same Service, reached at every node as well: signed addresses lead browsers and SDKs outside to it."""
    (port,) = inside["spec"]["ports"]
    return {**inside, "spec": {**inside["spec"], "type": "NodePort", "ports": [{**port, "nodePort": node_port}]}}


def _network_policy(args: ObjectStoreArgs) -> Manifest:
    """S3 asks for a key itself and is open to every pod, through a node's port to everybody. Metrics ask for none.

    What comes through a node's port has no pod to be selected by, hence no `from` then.
    """
    found = allow_ingress(args.name, args.namespace, _labels(args), _selector(args), (METRICS_PORT,))
    anybody: Manifest = {"ports": [{"port": PORT, "protocol": "TCP"}]}
    if args.node_port is None:
        anybody = {"from": [{"namespaceSelector": {}}], **anybody}
    return {**found, "spec": {**found["spec"], "ingress": [*found["spec"]["ingress"], anybody]}}


def _stateful_set(args: ObjectStoreArgs) -> Manifest:
    meta = metadata(args.name, _labels(args, args.image.version), args.namespace)
    return one_pod(
        meta,
        _selector(args),
        _pod_spec(args),
        headless_service=headless_service(args.name),
        annotations={_REVISION: revision(args)},
    )


def _pod_spec(args: ObjectStoreArgs) -> Manifest:
    return {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": _STOP_SECONDS,
        "securityContext": restricted_pod(),
        "containers": [_container(args)],
        "volumes": [
            {"name": "data", "persistentVolumeClaim": {"claimName": claim_name(args.name)}},
            {"name": "identities", "secret": {"secretName": config_secret(args.name), "defaultMode": 0o440}},
            {"name": "tmp", "emptyDir": {"sizeLimit": "256Mi"}},
        ],
    }


def _container(args: ObjectStoreArgs) -> Manifest:
    """The buckets are made by a hook of the container: it runs at every start, and before it ended nothing is ready."""
    script = buckets_script(args.buckets)
    return {
        "name": args.name,
        "image": args.image.reference,
        "imagePullPolicy": "IfNotPresent",
        "command": ["weed"],
        "args": arguments(args),
        "lifecycle": {"postStart": {"exec": {"command": ["/bin/sh", "-c", script]}}},
        "ports": [
            {"name": PORT_NAME, "containerPort": PORT, "protocol": "TCP"},
            {"name": METRICS_PORT_NAME, "containerPort": METRICS_PORT, "protocol": "TCP"},
        ],
        "resources": quantities(args.resources),
        "securityContext": restricted_container(),
        "startupProbe": _probe(every=2, failures=_START_SECONDS // 2),
        "readinessProbe": _probe(every=5, failures=3),
        "livenessProbe": _probe(every=10, failures=6),
        "volumeMounts": [
            {"name": "data", "mountPath": DATA_PATH},
            {"name": "identities", "mountPath": CONFIG_PATH, "readOnly": True},
            {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108  # sockets of weed's parts, in a volume of the pod
        ],
    }


def _probe(*, every: int, failures: int) -> Manifest:
    return {
        "httpGet": {"path": "/healthz", "port": PORT_NAME},
        "periodSeconds": every,
        "timeoutSeconds": 5,
        "failureThreshold": failures,
    }
