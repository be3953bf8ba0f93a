"""Judgement over targets, labels and the metrics of the catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from signals.catalogue.model import Metric, MetricType, Producer
from smoke.judge import labels, scrape
from stacks.contract import Cluster, ScrapeJob
from tests.offline.smoke import objects

if TYPE_CHECKING:
    from smoke.model import Problem

Json = dict[str, Any]
JOBS = tuple(ScrapeJob(job=job, min_targets=1, max_series=10) for job in objects.JOBS)
CLUSTER = Cluster(uid="u", context="c", name="local", environment="dev")
COUNTER = Metric(name="x_total", type=MetricType.COUNTER, unit="1", meaning="", labels=("code",), high=10)


def _text(problems: list[Problem]) -> str:
    return "\n".join(map(str, problems))


def _expected(targets: Json, jobs: tuple[ScrapeJob, ...] = JOBS, nodes: dict[str, set[str]] | None = None) -> str:
    return _text(scrape.expected_jobs(targets, jobs, nodes or {}))


def _without(job: str) -> Json:
    targets = objects.targets()
    targets["activeTargets"] = [t for t in targets["activeTargets"] if t["labels"]["job"] != job]
    return targets


def test_expected_jobs_are_fine() -> None:
    assert _expected(objects.targets()) == ""
    assert _expected(objects.targets(), nodes={"kubelet": {objects.NODE}}) == ""


def test_missing_job_is_named() -> None:
    text = _expected(_without("kubelet"))
    assert text == "job kubelet: seen no such job; expected at least 1 targets up"


@pytest.mark.parametrize("how", ["listed", "counted"])
def test_job_whose_targets_are_all_dropped_is_told_apart(how: str) -> None:
    targets = _without("kubelet")
    if how == "listed":
        targets["droppedTargets"] = [{"discoveredLabels": {"job": "kubelet"}}]
    else:
        targets["droppedTargetCounts"]["kubelet"] = 3
    assert "no active target" in _expected(targets)
    assert "dropped by relabelling" in _expected(targets)


def test_too_few_targets_up_are_counted() -> None:
    targets = objects.targets()
    targets["activeTargets"][2]["health"] = "down"
    assert "0 of 1 targets up" in _expected(targets)
    two = (ScrapeJob(job="kubelet", min_targets=2, max_series=10),)
    assert "1 of 1 targets up; expected at least 2" in _expected(objects.targets(), two)


def test_contract_without_jobs_proves_nothing() -> None:
    assert _expected(objects.targets(), ())


def test_node_without_a_target_that_is_up_is_named() -> None:
    wanted = {"kubelet": {objects.NODE, "slurm-1"}}
    assert _expected(objects.targets(), nodes=wanted) == (
        "job kubelet, node slurm-1: seen no target up; expected a target up"
    )
    targets = objects.targets()
    targets["activeTargets"][2]["health"] = "down"
    assert f"node {objects.NODE}: seen no target up" in _expected(targets, nodes={"kubelet": {objects.NODE}})


def test_job_that_needs_no_target_may_have_none() -> None:
    none = (*JOBS, ScrapeJob(job="dcgm-exporter", min_targets=0, max_series=10))
    assert _expected(objects.targets(), none) == ""
    assert "node gpu-1: seen no target up" in _expected(objects.targets(), none, {"dcgm-exporter": {"gpu-1"}})


GPU_TEMP = Metric(name="t", type=MetricType.GAUGE, unit="", meaning="", labels=("gpu", "UUID"))
CPU = Metric(name="c", type=MetricType.COUNTER, unit="", meaning="", labels=("cpu",))


def test_objects_are_told_apart_by_what_is_unique_and_else_by_their_node() -> None:
    page = _producer(identity=("gpu", "UUID", "namespace", "pod", "container"))
    assert scrape.about(GPU_TEMP, page) == {"gpu", "UUID"}
    assert scrape.about(CPU, _producer(identity=("cpu",))) == {"cpu", "node"}
    assert scrape.about(CPU, _producer(identity=("cpu",), per_node=False)) == {"cpu"}


def test_object_that_two_targets_tell_of_is_named_with_both() -> None:
    series = [
        objects.series(1, job="dcgm-exporter", instance="node-a"),
        objects.series(1, job="gpu", instance="n:9400"),
    ]
    text = _text(scrape.shared_objects([({"UUID": "GPU-1", "gpu": ""}, series)], _producer()))
    assert text == (
        "Kubelet object UUID=GPU-1: seen told of by 2 targets: dcgm-exporter (node-a), gpu (n:9400); "
        "expected one target"
    )
    assert scrape.shared_objects([], _producer()) == []


def test_job_over_its_budget_is_named_with_its_largest_metrics() -> None:
    within = [objects.series(10, job="kubelet")]
    assert scrape.over_budget(within, JOBS, {}) == []
    largest = {"kubelet": [objects.series(9, __name__="big"), objects.series(2, __name__="small")]}
    text = _text(scrape.over_budget([objects.series(11, job="kubelet")], JOBS, largest))
    assert text == "job kubelet: seen 11 series, most of them big 9, small 2; expected at most 10"


def test_targets_that_are_up_are_fine() -> None:
    assert scrape.all_up(objects.targets()) == []


@pytest.mark.parametrize("health", ["down", "unknown"])
def test_target_that_is_not_up_shows_its_error(health: str) -> None:
    targets = objects.targets()
    targets["activeTargets"][0] |= {"health": health, "lastError": "connection refused"}
    assert f"seen {health}: connection refused; expected up" in _text(scrape.all_up(targets))
    assert scrape.all_up({"activeTargets": []})


def test_kubelet_and_cadvisor_share_an_instance_and_are_no_duplicates() -> None:
    assert scrape.no_duplicates(objects.targets()) == []
    assert scrape.no_duplicates({"activeTargets": []})


def test_in_somebody_elses_prometheus_only_contracted_jobs_are_judged() -> None:
    targets = objects.targets()
    targets["activeTargets"] += [
        objects.target("theirs", "http://t:1/metrics"),
        objects.target("t2", "http://t:1/metrics"),
    ]
    targets["activeTargets"][-1] |= {"health": "down", "lastError": "refused"}
    ours = {t["labels"]["job"] for t in objects.targets()["activeTargets"]}
    assert scrape.all_up(targets, ours) == []
    assert scrape.no_duplicates(targets, ours) == []
    assert scrape.all_up(targets)
    assert scrape.no_duplicates(targets)
    assert scrape.all_up(targets, {"absent"})
    twice = objects.target("theirs", "http://10.88.0.7:9090/metrics")
    targets["activeTargets"].append(twice)
    assert len(scrape.no_duplicates(targets, ours)) == 1


DUPLICATES = {
    "same address in another job": objects.target("again", "http://10.88.0.7:9090/metrics"),
    "same address, other spelling": objects.target("again", "http://10.88.0.7:9090/metrics/", instance="other"),
    "other scheme": objects.target("again", "https://10.88.0.7:9090/metrics"),
    "same labels by another address": objects.target(
        "prometheus", "http://prometheus.example:9090/metrics", instance="10.88.0.7:9090"
    ),
}


@pytest.mark.parametrize("kind", DUPLICATES)
def test_endpoint_scraped_twice_is_named(kind: str) -> None:
    targets = objects.targets()
    targets["activeTargets"].append(DUPLICATES[kind])
    problems = scrape.no_duplicates(targets)
    assert len(problems) == 1
    assert "2 targets: prometheus (http://10.88.0.7:9090/metrics)" in _text(problems)


def test_parameters_tell_targets_apart() -> None:
    targets = {
        "activeTargets": [
            objects.target("probe", "http://p:9115/probe?module=a&target=x", instance="x"),
            objects.target("probe", "http://p:9115/probe?module=a&target=y", instance="y"),
        ]
    }
    assert scrape.no_duplicates(targets) == []
    targets["activeTargets"].append(objects.target("other", "http://p:9115/probe?target=y&module=a", instance="z"))
    assert scrape.no_duplicates(targets)


def _producer(*, per_node: bool = True, identity: tuple[str, ...] = ()) -> Producer:
    return Producer(
        job="kubelet",
        title="Kubelet",
        versions="",
        target_labels=("cluster", "environment", "node"),
        per_node=per_node,
        metrics=(COUNTER,),
        identity=identity,
    )


def _up(**changes: str) -> list[Json]:
    healthy = {"__name__": "up", "job": "kubelet", "instance": "i", "cluster": "local", "environment": "dev"}
    return [objects.series(1, **{"node": "node-a", **healthy, **changes})]


def _labels(up: list[Json], nodes: set[str] | None = None) -> str:
    return _text(labels.target_labels(up, _producer(), CLUSTER, nodes or {"node-a"}))


def test_contracted_labels_are_fine() -> None:
    assert _labels(_up()) == ""


def test_other_labels_are_named() -> None:
    assert "cluster other; expected cluster local" in _labels(_up(cluster="other"))
    assert "environment prod; expected environment dev" in _labels(_up(environment="prod"))
    assert "labels cluster, environment, node, pod;" in _labels(_up(pod="p"))
    assert "nodes without node-a, with node-b besides; expected nodes node-a" in _labels(_up(node="node-b"))
    assert "nodes without node-b; expected nodes node-a, node-b" in _labels(_up(), {"node-a", "node-b"})
    assert "no `up` series" in _labels([])
    assert labels.target_labels([], _producer(), CLUSTER, set()) == []
    bare = _up()
    del bare[0]["metric"]["node"]
    assert "node missing" in _labels(bare)


def test_job_without_a_page_is_named() -> None:
    assert labels.unknown_jobs(["a"], ["a", "b"]) == []
    assert _text(labels.unknown_jobs(["c"], ["a"])) == "job c: seen not in the catalogue; expected a page there"


def test_renamed_label_is_named() -> None:
    assert labels.collided({"exported_pod": []}) == []
    found = {"exported_pod": [objects.series(3, __name__="m", job="j")]}
    assert "m of job j: seen label exported_pod on 3 series" in _text(labels.collided(found))
