"""Alertmanager as Kubernetes objects: pure functions from arguments to dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.alertmanager.names import (
    CLAIM,
    CONFIG_MAP,
    HEADLESS_SERVICE,
    NAME,
    PORT,
    PORT_NAME,
    object_labels,
    selector,
)
from components.alertmanager.pod import pod_spec
from components.naming import stack_label
from components.network import allow_ingress
from components.objects import Manifest, config_map, metadata
from components.pods import headless, one_pod, service
from components.prometheus.manifests import REVISION_ANNOTATION
from components.storage import claim

if TYPE_CHECKING:
    from components.alertmanager.args import AlertmanagerArgs
    from components.rendered import Rendered


def manifests(args: AlertmanagerArgs, rendered: Rendered) -> dict[str, Manifest]:
    """Role of the object in the component → manifest, in the order in which they are registered."""
    own, pods = object_labels(args.namespace), selector(args.namespace)
    reached = service(NAME, args.namespace, own, pods, (PORT_NAME, PORT))
    annotations = {REVISION_ANNOTATION: rendered.revision}
    found = {
        "config": config_map(CONFIG_MAP, args.namespace, own, rendered.files, annotations),
        "data": claim(CLAIM, args.namespace, own | stack_label(args.stack), args.volume, args.storage_class),
        "service": reached,
        "service-headless": headless(reached, HEADLESS_SERVICE),
        "stateful-set": _stateful_set(args, annotations),
    }
    if args.network_policies:
        found["network-policy"] = allow_ingress(NAME, args.namespace, own, pods, (PORT,))
    return found


def _stateful_set(args: AlertmanagerArgs, annotations: dict[str, str]) -> Manifest:
    """A new configuration restarts the pod, by the revision in its template.

    Alertmanager reloads only when somebody asks it to, and then keeps the old configuration if the new one is broken.
    A restart needs no second program that can stop noticing changes. It loses nothing: silences and the log of what was
    sent are on the claim, and Prometheus sends what fires, and for 15 minutes what ended, again within a minute.
    """
    meta = metadata(NAME, object_labels(args.namespace, args.image.version), args.namespace)
    return one_pod(
        meta, selector(args.namespace), pod_spec(args), headless_service=HEADLESS_SERVICE, annotations=annotations
    )
