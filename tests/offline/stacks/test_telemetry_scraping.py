"""What a stack with telemetry scrapes, and who is let in for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from components.scrape import PodTargets
from stacks.scraping import guarded, promised_jobs, rule_inputs, scrape_jobs
from stacks.systems import systems
from tests.offline.stacks.examples import BUILT, existing, settings
from tests.offline.stacks.telemetry_examples import LOGS_ELSEWHERE, beside_existing, with_telemetry

if TYPE_CHECKING:
    from collections.abc import Callable

    from stacks.settings import Settings

JOBS = {"otel-agent", "otel-gateway", "span-metrics", "victoria-logs", "jaeger"}
OFF: dict[str, Any] = {"mode": "off"}


@pytest.mark.parametrize(
    ("job", "namespace", "name", "port"),
    [
        ("otel-agent", "plumbline-node", "otel-agent", "metrics"),
        ("otel-gateway", "plumbline", "otel-gateway", "metrics"),
        ("span-metrics", "plumbline", "otel-gateway", "span-metrics"),
        ("victoria-logs", "plumbline", "victoria-logs", "http"),
        ("jaeger", "plumbline", "jaeger", "metrics"),
    ],
)
def test_pods_are_scraped_where_they_are_deployed(job: str, namespace: str, name: str, port: str) -> None:
    (found,) = (wanted for wanted in scrape_jobs(with_telemetry()) if wanted.page.job == job)
    labels = {"app.kubernetes.io/name": name, "app.kubernetes.io/instance": "plumbline"}
    assert found.pods == PodTargets(namespace=namespace, labels=labels, port_name=port)


def test_scraped_ports_are_ports_of_the_pods_with_those_labels() -> None:
    """What is written down once more above is what the manifests have."""
    found = with_telemetry()
    made = [m for s in systems(found, BUILT) for m in s.manifests.values() if m["kind"] in ("StatefulSet", "DaemonSet")]
    for job in (job for job in scrape_jobs(found) if job.page.job in JOBS):
        assert job.pods is not None
        pods = [m for m in made if job.pods.labels.items() <= m["spec"]["template"]["metadata"]["labels"].items()]
        assert [m["metadata"]["namespace"] for m in pods] == [job.pods.namespace]
        (container,) = pods[0]["spec"]["template"]["spec"]["containers"]
        assert job.pods.port_name in {port["name"] for port in container["ports"]}


@pytest.mark.parametrize(
    ("sections", "wanted_jobs"),
    [
        ({}, JOBS),
        ({"logs": LOGS_ELSEWHERE}, JOBS - {"victoria-logs"}),
        ({"traces": OFF}, JOBS - {"jaeger"}),
    ],
)
@pytest.mark.parametrize("base", [with_telemetry, beside_existing], ids=["own Prometheus", "a team's"])
def test_what_runs_is_scraped_and_guarded(
    base: Callable[..., Settings], sections: dict[str, Any], wanted_jobs: set[str]
) -> None:
    found = base(**sections)
    assert {job.page.job for job in scrape_jobs(found)} & JOBS == wanted_jobs
    assert set(guarded(found)) & JOBS == wanted_jobs
    assert set(rule_inputs(found, scrape_jobs(found)).jobs) & JOBS == wanted_jobs


def test_nothing_of_it_is_scraped_where_it_is_off() -> None:
    for found in (settings("staging"), existing()):
        assert not {job.page.job for job in scrape_jobs(found)} & JOBS
        assert not set(guarded(found)) & JOBS
        assert rule_inputs(found, scrape_jobs(found)).telemetry is None


def test_every_replica_of_the_gateway_is_planned_for() -> None:
    def budgets(replicas: int) -> dict[str, int]:
        found = with_telemetry(otel_collector={"gateway": {"replicas": replicas}})
        return {job.job: job.max_series for job in promised_jobs(found, scrape_jobs(found)) if job.job in JOBS}

    one, three = budgets(1), budgets(3)
    assert three == one | {job: 3 * one[job] for job in ("otel-gateway", "span-metrics")}


def test_policies_let_a_teams_prometheus_in_to_each_port_that_it_scrapes() -> None:
    (made,) = (system for system in systems(beside_existing(), BUILT) if system.name == "prometheus")
    opened = {
        manifest["spec"]["podSelector"]["matchLabels"]["app.kubernetes.io/name"]: set[object]()
        for manifest in made.manifests.values()
        if manifest["kind"] == "NetworkPolicy"
    }
    for manifest in made.manifests.values():
        if manifest["kind"] == "NetworkPolicy":
            (rule,) = manifest["spec"]["ingress"]
            name = manifest["spec"]["podSelector"]["matchLabels"]["app.kubernetes.io/name"]
            opened[name] |= {port["port"] for port in rule["ports"]}
            assert "team-monitoring" in str(rule["from"])
    assert {name: opened[name] for name in ("otel-agent", "otel-gateway", "victoria-logs", "jaeger")} == {
        "otel-agent": {"metrics"},
        "otel-gateway": {"metrics", "span-metrics"},
        "victoria-logs": {"http"},
        "jaeger": {"metrics"},
    }
