"""What kube-state-metrics may read and what it shows: the same list decides its rights and its command line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from components.errors import DeployError
from components.kube_state_metrics.names import PORT, TELEMETRY_PORT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from components.kube_state_metrics.args import KubeStateMetricsArgs
    from components.objects import Manifest

API_GROUPS: Final[dict[str, str]] = {
    "certificatesigningrequests": "certificates.k8s.io",
    "cronjobs": "batch",
    "daemonsets": "apps",
    "deployments": "apps",
    "endpointslices": "discovery.k8s.io",
    "horizontalpodautoscalers": "autoscaling",
    "ingresses": "networking.k8s.io",
    "jobs": "batch",
    "leases": "coordination.k8s.io",
    "limitranges": "",
    "mutatingwebhookconfigurations": "admissionregistration.k8s.io",
    "namespaces": "",
    "networkpolicies": "networking.k8s.io",
    "nodes": "",
    "persistentvolumeclaims": "",
    "persistentvolumes": "",
    "poddisruptionbudgets": "policy",
    "pods": "",
    "replicasets": "apps",
    "replicationcontrollers": "",
    "resourcequotas": "",
    "services": "",
    "statefulsets": "apps",
    "storageclasses": "storage.k8s.io",
    "validatingwebhookconfigurations": "admissionregistration.k8s.io",
    "volumeattachments": "storage.k8s.io",
}
"""Kind in the plural → its API group: what version 2.19.1 reads by default, without Secrets and ConfigMaps.

Listing one of those is reading all of its contents, in every namespace; no metric is worth that right.
"""

_WHOLE_NAME = re.compile(r"\^[^^$]+\$")
_KIND = re.compile(r"([a-z]+)=\[([^\[\]=*]+)\]")


def rules(args: KubeStateMetricsArgs) -> list[Manifest]:
    """Rules of the ClusterRole: list and watch, of exactly the kinds asked for, one rule per API group."""
    groups = sorted({API_GROUPS[kind] for kind in args.objects})
    return [
        {
            "apiGroups": [group],
            "resources": sorted({kind for kind in args.objects if API_GROUPS[kind] == group}),
            "verbs": ["list", "watch"],
        }
        for group in groups
    ]


def arguments(args: KubeStateMetricsArgs) -> list[str]:
    """The command line."""
    shown = [f"--metric-labels-allowlist={args.labels_allowlist}"] if args.labels_allowlist else []
    return [
        f"--port={PORT}",
        f"--telemetry-port={TELEMETRY_PORT}",
        f"--resources={','.join(sorted(args.objects))}",
        f"--metric-allowlist={args.metric_allowlist}",
        *shown,
    ]


def validate(args: KubeStateMetricsArgs) -> None:
    """Raise DeployError with everything that the program would refuse, or that would silently expose nothing."""
    faults = list(_faults(args))
    if faults:
        lines = "\n".join(f"- {fault}" for fault in faults)
        raise DeployError(f"the arguments of kube-state-metrics cannot be used:\n{lines}")


def _faults(args: KubeStateMetricsArgs) -> Iterator[str]:
    if not args.objects:
        yield "no objects: upstream's default is all of them; name what is read"
    for kind in args.objects:
        if kind not in API_GROUPS:
            yield f"objects `{kind}`: accepted are {', '.join(API_GROUPS)}"
    for name in args.metric_allowlist.split(","):
        if not _WHOLE_NAME.fullmatch(name):
            yield f"metric_allowlist `{name}`: accepted is ^name$, because an expression matches anywhere in a name"
    kinds = _KIND.findall(args.labels_allowlist)
    if ",".join(f"{kind}=[{keys}]" for kind, keys in kinds) != args.labels_allowlist:
        yield f"labels_allowlist `{args.labels_allowlist}`: accepted is kind=[key,key],kind=[key] with whole keys"
    for kind, _ in kinds:
        family = f"kube_{kind.removesuffix('s')}_labels"
        if kind not in args.objects or f"^{family}$" not in args.metric_allowlist.split(","):
            yield f"labels_allowlist names {kind}, which needs {kind} in objects and {family} in metric_allowlist"
