"""From dictionaries to typed Pulumi resources: the only place that casts, and the only one that makes child options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pulumi
import pulumi_kubernetes as k8s

from components.errors import DeployError
from components.naming import logical_name
from components.objects import CONFIG_UID, RETAIN, WRITTEN_BY_OTHERS, Manifest, identity

if TYPE_CHECKING:
    from collections.abc import Callable

_OPERATOR = "monitoring.coreos.com"


def _custom(api_version: str, kind: str) -> Callable[..., pulumi.CustomResource]:
    """A kind that only its definition in the cluster knows, made like those that have a class."""

    def made(logical: str, opts: pulumi.ResourceOptions, **fields: Any) -> pulumi.CustomResource:  # noqa: ANN401  # any field
        return k8s.apiextensions.CustomResource(logical, api_version=api_version, kind=kind, opts=opts, **fields)

    made.__name__ = kind
    return made


KINDS: dict[tuple[str, str], Callable[..., pulumi.CustomResource]] = {
    ("v1", "ConfigMap"): k8s.core.v1.ConfigMap,
    ("v1", "Namespace"): k8s.core.v1.Namespace,
    ("v1", "PersistentVolumeClaim"): k8s.core.v1.PersistentVolumeClaim,
    ("v1", "ResourceQuota"): k8s.core.v1.ResourceQuota,
    ("v1", "Secret"): k8s.core.v1.Secret,
    ("v1", "Service"): k8s.core.v1.Service,
    ("v1", "ServiceAccount"): k8s.core.v1.ServiceAccount,
    ("apps/v1", "DaemonSet"): k8s.apps.v1.DaemonSet,
    ("apps/v1", "Deployment"): k8s.apps.v1.Deployment,
    ("apps/v1", "StatefulSet"): k8s.apps.v1.StatefulSet,
    ("batch/v1", "CronJob"): k8s.batch.v1.CronJob,
    ("networking.k8s.io/v1", "NetworkPolicy"): k8s.networking.v1.NetworkPolicy,
    ("policy/v1", "PodDisruptionBudget"): k8s.policy.v1.PodDisruptionBudget,
    ("rbac.authorization.k8s.io/v1", "ClusterRole"): k8s.rbac.v1.ClusterRole,
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"): k8s.rbac.v1.ClusterRoleBinding,
    ("rbac.authorization.k8s.io/v1", "Role"): k8s.rbac.v1.Role,
    ("rbac.authorization.k8s.io/v1", "RoleBinding"): k8s.rbac.v1.RoleBinding,
    (f"{_OPERATOR}/v1", "PodMonitor"): _custom(f"{_OPERATOR}/v1", "PodMonitor"),
    (f"{_OPERATOR}/v1", "PrometheusRule"): _custom(f"{_OPERATOR}/v1", "PrometheusRule"),
    (f"{_OPERATOR}/v1alpha1", "ScrapeConfig"): _custom(f"{_OPERATOR}/v1alpha1", "ScrapeConfig"),
}


def child(parent: pulumi.Resource) -> pulumi.ResourceOptions:
    """Options of a component's child: the parent and nothing else.

    Provider and protection are inherited from it. The caller's own options go to the component alone: merged into a
    child they would put the component's aliases or import id on every object.
    """
    return pulumi.ResourceOptions(parent=parent)


def register(logical: str, manifest: Manifest, opts: pulumi.ResourceOptions) -> pulumi.CustomResource:
    """Register a manifest as the typed resource of its kind. An object marked as retained survives `pulumi destroy`,
    and fields marked as written by others keep what those wrote.

    Raises DeployError for a kind that has no entry in KINDS.
    """
    kind = (str(manifest["apiVersion"]), str(manifest["kind"]))
    if kind not in KINDS:
        raise DeployError(f"{identity(manifest)}: kind {kind} is not in components/kube.py KINDS; add it there.")
    annotations = manifest["metadata"].get("annotations", {})
    if annotations.get(RETAIN) == "true":
        opts.retain_on_delete = True
    if WRITTEN_BY_OTHERS in annotations:
        opts.ignore_changes = annotations[WRITTEN_BY_OTHERS].split(",")
    # The generated classes take plain dictionaries in Kubernetes' own spelling, but their types know only snake case.
    fields = cast("dict[str, Any]", {k: v for k, v in manifest.items() if k not in ("apiVersion", "kind")})
    return KINDS[kind](logical, opts=opts, **{_snake(key): value for key, value in fields.items()})


def register_all(
    component: str,
    parent: pulumi.ComponentResource,
    manifests: dict[str, Manifest],
    workload: str,
    read_once: str = "",
) -> None:
    """Register what belongs to a component as its children. manifests: role → manifest. workload: role of what runs.

    The workload comes last and waits for all others: started before what it mounts and what it may read, it would
    fail and back off for minutes, or run with an old configuration. read_once: role of the ConfigMap that it reads
    when it starts and never again.
    """
    others = {
        role: register(logical_name(component, role), manifest, child(parent))
        for role, manifest in manifests.items()
        if role != workload
    }
    after = pulumi.ResourceOptions(parent=parent, depends_on=list(others.values()))
    runs = manifests[workload]
    register(logical_name(component, workload), started_for(runs, others[read_once]) if read_once else runs, after)


def started_for(workload: Manifest, config: pulumi.CustomResource, annotation: str = CONFIG_UID) -> Manifest:
    """The workload, whose pods start anew when their ConfigMap was made anew, by whomever: they carry its uid.

    annotation: in which they do.
    """
    uid = cast("k8s.core.v1.ConfigMap", config).metadata.apply(lambda meta: meta.uid)
    spec = workload["spec"]
    meta = spec["template"]["metadata"]
    marked = {**meta, "annotations": {**meta["annotations"], annotation: uid}}
    return {**workload, "spec": {**spec, "template": {**spec["template"], "metadata": marked}}}


def _snake(key: str) -> str:
    """Top-level field of a manifest → argument of the generated class (`roleRef` → `role_ref`)."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in key)
