"""The team's objects, as they would write them: pure functions to dictionaries."""

from __future__ import annotations

from typing import Any, Final

Json = dict[str, Any]

NAMESPACE: Final = "team-monitoring"
LABELS: Final = {"release": "team"}
PROMETHEUS: Final = "team"
OPERATOR: Final = "prometheus-operator"
SERVICE: Final = "prometheus-operated"
_RBAC: Final = "rbac.authorization.k8s.io"
_READ: Final = ["get", "list", "watch"]
_NOBODY: Final = 65534

OPERATOR_RIGHTS: Final[list[Json]] = [
    {"apiGroups": ["monitoring.coreos.com"], "resources": ["*"], "verbs": ["*"]},
    {"apiGroups": ["apps"], "resources": ["statefulsets"], "verbs": ["*"]},
    {"apiGroups": [""], "resources": ["configmaps", "secrets"], "verbs": ["*"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "delete"]},
    {
        "apiGroups": [""],
        "resources": ["services", "services/finalizers", "endpoints"],
        "verbs": ["get", "create", "update", "delete"],
    },
    {"apiGroups": ["", "events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]},
    {"apiGroups": [""], "resources": ["nodes", "namespaces"], "verbs": _READ},
    {"apiGroups": ["storage.k8s.io"], "resources": ["storageclasses"], "verbs": ["get"]},
]
PROMETHEUS_RIGHTS: Final[list[Json]] = [
    {"apiGroups": [""], "resources": ["nodes", "services", "endpoints", "pods"], "verbs": _READ},
    {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": _READ},
]


def operator(image: str, reloader: str) -> list[Json]:
    """The operator with its account and rights. image, reloader: references of the images that it runs and hands on."""
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
        *_account(OPERATOR, OPERATOR_RIGHTS),
        *_account(PROMETHEUS, PROMETHEUS_RIGHTS),
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": OPERATOR, "namespace": NAMESPACE},
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": {"app": OPERATOR}},
                "template": {"metadata": {"labels": {"app": OPERATOR}}, "spec": _operator_pod(image, reloader)},
            },
        },
    ]


def prometheus(image: str, version: str, external: dict[str, str]) -> list[Json]:
    """The team's Prometheus, which selects by LABELS in every namespace, and the team's one monitor: of itself."""
    selectors = {
        f"{kind}{part}Selector": {} if part else {"matchLabels": LABELS}
        for kind in ("podMonitor", "scrapeConfig", "rule")
        for part in ("", "Namespace")
    }
    return [
        {
            "apiVersion": "monitoring.coreos.com/v1",
            "kind": "Prometheus",
            "metadata": {"name": PROMETHEUS, "namespace": NAMESPACE},
            "spec": {
                "image": image,
                "version": version,
                "replicas": 1,
                "serviceAccountName": PROMETHEUS,
                "scrapeInterval": "5s",
                "evaluationInterval": "5s",
                "externalLabels": external,
                "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
                "securityContext": {"runAsNonRoot": True, "runAsUser": _NOBODY, "fsGroup": _NOBODY},
                **selectors,
            },
        },
        {
            "apiVersion": "monitoring.coreos.com/v1",
            "kind": "PodMonitor",
            "metadata": {"name": "itself", "namespace": NAMESPACE, "labels": LABELS},
            "spec": {
                "selector": {"matchLabels": {"app.kubernetes.io/name": "prometheus"}},
                "podMetricsEndpoints": [{"port": "web"}],
            },
        },
    ]


def opening(name: str, namespace: str, pods: dict[str, str], port: str) -> Json:
    """A policy by which whoever owns some closed pods lets the team's Prometheus scrape them. port: its name."""
    source = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": NAMESPACE}}}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "podSelector": {"matchLabels": pods},
            "policyTypes": ["Ingress"],
            "ingress": [{"from": [source], "ports": [{"port": port, "protocol": "TCP"}]}],
        },
    }


def cluster_scoped() -> list[str]:
    """`kind/name` of what is left when the namespace is gone."""
    return [
        f"{kind}/{NAMESPACE}-{name}"
        for kind in ("clusterrolebinding", "clusterrole")
        for name in (OPERATOR, PROMETHEUS)
    ]


def _account(name: str, rights: list[Json]) -> list[Json]:
    scoped = {"name": f"{NAMESPACE}-{name}"}
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": NAMESPACE}},
        {"apiVersion": f"{_RBAC}/v1", "kind": "ClusterRole", "metadata": scoped, "rules": rights},
        {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": scoped,
            "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": scoped["name"]},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": NAMESPACE}],
        },
    ]


def _operator_pod(image: str, reloader: str) -> Json:
    return {
        "serviceAccountName": OPERATOR,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _NOBODY,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [
            {
                "name": OPERATOR,
                "image": image,
                "args": [f"--prometheus-config-reloader={reloader}"],
                "ports": [{"name": "http", "containerPort": 8080}],
                "readinessProbe": {"httpGet": {"path": "/healthz", "port": "http"}, "periodSeconds": 1},
                "resources": {"requests": {"cpu": "20m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}},
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                },
            }
        ],
    }
