"""What kube-state-metrics exposes: Kubernetes objects as series. A page for the objects, and one for itself."""

from __future__ import annotations

import re

from signals.catalogue.kube_objects import OBJECT_METRICS
from signals.catalogue.kube_pods import POD_METRICS
from signals.catalogue.model import Budget, Metric, MetricType, Producer
from signals.catalogue.process import PROCESS_METRICS

RESOURCES: tuple[str, ...] = (
    *("cronjobs", "daemonsets", "deployments", "jobs", "namespaces", "nodes", "persistentvolumeclaims"),
    *("persistentvolumes", "pods", "resourcequotas", "statefulsets"),
)
"""Kinds of objects that it watches: argument of `--resources`."""

NODE_LABELS: tuple[str, ...] = (
    "nvidia.com/gpu.product",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/zone",
    "node-role.kubernetes.io/control-plane",
)
"""Labels of nodes that become labels of `kube_node_labels`."""


def allowlist() -> str:
    """Argument of `--metric-allowlist`: exactly the families of this page. It takes regular expressions."""
    return ",".join(f"^{re.escape(metric.name)}$" for metric in PRODUCER.metrics)


def labels_allowlist(pod_labels: tuple[str, ...], namespace_labels: tuple[str, ...] = ()) -> str:
    """Argument of `--metric-labels-allowlist`.

    pod_labels: keys of pod labels, as in RuleInputs.pod_labels. namespace_labels: keys of namespace labels. Without
    any, the family is not made.
    """
    kinds = (("pods", pod_labels), ("nodes", NODE_LABELS), ("namespaces", namespace_labels))
    return ",".join(f"{kind}=[{','.join(keys)}]" for kind, keys in kinds if keys)


PRODUCER = Producer(
    job="kube-state-metrics",
    title="kube-state-metrics",
    versions="kube-state-metrics 2.19, resources and families as on this page",
    target_labels=("cluster", "environment"),
    per_node=False,
    honor_labels=True,
    complete=True,
    metrics=(*POD_METRICS, *OBJECT_METRICS),
    identity=("namespace", "pod", "uid", "container", "node", "resource"),
    # By structure: 20 series per pod and 11 for each of two containers, and 18 for what owns it, which is a job of 12
    # series at worst; 30 conditions of a node, 24 of its resources, and 6; namespaces, claims and quotas.
    budget=Budget(fixed=1500, per_pod=60, per_node=60),
)

_WATCH = "k8s.io/kube-state-metrics/v2 v2.19.1 pkg/watch/watch.go"
_SHARDING = "k8s.io/kube-state-metrics/v2 v2.19.1 pkg/sharding/metrics.go"

_SELF_METRICS = (
    Metric(
        name="kube_state_metrics_list_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Lists of objects that were asked for, by kind and result.",
        labels=("resource", "result"),
        source=_WATCH,
    ),
    Metric(
        name="kube_state_metrics_watch_total",
        type=MetricType.COUNTER,
        unit="1",
        meaning="Watches of objects that were opened, by kind and result.",
        labels=("resource", "result"),
        source=_WATCH,
    ),
    Metric(
        name="kube_state_metrics_total_shards",
        type=MetricType.GAUGE,
        unit="1",
        meaning="Instances that the objects are shared out to, as this instance was told.",
        low=1.0,
        source=_SHARDING,
    ),
    Metric(
        name="kube_state_metrics_shard_ordinal",
        type=MetricType.GAUGE,
        unit="1",
        meaning="Which share this instance has, counted from 0.",
        labels=("shard_ordinal",),
        source=_SHARDING,
    ),
)

SELF = Producer(
    job="kube-state-metrics-self",
    title="kube-state-metrics about itself",
    versions="kube-state-metrics 2.19, the port of `--telemetry-port`",
    target_labels=("cluster", "environment"),
    per_node=False,
    metrics=(*_SELF_METRICS, *(metric for metric in PROCESS_METRICS if metric.name.startswith("process_"))),
    # By structure: 5 series for each of 11 kinds, and what every Go program has.
    budget=Budget(per_target=250),
)
