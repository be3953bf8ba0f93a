"""The configuration that a durable stack of this size renders, with its targets where the bench has them.

Scrape jobs, relabelling, limits and rules stay as rendered. Only discovery is replaced, and what discovery by pods
would have said about a target is said by labels in front of the stack's own relabelling.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import yaml

from components.dcgm_exporter.names import NAME as DCGM
from components.kube_state_metrics.names import NAME as KUBE_STATE
from components.prometheus.config import render
from components.prometheus.names import CONFIG_FILE
from components.prometheus.names import NAME as PROMETHEUS
from sandbox.workloads.gpu.fleet import GPUS_OF_A_JOB
from signals.yamltext import dump
from stacks.arguments import prometheus_args
from stacks.scraping import rule_inputs
from tests.offline.stacks.examples import BUILT, settings

if TYPE_CHECKING:
    from components.prometheus.args import PrometheusArgs
    from components.scrape import ScrapeJob
    from signals.rules.inputs import RuleInputs
    from tests.bench.plan import Plan

STACK: Final = "prod"
_NODE, _PORT = "__meta_kubernetes_pod_node_name", "__meta_kubernetes_pod_container_port_name"
_FOUND_BY: Final = ("static_configs", "scheme", "tls_config", "authorization", "follow_redirects")


@dataclass(frozen=True, kw_only=True)
class Addresses:
    """Where the targets are, each `host:port`."""

    fleet: str
    objects: str
    prometheus: str


def arguments(plan: Plan) -> PrometheusArgs:
    """What the stack would tell Prometheus if it had these nodes, and nothing to scrape but them and itself."""
    pods = math.ceil(plan.gpus / GPUS_OF_A_JOB) * plan.nodes
    sizing = {"nodes": plan.nodes, "gpu_nodes": plan.nodes, "gpus_per_node": plan.gpus, "pods": pods}
    found = settings(STACK, prometheus={"scrape_interval": f"{plan.interval}s"}, sizing=sizing)
    args = prometheus_args(found, BUILT)
    jobs = tuple(job for job in args.jobs if job.page.job in (PROMETHEUS, DCGM, KUBE_STATE))
    return replace(args, jobs=jobs, rules=rule_inputs(found, jobs), alertmanagers=(), remote_write=())


def inputs(plan: Plan) -> RuleInputs:
    """What the rules of that stack are made from."""
    return arguments(plan).rules


def files(plan: Plan, addresses: Addresses) -> dict[str, str]:
    """File name → text: configuration and every rule file."""
    args = arguments(plan)
    rendered = render(args).files
    document = yaml.safe_load(rendered[CONFIG_FILE])
    jobs = {job.page.job: job for job in args.jobs}
    document["scrape_configs"] = [_moved(job, jobs[job["job_name"]], addresses) for job in document["scrape_configs"]]
    return {**rendered, CONFIG_FILE: dump(document)}


def without_rules(text: str) -> str:
    """The same configuration, with no rule files. text: of CONFIG_FILE."""
    document = yaml.safe_load(text)
    return dump({key: value for key, value in document.items() if key != "rule_files"})


def _moved(rendered: dict[str, Any], job: ScrapeJob, addresses: Addresses) -> dict[str, Any]:
    kept = {k: v for k, v in rendered.items() if k not in _FOUND_BY and not k.endswith("_sd_configs")}
    port = job.pods.port_name if job.pods else ""
    said: list[dict[str, Any]] = [{"target_label": _PORT, "replacement": port}]
    if job.page.job == DCGM:
        said.append({"source_labels": ["__meta_plumbline_node"], "target_label": _NODE})
        where: dict[str, Any] = {"http_sd_configs": [{"url": f"http://{addresses.fleet}/sd"}]}
    else:
        address = addresses.objects if job.page.job == KUBE_STATE else addresses.prometheus
        where = {"static_configs": [{"targets": [address], "labels": {_NODE: "bench"}}]}
    return {**kept, **where, "relabel_configs": [*said, *rendered["relabel_configs"]]}
