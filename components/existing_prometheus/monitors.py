"""Scrape jobs as objects of the operator: a PodMonitor for pods, a ScrapeConfig for whatever has no pod."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.errors import DeployError
from components.existing_prometheus.names import (
    ALPHA,
    CLUSTER_JOBS,
    POD_MONITOR,
    SCRAPE_CONFIG,
    SCRAPER,
    TOKEN_KEY,
    VERSION,
    object_labels,
)
from components.existing_prometheus.relabeling import metric_relabelings, relabelings
from components.objects import Manifest, metadata

if TYPE_CHECKING:
    from components.existing_prometheus.args import ExistingPrometheusArgs
    from components.scrape import PodTargets, ScrapeJob

_AUTHORITY = {"configMap": {"name": "kube-root-ca.crt", "key": "ca.crt"}}
"""The cluster's authority; Kubernetes itself puts it into every namespace."""
_HTTPS_PORT = {"source_labels": ["__meta_kubernetes_endpointslice_port_name"], "regex": "https", "action": "keep"}


def monitors(args: ExistingPrometheusArgs) -> dict[str, Manifest]:
    """Role → manifest. Raises DeployError for a page whose targets nobody has described."""
    found: dict[str, Manifest] = {}
    for job in args.jobs:
        name = job.page.job
        if job.pods is not None:
            found[f"pod-monitor-{name}"] = _pod_monitor(args, job, job.pods)
        if job.static:
            found[f"scrape-config-{name}"] = _scrape_config(args, job, _addresses(job))
        if job.pods is None and not job.static:
            found[f"scrape-config-{name}"] = _of_the_cluster(args, job)
    return found


def _pod_monitor(args: ExistingPrometheusArgs, job: ScrapeJob, pods: PodTargets) -> Manifest:
    """The operator itself keeps the port of this name and drops finished pods.

    It has no field for a number that every version knows: without a port it keeps all, and a rule of ours keeps one.
    """
    named = pods.port_name is not None
    endpoint = {
        **({"port": pods.port_name} if named else {}),
        **_timing(args, job, "interval"),
        **_honoring(job),
        "relabelings": relabelings(args, job, () if named else (pods.port_relabel(),)),
        **_changes(job),
    }
    spec = {
        "namespaceSelector": {"matchNames": [pods.namespace]},
        "selector": {"matchLabels": pods.labels},
        "podMetricsEndpoints": [endpoint],
        **_limits(args, job),
        "bodySizeLimit": args.limits.body_size,
    }
    return _object(args, VERSION, POD_MONITOR, job.page.job, spec)


def _scrape_config(
    args: ExistingPrometheusArgs, job: ScrapeJob, targets: Manifest, before: tuple[Manifest, ...] = ()
) -> Manifest:
    """Without limit on the size of an answer, which this kind of object does not have. before: see relabelings()."""
    spec = {
        **targets,
        **_timing(args, job, "scrapeInterval"),
        **_honoring(job),
        "relabelings": relabelings(args, job, before),
        **_changes(job),
        **_limits(args, job),
    }
    return _object(args, ALPHA, SCRAPE_CONFIG, job.page.job, spec)


def _addresses(job: ScrapeJob) -> Manifest:
    """The node stands where pod discovery would put it, so that the same relabelling serves both."""
    node = "__meta_kubernetes_pod_node_name" if job.pods else "__meta_kubernetes_node_name"
    return {"staticConfigs": [{"targets": [t.address], "labels": {node: t.node}} for t in job.static]}


def _of_the_cluster(args: ExistingPrometheusArgs, job: ScrapeJob) -> Manifest:
    name = job.page.job
    if name not in CLUSTER_JOBS:
        raise DeployError(
            f"job `{name}` names no pods and no addresses, and components/existing_prometheus/monitors.py does not "
            f"know how to find it; known are {', '.join(CLUSTER_JOBS)}; give its pods where the job is made."
        )
    if name == "apiserver":
        slices = {
            "role": "EndpointSlice",
            "namespaces": {"names": ["default"]},
            "selectors": [{"role": "EndpointSlice", "label": "kubernetes.io/service-name=kubernetes"}],
        }
        tls = {"ca": _AUTHORITY, "serverName": "kubernetes.default.svc"}
        return _scrape_config(args, job, _with_token(slices, tls), (_HTTPS_PORT,))
    path = {"metricsPath": "/metrics/cadvisor"} if name == "cadvisor" else {}
    trust: Manifest = {"ca": _AUTHORITY} if args.verify_kubelets else {"insecureSkipVerify": True}
    return _scrape_config(args, job, {**_with_token({"role": "Node"}, trust), **path})


def _with_token(discovery: Manifest, tls: Manifest) -> Manifest:
    """HTTPS with a token of our own: which rights the Prometheus' account has is not known here.

    ScrapeConfig cannot refuse redirects. Only who has been shown the token already could send one.
    """
    return {
        "kubernetesSDConfigs": [discovery],
        "scheme": "HTTPS",
        "tlsConfig": tls,
        "authorization": {"credentials": {"name": SCRAPER, "key": TOKEN_KEY}},
    }


def _timing(args: ExistingPrometheusArgs, job: ScrapeJob, interval: str) -> Manifest:
    """interval: how this kind of object spells it."""
    return {interval: job.interval or args.interval, "scrapeTimeout": job.interval or args.timeout}


def _honoring(job: ScrapeJob) -> Manifest:
    found: Manifest = {"honorLabels": True} if job.page.honor_labels else {}
    if job.page.own_timestamps:
        found |= {"honorTimestamps": True, "trackTimestampsStaleness": True}
    return found


def _changes(job: ScrapeJob) -> Manifest:
    changes = metric_relabelings(job)
    return {"metricRelabelings": changes} if changes else {}


def _limits(args: ExistingPrometheusArgs, job: ScrapeJob) -> Manifest:
    return {
        "sampleLimit": job.sample_limit,
        "targetLimit": args.limits.targets,
        "labelLimit": args.limits.labels,
        "labelNameLengthLimit": args.limits.label_name_length,
        "labelValueLengthLimit": args.limits.label_value_length,
        # Dropped targets are kept in memory for the status page only; on a large cluster that is every pod per job.
        "keepDroppedTargets": 20,
    }


def _object(args: ExistingPrometheusArgs, version: str, kind: str, name: str, spec: Manifest) -> Manifest:
    labels = {**args.labels, **object_labels(args.namespace)}
    return {"apiVersion": version, "kind": kind, "metadata": metadata(name, labels, args.namespace), "spec": spec}
