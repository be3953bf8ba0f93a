"""Tokens and logical names of all that is registered, written down once more: they may not change by accident."""

from __future__ import annotations

# Identity is API: with another token or name Pulumi replaces the object. A rename needs an alias and a changelog line.
CORE, APPS, NETWORK = "kubernetes:core/v1:", "kubernetes:apps/v1:", "kubernetes:networking.k8s.io/v1:"
RBAC = "kubernetes:rbac.authorization.k8s.io/v1:"
BATCH = "kubernetes:batch/v1:"
FOUNDATION = {
    ("pulumi:providers:kubernetes", "kubernetes"),
    (f"{CORE}Namespace", "namespace"),
    (f"{CORE}Namespace", "node-namespace"),
    (f"{CORE}ResourceQuota", "node-quota"),
    (f"{NETWORK}NetworkPolicy", "default-deny-ingress"),
    (f"{NETWORK}NetworkPolicy", "node-default-deny-ingress"),
    (f"{CORE}ConfigMap", "contract"),
}
OWN_PROMETHEUS = {
    ("plumbline:prometheus:Prometheus", "prometheus"),
    (f"{CORE}ServiceAccount", "prometheus-service-account"),
    (f"{RBAC}ClusterRole", "prometheus-cluster-role"),
    (f"{RBAC}ClusterRoleBinding", "prometheus-cluster-role-binding"),
    (f"{CORE}ConfigMap", "prometheus-config"),
    (f"{CORE}PersistentVolumeClaim", "prometheus-data"),
    (f"{CORE}Service", "prometheus-service"),
    (f"{CORE}Service", "prometheus-service-headless"),
    (f"{NETWORK}NetworkPolicy", "prometheus-network-policy"),
    (f"{APPS}StatefulSet", "prometheus-stateful-set"),
}
OTHERS = {
    ("plumbline:alertmanager:Alertmanager", "alertmanager"),
    (f"{CORE}ConfigMap", "alertmanager-config"),
    (f"{CORE}PersistentVolumeClaim", "alertmanager-data"),
    (f"{CORE}Service", "alertmanager-service"),
    (f"{CORE}Service", "alertmanager-service-headless"),
    (f"{NETWORK}NetworkPolicy", "alertmanager-network-policy"),
    (f"{APPS}StatefulSet", "alertmanager-stateful-set"),
    ("plumbline:pushgateway:Pushgateway", "pushgateway"),
    (f"{CORE}PersistentVolumeClaim", "pushgateway-data"),
    (f"{CORE}Service", "pushgateway-service"),
    (f"{CORE}Service", "pushgateway-service-headless"),
    (f"{NETWORK}NetworkPolicy", "pushgateway-network-policy"),
    (f"{APPS}StatefulSet", "pushgateway-stateful-set"),
    ("plumbline:kube-state-metrics:KubeStateMetrics", "kube-state-metrics"),
    (f"{CORE}ServiceAccount", "kube-state-metrics-service-account"),
    (f"{RBAC}ClusterRole", "kube-state-metrics-cluster-role"),
    (f"{RBAC}ClusterRoleBinding", "kube-state-metrics-cluster-role-binding"),
    (f"{CORE}Service", "kube-state-metrics-service"),
    (f"{NETWORK}NetworkPolicy", "kube-state-metrics-network-policy"),
    (f"{APPS}Deployment", "kube-state-metrics-deployment"),
    ("plumbline:node-exporter:NodeExporter", "node-exporter"),
    (f"{CORE}ServiceAccount", "node-exporter-service-account"),
    (f"{CORE}Service", "node-exporter-service"),
    (f"{APPS}DaemonSet", "node-exporter-daemon-set"),
    ("plumbline:dcgm-exporter:DcgmExporter", "dcgm-exporter"),
    (f"{CORE}ServiceAccount", "dcgm-exporter-service-account"),
    (f"{CORE}ConfigMap", "dcgm-exporter-counters"),
    (f"{CORE}Service", "dcgm-exporter-service"),
    (f"{NETWORK}NetworkPolicy", "dcgm-exporter-network-policy"),
    (f"{APPS}DaemonSet", "dcgm-exporter-daemon-set"),
}
EXPERIMENTS = {
    ("plumbline:object-store:ObjectStore", "object-store"),
    (f"{CORE}PersistentVolumeClaim", "object-store-data"),
    (f"{CORE}Secret", "object-store-identities"),
    (f"{CORE}Secret", "object-store-keys"),
    (f"{CORE}Service", "object-store-service"),
    (f"{CORE}Service", "object-store-service-headless"),
    (f"{NETWORK}NetworkPolicy", "object-store-network-policy"),
    (f"{APPS}StatefulSet", "object-store-stateful-set"),
    ("plumbline:swanlab:Swanlab", "swanlab"),
    (f"{CORE}Namespace", "swanlab-namespace"),
    *((f"{CORE}PersistentVolumeClaim", f"swanlab-claim-{name}") for name in ("postgres", "redis", "clickhouse")),
    (f"{CORE}PersistentVolumeClaim", "swanlab-claim-buffer-0"),
    (f"{CORE}ConfigMap", "swanlab-places"),
    *((f"{CORE}Secret", f"swanlab-secret-{name}") for name in ("postgres", "redis", "clickhouse", "s3")),
    *(
        (f"{NETWORK}NetworkPolicy", f"swanlab-network-{name}")
        for name in ("default-deny", "gateway", "internal", "gate")
    ),
    *(
        (f"{NETWORK}NetworkPolicy", f"swanlab-network-metrics-{name}")
        for name in ("gateway", "server", "auth", "house", "vector", "clickhouse")
    ),
    ("kubernetes:helm.sh/v3:Release", "swanlab-release"),
    ("plumbline:swanlab-gate:SwanlabGate", "swanlab-gate"),
    (f"{CORE}Service", "swanlab-gate-service"),
    (f"{NETWORK}NetworkPolicy", "swanlab-gate-network-policy"),
    (f"{APPS}Deployment", "swanlab-gate-deployment"),
}
TELEMETRY = {
    ("plumbline:logs:Logs", "victoria-logs"),
    (f"{CORE}PersistentVolumeClaim", "victoria-logs-data"),
    (f"{CORE}Service", "victoria-logs-service"),
    (f"{CORE}Service", "victoria-logs-service-headless"),
    (f"{NETWORK}NetworkPolicy", "victoria-logs-network-policy"),
    (f"{APPS}StatefulSet", "victoria-logs-stateful-set"),
    ("plumbline:traces:Traces", "jaeger"),
    (f"{CORE}ConfigMap", "jaeger-config"),
    (f"{CORE}PersistentVolumeClaim", "jaeger-data"),
    (f"{CORE}Service", "jaeger-service"),
    (f"{CORE}Service", "jaeger-service-headless"),
    (f"{NETWORK}NetworkPolicy", "jaeger-network-policy"),
    (f"{APPS}StatefulSet", "jaeger-stateful-set"),
    ("plumbline:otel-collector:OtelCollector", "otel-collector"),
    (f"{CORE}ServiceAccount", "otel-collector-agent-service-account"),
    *((f"{CORE}ConfigMap", f"otel-collector-{name}") for name in ("agent-config", "agent-debug-info")),
    *((f"{CORE}Service", f"otel-collector-{tier}-service") for tier in ("agent", "gateway")),
    *((f"{NETWORK}NetworkPolicy", f"otel-collector-{tier}-network-policy") for tier in ("agent", "gateway")),
    (f"{CORE}ConfigMap", "otel-collector-gateway-config"),
    (f"{CORE}PersistentVolumeClaim", "otel-collector-gateway-queue-0"),
    (f"{CORE}Service", "otel-collector-gateway-service-headless"),
    (f"{APPS}StatefulSet", "otel-collector-gateway-stateful-set-0"),
    (f"{APPS}DaemonSet", "otel-collector-agent-daemon-set"),
}
_STORE = ("data", "service", "service-headless", "keep-lock", "network-policy", "stateful-set")
_STORE_KINDS = (
    *(f"{CORE}{kind}" for kind in ("PersistentVolumeClaim", "Service", "Service", "ConfigMap")),
    *(f"{NETWORK}NetworkPolicy", f"{APPS}StatefulSet"),
)
RECOVERY = {
    ("plumbline:recovery:Recovery", "recovery"),
    (f"{CORE}Namespace", "recovery-namespace"),
    (f"{CORE}ResourceQuota", "recovery-quota"),
    (f"{CORE}ServiceAccount", "recovery-service-account"),
    (f"{RBAC}Role", "recovery-role"),
    (f"{RBAC}RoleBinding", "recovery-role-binding"),
    *((f"{CORE}ConfigMap", f"recovery-config-{side}") for side in ("create", "recovery")),
    *(
        (f"{NETWORK}NetworkPolicy", f"recovery-network-{name}")
        for name in ("default-deny", "stores", "buffer", "alertmanager")
    ),
    *((kind, f"recovery-store-{role}") for kind, role in zip(_STORE_KINDS, _STORE, strict=True)),
    *(
        (f"{CORE}Secret", f"recovery-secret-{name}")
        for name in (
            *("signing", "signing-create", "scratch", "writer", "writer-create", "reader", "reader-restore", "pruner"),
            *("store-admin", "store-identities"),
        )
    ),
    *((f"{BATCH}CronJob", f"recovery-cron-job-{command}") for command in ("create", "verify", "prune", "restore")),
}
OPERATOR = "kubernetes:monitoring.coreos.com/v1:"
GRAFANA = {
    ("plumbline:grafana:Grafana", "grafana"),
    *((f"{CORE}ConfigMap", f"grafana-{name}") for name in ("config", "boards-0")),
    (f"{CORE}PersistentVolumeClaim", "grafana-data"),
    (f"{CORE}Service", "grafana-service"),
    (f"{NETWORK}NetworkPolicy", "grafana-network-policy"),
    (f"{APPS}Deployment", "grafana-deployment"),
}
_POLICIES = (
    *("dcgm-exporter", "kube-state-metrics", "kube-state-metrics-self", "pushgateway", "alertmanager"),
    "grafana",
)
_RULES = (
    *("alertmanager", "gpu", "gpu-kubernetes", "identity", "kube-state-metrics", "kubernetes", "node", "page-proof"),
    *("pushgateway", "sentinel", "series", "targets", "watchdog"),
)
EXISTING_PROMETHEUS = {
    ("plumbline:existing_prometheus:ExistingPrometheus", "existing-prometheus"),
    *((f"{NETWORK}NetworkPolicy", f"existing-prometheus-network-policy-{job}") for job in _POLICIES),
    *((f"{OPERATOR}PodMonitor", f"existing-prometheus-pod-monitor-{job}") for job in (*_POLICIES, "node-exporter")),
    *((f"{OPERATOR}PrometheusRule", f"existing-prometheus-rule-rules-{name}") for name in _RULES),
}
