"""Where Prometheus finds the targets of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.errors import DeployError
from components.scrape import pod_relabels

if TYPE_CHECKING:
    from collections.abc import Callable

    from components.objects import Manifest
    from components.prometheus.args import PrometheusArgs
    from components.scrape import PodTargets, ScrapeJob

_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


def discovery(args: PrometheusArgs, job: ScrapeJob) -> Manifest:
    """Discovery and access of one job. Raises DeployError for a page whose targets nobody has described."""
    if job.pods is not None:
        return {**pod_discovery(job.pods), **_static(job)}
    if job.static:
        return _static(job)
    if job.page.job not in _OF_THE_CLUSTER:
        raise DeployError(
            f"job `{job.page.job}` names no pods and no addresses, and components/prometheus/discovery.py does not "
            f"know how to find it; known are {', '.join(_OF_THE_CLUSTER)}; give its pods where the job is made."
        )
    return _OF_THE_CLUSTER[job.page.job](args)


def pod_discovery(pods: PodTargets) -> Manifest:
    """Discovery of pods, and the filters that leave one port of those that run."""
    label = ",".join(f"{key}={value}" for key, value in pods.labels.items())
    return {
        "kubernetes_sd_configs": [
            {
                "role": "pod",
                "namespaces": {"names": [pods.namespace]},
                "selectors": [{"role": "pod", "label": label}],
            }
        ],
        "relabel_configs": pod_relabels(pods),
    }


def _static(job: ScrapeJob) -> Manifest:
    """The node stands where pod discovery would put it, so that the same relabelling serves both.

    The filters of pod discovery would drop these targets: they have neither a port's name nor a phase; so they get one.
    """
    if not job.static:
        return {}
    port = {job.pods.port_label: job.pods.port_text} if job.pods else {}
    node = "__meta_kubernetes_pod_node_name" if job.pods else "__meta_kubernetes_node_name"
    return {
        "static_configs": [
            {"targets": [target.address], "labels": {node: target.node, **port}} for target in job.static
        ]
    }


def _with_token(*, server_name: str | None, verify: bool) -> Manifest:
    """HTTPS with the pod's own account. Redirects are refused: the token would be sent along to wherever they lead."""
    tls: Manifest = {"ca_file": f"{_ACCOUNT}/ca.crt"} if verify else {"insecure_skip_verify": True}
    if server_name is not None:
        tls["server_name"] = server_name
    return {
        "scheme": "https",
        "tls_config": tls,
        "authorization": {"credentials_file": f"{_ACCOUNT}/token"},
        "follow_redirects": False,
    }


def _apiserver(_: PrometheusArgs) -> Manifest:
    """Every API server by itself, not one at random behind the Service. The name is in all their certificates."""
    return {
        **_with_token(server_name="kubernetes.default.svc", verify=True),
        "kubernetes_sd_configs": [
            {
                "role": "endpointslice",
                "namespaces": {"names": ["default"]},
                "selectors": [{"role": "endpointslice", "label": "kubernetes.io/service-name=kubernetes"}],
            }
        ],
        "relabel_configs": [
            {"source_labels": ["__meta_kubernetes_endpointslice_port_name"], "regex": "https", "action": "keep"}
        ],
    }


def _kubelet(args: PrometheusArgs) -> Manifest:
    """Every node; kubelets of some distributions have self-signed serving certificates."""
    return {
        **_with_token(server_name=None, verify=args.verify_kubelets),
        "kubernetes_sd_configs": [{"role": "node"}],
    }


def _cadvisor(args: PrometheusArgs) -> Manifest:
    return {**_kubelet(args), "metrics_path": "/metrics/cadvisor"}


_OF_THE_CLUSTER: dict[str, Callable[[PrometheusArgs], Manifest]] = {
    "apiserver": _apiserver,
    "kubelet": _kubelet,
    "cadvisor": _cadvisor,
}
