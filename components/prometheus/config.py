"""The configuration of Prometheus: scrape jobs from the catalogue, rules, and the revision that names both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.prometheus.discovery import discovery, pod_discovery
from components.prometheus.names import CONFIG_FILE, SECRETS_PATH
from components.rendered import Rendered, revision
from components.scrape import metric_relabels, target_relabels
from signals.rules import rule_files
from signals.rules.model import rule_file
from signals.rules.sentinel import sentinel
from signals.yamltext import dump

if TYPE_CHECKING:
    from components.objects import Manifest
    from components.prometheus.args import PrometheusArgs, RemoteWrite
    from components.scrape import ScrapeJob

SENTINEL_FILE = "rules-sentinel.yml"


def render(args: PrometheusArgs) -> Rendered:
    """Configuration and rule files.

    The revision is the hash of everything but the sentinel rule, which carries it. All files go into one ConfigMap:
    the kubelet swaps a volume's directory atomically, so that configuration and rules are never of two revisions.
    """
    rules = rule_files(args.rules)
    names = sorted((*rules, SENTINEL_FILE))
    files = {CONFIG_FILE: dump(_configuration(args, names)), **rules}
    digest = revision(files)
    return Rendered(files={**files, SENTINEL_FILE: rule_file((sentinel(digest),))}, revision=digest)


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
        "scrape_configs": [_scrape_job(args, job) for job in args.jobs],
    }
    if args.alertmanagers:
        found["alerting"] = _alerting(args)
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


def _alerting(args: PrometheusArgs) -> Manifest:
    return {
        "alertmanagers": [
            {
                "scheme": found.scheme,
                "api_version": "v2",
                **({"path_prefix": found.path_prefix} if found.path_prefix else {}),
                **(pod_discovery(found.pods) if found.pods else {"static_configs": [{"targets": [found.address]}]}),
            }
            for found in args.alertmanagers
        ]
    }


def _scrape_job(args: PrometheusArgs, job: ScrapeJob) -> Manifest:
    page = job.page
    found = {"job_name": page.job, **discovery(args, job)}
    if job.interval is not None:
        found |= {"scrape_interval": job.interval, "scrape_timeout": job.interval}
    if page.honor_labels:
        found["honor_labels"] = True
    if page.own_timestamps:
        # Their samples are older than the scrape; without tracking, a container that is gone would live 5 minutes on.
        found |= {"honor_timestamps": True, "track_timestamps_staleness": True}
    labels = target_relabels(job, args.cluster, args.environment)
    found["relabel_configs"] = [*found.get("relabel_configs", ()), *labels]
    changes = metric_relabels(page)
    if changes:
        found["metric_relabel_configs"] = changes
    return {**found, **_limits(args, job)}


def _limits(args: PrometheusArgs, job: ScrapeJob) -> Manifest:
    return {
        "sample_limit": job.sample_limit,
        "label_limit": args.limits.labels,
        "label_name_length_limit": args.limits.label_name_length,
        "label_value_length_limit": args.limits.label_value_length,
        "body_size_limit": args.limits.body_size,
        "target_limit": args.limits.targets,
        # Dropped targets are kept in memory for the status page only; on a large cluster that is every pod per job.
        "keep_dropped_targets": 20,
    }
