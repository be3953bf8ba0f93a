"""What is scraped follows from the settings: which jobs exist, where their targets are, and what they may cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from components.scrape import PodTargets, ScrapeJob, StaticTarget
from stacks.scraping import guarded, promised_jobs, rule_inputs, scrape_jobs, tells_own_alertmanager
from tests.offline.stacks.examples import existing, settings
from tests.offline.stacks.swanlab_examples import BUCKETS, ELSEWHERE, with_swanlab

if TYPE_CHECKING:
    from collections.abc import Callable

    from stacks.contract import ScrapeJob as Promised
    from stacks.settings import Settings

CLUSTER = {"apiserver", "kubelet", "cadvisor"}
KUBE_STATE = {"kube-state-metrics", "kube-state-metrics-self"}
EXPERIMENTS = {"object-store", "swanlab-gate", "swanlab-vector", "swanlab-clickhouse"}
TELEMETRY = {"otel-agent", "otel-gateway", "span-metrics", "victoria-logs", "jaeger"}
EVERY_JOB = {
    *("prometheus", *CLUSTER, "dcgm-exporter", "node-exporter", *KUBE_STATE, "pushgateway", "alertmanager"),
    "grafana",
}
"""Of a stack without SwanLab and telemetry."""
TEAM = {"namespace": "team", "labels": {"app": "theirs"}, "port": "http"}
OUTSIDE = [{"node": "slurm-1", "address": "slurm-1.example.com:9400"}]


def jobs(found: Settings) -> dict[str, ScrapeJob]:
    return {job.page.job: job for job in scrape_jobs(found)}


def promised(found: Settings) -> dict[str, Promised]:
    return {job.job: job for job in promised_jobs(found, scrape_jobs(found))}


@pytest.mark.parametrize(
    ("stack", "sections", "missing"),
    [
        ("local", {}, {"grafana"}),
        ("staging", {}, set()),
        ("kind", {}, {"dcgm-exporter", "alertmanager", "grafana"}),
        ("staging", {"dcgm_exporter": {"mode": "existing", "existing": TEAM}}, set()),
        ("staging", {"dcgm_exporter": {"mode": "off"}}, {"dcgm-exporter"}),
        ("staging", {"dcgm_exporter": {"mode": "off", "targets": OUTSIDE}}, set()),
        ("staging", {"node_exporter": {"mode": "existing", "existing": TEAM}}, set()),
        ("staging", {"node_exporter": {"mode": "off"}}, {"node-exporter"}),
        # About the program itself: somebody else's may keep that port to itself.
        (
            "staging",
            {"kube_state_metrics": {"mode": "existing", "existing": TEAM}},
            {"kube-state-metrics-self"},
        ),
        ("staging", {"kube_state_metrics": {"mode": "off"}}, KUBE_STATE),
        ("staging", {"pushgateway": {"mode": "off"}}, {"pushgateway"}),
        ("staging", {"grafana": {"mode": "off"}}, {"grafana"}),
        # Of somebody else's nobody here knows who may ask for its metrics.
        ("staging", {"grafana": {"mode": "existing", "existing": {"namespace": "team"}}}, {"grafana"}),
        ("staging", {"alertmanager": {"mode": "off"}}, {"alertmanager"}),
        (
            "staging",
            {"alertmanager": {"mode": "existing", "existing": [{"address": "am.team:9093"}]}},
            {"alertmanager"},
        ),
    ],
)
def test_jobs_per_mode(stack: str, sections: dict[str, Any], missing: set[str]) -> None:
    experiments = EXPERIMENTS | TELEMETRY if stack == "local" else set()
    assert set(jobs(settings(stack, None, **sections))) == (EVERY_JOB | experiments) - missing


@pytest.mark.parametrize(
    ("keys", "store", "missing"),
    [
        ({"gate_image": "registry.example.org/gate:1"}, {"mode": "managed", "buckets": BUCKETS}, set()),
        # Where its image cannot be had there is no gate; what would be asked of it is then not asked.
        ({}, {"mode": "managed", "buckets": BUCKETS}, {"swanlab-gate"}),
        ({}, {"mode": "off"}, {"swanlab-gate", "object-store"}),
        ({"stores": ELSEWHERE}, {"mode": "off"}, {"swanlab-gate", "object-store", "swanlab-clickhouse"}),
        ({"mode": "off"}, {"mode": "managed", "buckets": BUCKETS}, EXPERIMENTS - {"object-store"}),
    ],
    ids=["all", "no gate", "no object store", "stores elsewhere", "no SwanLab"],
)
def test_of_swanlab_is_scraped_what_this_stack_runs(
    keys: dict[str, Any], store: dict[str, Any], missing: set[str]
) -> None:
    assert set(jobs(with_swanlab("staging", store, **keys))) & EXPERIMENTS == EXPERIMENTS - missing


def test_parts_of_swanlab_are_found_in_its_namespace_and_those_of_the_chart_by_number() -> None:
    """Numbers are those of the chart, 9090 and 9363. The gate is a part of the stack and bears its name as instance."""
    found = {job: wanted.pods for job, wanted in jobs(settings("local")).items() if job in EXPERIMENTS}
    chart = {"app.kubernetes.io/instance": "swanlab-self-hosted"}
    gate = {"app.kubernetes.io/name": "swanlab-gate", "app.kubernetes.io/instance": "plumbline"}
    store = {"app.kubernetes.io/name": "object-store", "app.kubernetes.io/instance": "plumbline"}
    there = "plumbline-swanlab"
    vector, clickhouse = (chart | {"app.kubernetes.io/service": name} for name in ("vector", "clickhouse"))
    assert found == {
        "object-store": PodTargets(namespace="plumbline", labels=store, port_name="metrics"),
        "swanlab-gate": PodTargets(namespace=there, labels=gate, port_name="http"),
        "swanlab-vector": PodTargets(namespace=there, labels=vector, port=9090),
        "swanlab-clickhouse": PodTargets(namespace=there, labels=clickhouse, port=9363),
    }


def test_every_pod_of_the_buffer_is_planned_for_in_the_budget_of_its_job() -> None:
    for replicas in (1, 2):
        found = promised(with_swanlab("staging", buffer={"replicas": replicas}))
        assert found["swanlab-vector"].max_series == 600 * replicas


@pytest.mark.parametrize("own", [(), ("cadvisor",), ("apiserver", "kubelet", "cadvisor")], ids=str)
def test_prometheus_that_runs_already_scrapes_the_cluster_itself(own: tuple[str, ...]) -> None:
    found = existing(existing_prometheus={"jobs": list(own)})
    assert set(jobs(found)) == EVERY_JOB - {"prometheus"} - CLUSTER | set(own)


@pytest.mark.parametrize(
    ("job", "namespace", "name", "port"),
    [
        ("prometheus", "plumbline", "prometheus", "http"),
        ("alertmanager", "plumbline", "alertmanager", "http"),
        ("pushgateway", "plumbline", "pushgateway", "http"),
        ("kube-state-metrics", "plumbline", "kube-state-metrics", "http-metrics"),
        ("kube-state-metrics-self", "plumbline", "kube-state-metrics", "telemetry"),
        ("node-exporter", "plumbline-node", "node-exporter", "metrics"),
        ("dcgm-exporter", "plumbline-node", "dcgm-exporter", "metrics"),
        ("grafana", "plumbline", "grafana", "http"),
    ],
)
def test_own_pods_are_found_where_they_are_deployed(job: str, namespace: str, name: str, port: str) -> None:
    """Node agents lie in their own namespace and bear the stack's name as instance all the same."""
    labels = {"app.kubernetes.io/name": name, "app.kubernetes.io/instance": "plumbline"}
    assert jobs(settings("staging"))[job].pods == PodTargets(namespace=namespace, labels=labels, port_name=port)


@pytest.mark.parametrize("job", sorted(CLUSTER))
def test_jobs_of_the_cluster_itself_have_no_pods_of_ours(job: str) -> None:
    assert jobs(settings("staging"))[job].pods is None


@pytest.mark.parametrize("section", ["dcgm_exporter", "node_exporter", "kube_state_metrics"])
def test_pods_of_somebody_else_are_found_by_what_the_settings_say(section: str) -> None:
    found = jobs(settings("staging", None, **{section: {"mode": "existing", "existing": TEAM}}))
    theirs = PodTargets(namespace="team", labels={"app": "theirs"}, port_name="http")
    assert [job for job, wanted in found.items() if wanted.pods == theirs] == [section.replace("_", "-")]


def test_targets_outside_the_cluster_belong_to_the_gpu_job_alone() -> None:
    found = jobs(settings("staging", dcgm_exporter={"targets": OUTSIDE}))
    target = (StaticTarget(node="slurm-1", address="slurm-1.example.com:9400"),)
    assert {job: wanted.static for job, wanted in found.items() if wanted.static} == {"dcgm-exporter": target}
    assert found["dcgm-exporter"].pods is not None


def test_without_an_exporter_in_the_cluster_the_gpu_job_has_those_outside_alone() -> None:
    found = jobs(settings("staging", dcgm_exporter={"mode": "off", "targets": OUTSIDE}))["dcgm-exporter"]
    assert (found.pods, [target.node for target in found.static]) == (None, ["slurm-1"])


def test_pushgateway_is_scraped_faster_than_the_rest() -> None:
    found = jobs(settings("staging"))
    assert {job: wanted.interval for job, wanted in found.items() if wanted.interval} == {"pushgateway": "5s"}


def test_scrapes_are_limited_by_what_is_planned_for_the_largest_target() -> None:
    """One node's share for a job with a target on each node, the whole cluster for any other; and half as much again.

    Budgets: cAdvisor 400 per node and 130 per pod, kube-state-metrics 1500, 60 per pod and 60 per node.
    """
    sizing = {"nodes": 3, "gpu_nodes": 1, "gpus_per_node": 2, "pods": 100, "pods_per_node": 50}
    found = jobs(settings("staging", None, sizing=sizing))
    assert found["cadvisor"].sample_limit == (400 + 130 * 50) * 3 // 2
    assert found["kube-state-metrics"].sample_limit == (1500 + 60 * 100 + 60 * 3) * 3 // 2


def test_limit_of_the_settings_is_never_passed() -> None:
    found = jobs(settings("staging", prometheus={"limits": {"samples": 60_000}}))
    assert {wanted.sample_limit for job, wanted in found.items() if job == "kube-state-metrics"} == {60_000}


def test_limit_of_an_existing_prometheus_counts_where_there_is_one() -> None:
    found = jobs(existing(existing_prometheus={"limits": {"samples": 60_000}}))
    assert found["kube-state-metrics"].sample_limit == 60_000


def test_budgets_of_the_whole_job_reach_rules_and_contract() -> None:
    sizing = {"nodes": 3, "gpu_nodes": 1, "gpus_per_node": 2, "pods": 100, "pods_per_node": 50}
    found = settings("staging", None, sizing=sizing)
    budgets = rule_inputs(found, scrape_jobs(found)).budgets
    assert budgets["cadvisor"] == 400 * 3 + 130 * 100
    assert budgets["node-exporter"] == 3500 * 3
    assert {job: wanted.max_series for job, wanted in promised(found).items()} == budgets


def test_gpu_job_promises_a_target_on_each_node_that_its_exporter_selects() -> None:
    gpus = {"node_selector": {"pool": "gpu"}}
    found = promised(settings("staging", dcgm_exporter=gpus | {"targets": OUTSIDE}))
    assert {job: wanted.node_selector for job, wanted in found.items() if wanted.node_selector} == {
        "dcgm-exporter": {"pool": "gpu"}
    }
    assert {job: wanted.static for job, wanted in found.items() if wanted.static} == {"dcgm-exporter": ("slurm-1",)}
    outside = promised(settings("staging", dcgm_exporter={"mode": "off", "targets": OUTSIDE}))["dcgm-exporter"]
    # Not empty, which would mean every node.
    assert (outside.node_selector, outside.static) == ({"nvidia.com/gpu.present": "true"}, ("slurm-1",))
    simulated = promised(settings("local"))["dcgm-exporter"]
    assert (simulated.node_selector, simulated.static) == ({}, ())


def test_rules_are_made_for_the_jobs_that_exist() -> None:
    found = settings("kind")
    inputs = rule_inputs(found, scrape_jobs(found))
    assert set(inputs.jobs) == set(inputs.budgets) == EVERY_JOB - {"dcgm-exporter", "alertmanager", "grafana"}


def test_rules_get_the_numbers_labels_and_address_of_the_settings() -> None:
    found = settings(
        "staging",
        None,
        thresholds={"gpu_temperature_celsius": 70.0},
        workload_labels={"team": "example.org/team"},
    )
    inputs = rule_inputs(found, ())
    assert inputs.thresholds.gpu_temperature_celsius == 70.0
    assert inputs.pod_labels == {"team": "example.org/team"}
    assert inputs.runbooks == ""


@pytest.mark.parametrize(
    ("found", "own", "pipeline"),
    [
        (lambda: settings("staging"), True, True),
        (lambda: settings("staging", alertmanager={"mode": "off"}), False, False),
        (lambda: settings("staging", alertmanager={"mode": "existing", "existing": [{"address": "a:1"}]}), False, True),
        (existing, False, False),
        (lambda: existing(existing_prometheus={"tells_our_alertmanager": True}), True, True),
        (lambda: existing(alertmanager={"mode": "existing"}), False, True),
    ],
    ids=["own", "nobody", "a team's", "a team's Prometheus", "tells ours", "tells a team's"],
)
def test_watchdog_is_there_where_somebody_is_told(found: Callable[[], Settings], *, own: bool, pipeline: bool) -> None:
    assert tells_own_alertmanager(found()) is own
    assert rule_inputs(found(), ()).alert_pipeline is pipeline


def test_policies_of_the_stack_guard_what_it_deploys_in_the_pod_network() -> None:
    """node-exporter is in the node's own network, where no policy applies."""
    everything = {"alertmanager", "pushgateway", *KUBE_STATE, "dcgm-exporter"}
    assert set(guarded(settings("local"))) == everything | {"object-store", "swanlab-gate"} | TELEMETRY
    assert set(guarded(settings("kind"))) == everything - {"alertmanager", "dcgm-exporter"}
    theirs = {"mode": "existing", "existing": TEAM}
    found = settings("staging", dcgm_exporter=theirs, kube_state_metrics=theirs)
    assert set(guarded(found)) == {"alertmanager", "pushgateway", "grafana"}


def test_rules_for_somebody_elses_prometheus_name_the_cluster_and_our_own_do_not() -> None:
    assert rule_inputs(settings("staging"), ()).cluster is None
    assert rule_inputs(existing(), ()).cluster == existing().cluster.name


@pytest.mark.parametrize(("asked", "least"), [(True, 0), (False, 1)])
def test_pool_of_gpus_that_may_be_empty_needs_no_target(*, asked: bool, least: int) -> None:
    found = settings("staging", None, dcgm_exporter={"may_be_empty": asked})
    jobs = scrape_jobs(found)
    promised = {job.job: job.min_targets for job in promised_jobs(found, jobs)}
    assert promised.pop("dcgm-exporter") == least
    assert set(promised.values()) == {1}
    assert rule_inputs(found, jobs).may_be_empty == (("dcgm-exporter",) if asked else ())
