"""The configuration of Prometheus: scrape jobs from the catalogue, rules, and the revision that names both."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from components.errors import DeployError
from components.prometheus.names import CONFIG_FILE, SECRETS_PATH, selector
from signals.rules import rule_files
from signals.rules.model import rule_file
from signals.rules.sentinel import sentinel
from signals.yamltext import dump

if TYPE_CHECKING:
    from collections.abc import Callable

    from components.objects import Manifest
    from components.prometheus.args import PrometheusArgs, RemoteWrite
    from signals.catalogue.model import Drop, Producer

SENTINEL_FILE = "rules-sentinel.yml"
_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
_REVISION_DIGITS = 12


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """files: file name → text, as they lie in one directory. revision: 12 hex digits that change with any of them."""

    files: dict[str, str]
    revision: str


def render(args: PrometheusArgs) -> Rendered:
    """Configuration and rule files.

    The revision is the hash of everything but the sentinel rule, which carries it. All files go into one ConfigMap:
    the kubelet swaps a volume's directory atomically, so that configuration and rules are never of two revisions.
    """
    rules = rule_files(args.producers)
    names = sorted((*rules, SENTINEL_FILE))
    files = {CONFIG_FILE: dump(_configuration(args, names)), **rules}
    digest = revision(files)
    return Rendered(files={**files, SENTINEL_FILE: rule_file((sentinel(digest),))}, revision=digest)


def revision(files: dict[str, str]) -> str:
    """First 12 hex digits of SHA-256 over names and contents, each ended by a zero byte, in the order of the names."""
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{files[name]}\0".encode())
    return digest.hexdigest()[:_REVISION_DIGITS]


def _configuration(args: PrometheusArgs, rule_file_names: list[str]) -> Manifest:
    identity = {"cluster": args.cluster, "environment": args.environment}
    found: Manifest = {
        "global": {
            "scrape_interval": args.scrape_interval,
            "scrape_timeout": args.scrape_timeout,
            "evaluation_interval": args.scrape_interval,
            "external_labels": identity,
        },
        # In the file and not in flags, where it is deprecated: a new retention needs no restart.
        "storage": {"tsdb": {"retention": {"time": args.retention, "size": args.retention_size}}},
        "rule_files": rule_file_names,
        "scrape_configs": [_scrape_job(args, page) for page in args.producers],
    }
    if args.remote_write:
        found["remote_write"] = [_remote_write(store) for store in args.remote_write]
    return found


def _remote_write(store: RemoteWrite) -> Manifest:
    found: Manifest = {"name": store.name, "url": store.url}
    if store.basic_auth is not None:
        directory = f"{SECRETS_PATH}/{store.name}"
        found["basic_auth"] = {
            "username_file": f"{directory}/{store.basic_auth.username_key}",
            "password_file": f"{directory}/{store.basic_auth.password_key}",
        }
    return found


def _scrape_job(args: PrometheusArgs, page: Producer) -> Manifest:
    if page.job not in _DISCOVERY:
        raise DeployError(
            f"the catalogue has producer `{page.job}`, but components/prometheus/config.py does not know how to find "
            f"it; accepted: {', '.join(_DISCOVERY)}; add its discovery there."
        )
    found = {"job_name": page.job, **_DISCOVERY[page.job](args)}
    if page.own_timestamps:
        # Their samples are older than the scrape; without tracking, a container that is gone would live 5 minutes on.
        found |= {"honor_timestamps": True, "track_timestamps_staleness": True}
    found["relabel_configs"] = [*found.get("relabel_configs", ()), *_target_labels(args, page)]
    if page.drops:
        found["metric_relabel_configs"] = [_drop(drop) for drop in page.drops]
    return {**found, **_limits(args)}


def _limits(args: PrometheusArgs) -> Manifest:
    return {
        "sample_limit": args.limits.samples,
        "label_limit": args.limits.labels,
        "label_name_length_limit": args.limits.label_name_length,
        "label_value_length_limit": args.limits.label_value_length,
        "body_size_limit": args.limits.body_size,
        "target_limit": args.limits.targets,
        # Dropped targets are kept in memory for the status page only; on a large cluster that is every pod per job.
        "keep_dropped_targets": 20,
    }


def _target_labels(args: PrometheusArgs, page: Producer) -> list[Manifest]:
    """The labels that the catalogue promises for this job, and no other."""
    sources: dict[str, Manifest] = {
        "cluster": {"replacement": args.cluster},
        "environment": {"replacement": args.environment},
        "node": {"source_labels": ["__meta_kubernetes_node_name"]},
    }
    return [{**sources[label], "target_label": label} for label in page.target_labels]


def _drop(drop: Drop) -> Manifest:
    names, patterns = ["__name__"], [drop.metric]
    if drop.buckets:
        names.append("le")
        # Prometheus 3 writes whole numbers as `2.0`, whatever the producer wrote.
        steps = (re.escape(step) + ("" if "." in step else r"(\.0)?") for step in drop.buckets)
        patterns.append(f"({'|'.join(steps)})")
    for label, pattern in drop.labels:
        names.append(label)
        patterns.append(pattern)
    return {"source_labels": names, "regex": ";".join(patterns), "action": "drop"}


def _itself(args: PrometheusArgs) -> Manifest:
    """Pods of this StatefulSet; a finished pod keeps its address for a while and would count as a dead target."""
    label = ",".join(f"{key}={value}" for key, value in selector(args.namespace).items())
    return {
        "kubernetes_sd_configs": [
            {
                "role": "pod",
                "namespaces": {"own_namespace": True},
                "selectors": [{"role": "pod", "label": label}],
            }
        ],
        "relabel_configs": [
            {"source_labels": ["__meta_kubernetes_pod_container_port_name"], "regex": "http", "action": "keep"},
            {"source_labels": ["__meta_kubernetes_pod_phase"], "regex": "Succeeded|Failed", "action": "drop"},
        ],
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


_DISCOVERY: dict[str, Callable[[PrometheusArgs], Manifest]] = {
    "prometheus": _itself,
    "apiserver": _apiserver,
    "kubelet": _kubelet,
    "cadvisor": _cadvisor,
}
