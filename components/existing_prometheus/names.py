"""Names of what is given to a Prometheus that somebody else runs: shared by its manifests, the preflight and tests."""

from __future__ import annotations

from typing import Final

from components.naming import labels

NAME: Final = "existing-prometheus"
SERVICE: Final = "prometheus-operated"
"""The Service that the operator itself keeps in front of every Prometheus of a namespace."""
PORT: Final = 9090

GROUP: Final = "monitoring.coreos.com"
VERSION: Final = f"{GROUP}/v1"
ALPHA: Final = f"{GROUP}/v1alpha1"
POD_MONITOR: Final = "PodMonitor"
SCRAPE_CONFIG: Final = "ScrapeConfig"
PROMETHEUS_RULE: Final = "PrometheusRule"

SCRAPER: Final = "cluster-metrics"
"""Account whose token is shown to the API server and to kubelets, and the Secret that holds it."""
TOKEN_KEY: Final = "token"  # noqa: S105  # name of a key
CLUSTER_JOBS: Final = ("apiserver", "kubelet", "cadvisor")
"""Jobs about the cluster itself, which a running Prometheus usually scrapes already."""

MAX_RULE_BYTES: Final = 524_288
"""The operator refuses a larger PrometheusRule: half of what a ConfigMap holds (pkg/operator/rules.go, v0.85.0)."""


def object_labels(namespace: str) -> dict[str, str]:
    """Labels of every object of the component; those that the Prometheus selects by come on top."""
    return labels(NAME, namespace, "metrics")
