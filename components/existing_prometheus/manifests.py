"""What an existing Prometheus is given, as Kubernetes objects: pure functions from arguments to dictionaries."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from components.existing_prometheus.monitors import monitors
from components.existing_prometheus.names import CLUSTER_JOBS, NAME, SCRAPER, object_labels
from components.existing_prometheus.rules import SENTINEL, rule_objects, rule_texts
from components.exporters import cluster_role, cluster_role_binding, service_account
from components.naming import cluster_scoped_name, node_namespace_name, object_name, swanlab_namespace_name
from components.network import allow_ingress
from components.objects import Manifest, metadata
from components.rendered import revision
from signals.rules.model import rule_file
from signals.rules.sentinel import sentinel

if TYPE_CHECKING:
    from components.existing_prometheus.args import ExistingPrometheusArgs

_RBAC: Final = "rbac.authorization.k8s.io"
_RIGHTS: Final[list[Manifest]] = [
    {"apiGroups": [""], "resources": ["nodes/metrics"], "verbs": ["get"]},
    {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
]


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """manifests: role → manifest, in the order of registration. rule_files: file name → text of its groups, as a
    Prometheus reads them. revision: 12 hex digits that change with any monitor or rule.
    """

    manifests: dict[str, Manifest]
    rule_files: dict[str, str]
    revision: str


def render(args: ExistingPrometheusArgs) -> Rendered:
    """Monitors, rules, and what the Prometheus needs to reach the targets. Raises DeployError.

    The revision is the hash of everything that the operator reads but the sentinel, which carries it.
    """
    scraped, texts = monitors(args), rule_texts(args)
    digest = revision({**texts, **{role: json.dumps(manifest) for role, manifest in scraped.items()}})
    shown = rule_file((sentinel(digest),))
    return Rendered(
        manifests={**_access(args), **_discovery(args), **_openings(args), **scraped, **rule_objects(args, digest)},
        rule_files={f"{name}.yml": text for name, text in {**texts, SENTINEL: shown}.items()},
        revision=digest,
    )


def _access(args: ExistingPrometheusArgs) -> dict[str, Manifest]:
    """An account for the cluster's own jobs, if there are any: it may read metrics and nothing else.

    Its token does not expire, since the operator takes credentials from Secrets alone and nobody would renew them.
    """
    if not any(job.page.job in CLUSTER_JOBS for job in args.jobs):
        return {}
    own, role = object_labels(args.namespace), cluster_scoped_name(args.namespace, SCRAPER)
    return {
        "service-account": service_account(SCRAPER, args.namespace, own),
        "cluster-role": cluster_role(role, own, _RIGHTS),
        "cluster-role-binding": cluster_role_binding(role, own, SCRAPER, args.namespace),
        "token": {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": "kubernetes.io/service-account-token",
            "metadata": metadata(SCRAPER, own, args.namespace, {"kubernetes.io/service-account.name": SCRAPER}),
        },
    }


def _discovery(args: ExistingPrometheusArgs) -> dict[str, Manifest]:
    """The right to find pods, where the Prometheus may not look into every namespace: in those that the stack owns."""
    if args.service_account is None:
        return {}
    stack = args.namespace
    owned = {"stack": stack, "node": node_namespace_name(stack), "swanlab": swanlab_namespace_name(stack)}
    there = {job.pods.namespace for job in args.jobs if job.pods is not None}
    found: dict[str, Manifest] = {}
    for kind, namespace in owned.items():
        if namespace in there:
            found[f"role-{kind}"] = _role(args, namespace)
            found[f"role-binding-{kind}"] = _role_binding(args, namespace, args.service_account)
    return found


def _role(args: ExistingPrometheusArgs, namespace: str) -> Manifest:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "Role",
        "metadata": metadata(NAME, object_labels(args.namespace), namespace),
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}],
    }


def _role_binding(args: ExistingPrometheusArgs, namespace: str, account: str) -> Manifest:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": metadata(NAME, object_labels(args.namespace), namespace),
        "roleRef": {"apiGroup": _RBAC, "kind": "Role", "name": NAME},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": args.prometheus_namespace}],
    }


def _openings(args: ExistingPrometheusArgs) -> dict[str, Manifest]:
    """The stack's own policies let in its own namespace; the Prometheus is in another."""
    own, source = object_labels(args.namespace), (args.prometheus_namespace,)
    return {
        f"network-policy-{job.page.job}": allow_ingress(
            object_name(NAME, job.page.job), job.pods.namespace, own, job.pods.labels, (job.pods.policy_port,), source
        )
        for job in args.jobs
        if job.pods is not None and job.page.job in args.opened
    }
