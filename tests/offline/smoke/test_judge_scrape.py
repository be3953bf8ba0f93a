"""Judgement over targets, labels and the metrics of the catalogue."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from signals.catalogue.model import Metric, MetricType, Presence, Producer
from smoke.judge import labels, scrape, signals
from smoke.judge.signals import Observation
from stacks.contract import Cluster, ScrapeJob
from tests.offline.smoke import objects

if TYPE_CHECKING:
    from smoke.model import Problem

Json = dict[str, Any]
JOBS = tuple(ScrapeJob(job=job, min_targets=1) for job in objects.JOBS)
CLUSTER = Cluster(uid="u", context="c", name="local", environment="dev")
COUNTER = Metric(name="x_total", type=MetricType.COUNTER, unit="1", meaning="", labels=("code",), high=10)


def _text(problems: list[Problem]) -> str:
    return "\n".join(map(str, problems))


def _without(job: str) -> Json:
    targets = objects.targets()
    targets["activeTargets"] = [t for t in targets["activeTargets"] if t["labels"]["job"] != job]
    return targets


def test_expected_jobs_are_fine() -> None:
    assert scrape.expected_jobs(objects.targets(), JOBS) == []


def test_missing_job_is_named() -> None:
    text = _text(scrape.expected_jobs(_without("kubelet"), JOBS))
    assert text == "job kubelet: seen no such job; expected at least 1 targets up"


@pytest.mark.parametrize("how", ["listed", "counted"])
def test_job_whose_targets_are_all_dropped_is_told_apart(how: str) -> None:
    targets = _without("kubelet")
    if how == "listed":
        targets["droppedTargets"] = [{"discoveredLabels": {"job": "kubelet"}}]
    else:
        targets["droppedTargetCounts"]["kubelet"] = 3
    assert "no active target" in _text(scrape.expected_jobs(targets, JOBS))
    assert "dropped by relabelling" in _text(scrape.expected_jobs(targets, JOBS))


def test_too_few_targets_up_are_counted() -> None:
    targets = objects.targets()
    targets["activeTargets"][2]["health"] = "down"
    assert "0 of 1 targets up" in _text(scrape.expected_jobs(targets, JOBS))
    two = (ScrapeJob(job="kubelet", min_targets=2),)
    assert "1 of 1 targets up; expected at least 2" in _text(scrape.expected_jobs(objects.targets(), two))


def test_contract_without_jobs_proves_nothing() -> None:
    assert scrape.expected_jobs(objects.targets(), ())


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


def _producer(*, per_node: bool = True) -> Producer:
    return Producer(
        job="kubelet",
        title="",
        versions="",
        target_labels=("cluster", "environment", "node"),
        per_node=per_node,
        metrics=(COUNTER,),
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
    assert "targets on nodes node-b; expected nodes node-a" in _labels(_up(node="node-b"))
    assert "expected nodes node-a, node-b" in _labels(_up(), {"node-a", "node-b"})
    assert "no `up` series" in _labels([])
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


HEALTHY = Observation(count=2, low=0.0, high=9.0, labelled={"code": 2}, types=frozenset({"counter"}))


def _seen(**changes: object) -> Observation:
    return replace(HEALTHY, **changes)  # type: ignore[arg-type]  # each caller names fields with their types


def test_metric_as_described_is_fine() -> None:
    assert signals.contracted(COUNTER, "j", HEALTHY) == []


METRIC_FAULTS = {
    "absent": (_seen(count=0, low=None, high=None), "no series; expected present at all times"),
    "other type": (_seen(types=frozenset({"gauge"})), "type gauge; expected type counter"),
    "no type": (_seen(types=frozenset()), "type undeclared"),
    "label missing": (_seen(labelled={"code": 0}), "no series with label code"),
    "too low": (_seen(low=-1.0), "value -1; expected a value from 0 to 10"),
    "too high": (_seen(high=11.0), "value 11; expected a value from 0 to 10"),
    "not a number": (_seen(low=float("nan"), high=float("nan")), "value nan"),
    "no value": (_seen(low=None), "no value"),
}


@pytest.mark.parametrize("kind", METRIC_FAULTS)
def test_metric_that_breaks_its_contract_is_named(kind: str) -> None:
    seen, words = METRIC_FAULTS[kind]
    assert words in _text(signals.contracted(COUNTER, "j", seen))


def test_event_metric_may_be_absent_but_not_wrong() -> None:
    event = Metric(name="e", type=MetricType.GAUGE, unit="1", meaning="", presence=Presence.EVENT, event="a fault")
    assert signals.contracted(event, "j", _seen(count=0)) == []
    assert signals.fresh(event, "j", [], {"a"}, 30) == []
    assert "type counter; expected type gauge" in _text(signals.contracted(event, "j", HEALTHY))


def test_histogram_is_judged_by_its_own_series() -> None:
    histogram = Metric(name="h", type=MetricType.HISTOGRAM, unit="seconds", meaning="", high=1.0)
    names = [signals.series_name(histogram, label) for label in ("", "code", "le")]
    assert names == ["h_count", "h_count", "h_bucket"]
    counted = Observation(count=1, low=None, high=None, labelled={}, types=frozenset({"histogram"}))
    assert signals.contracted(histogram, "j", counted) == []


@pytest.mark.parametrize("name", ["x_total", "x"])
def test_type_of_a_counter_is_found_with_and_without_suffix(name: str) -> None:
    assert signals.declared_types({name: [{"type": "counter"}]}, COUNTER) == {"counter"}
    assert signals.declared_types({"other": [{"type": "counter"}]}, COUNTER) == frozenset()


def _fresh(*ages: Json) -> str:
    return _text(signals.fresh(COUNTER, "j", list(ages), {"a", "b"}, 30))


def test_age_is_judged_per_active_instance() -> None:
    young = objects.series(30, instance="a")
    assert _fresh(young, objects.series(1, instance="b"), objects.series(200, instance="gone")) == ""
    old = _fresh(objects.series(1, instance="a"), objects.series(31, instance="b"))
    assert old == "x_total of job j, instance b: seen newest sample 31 s old; expected younger than 30 s"
    assert "no samples" in _fresh()
    assert "no samples" in _fresh(objects.series(1, instance="gone"))
    assert "instance a: seen newest sample nan s old" in _fresh(objects.series("NaN", instance="a"))


def test_active_instance_without_the_metric_is_named() -> None:
    text = _fresh(objects.series(1, instance="a"))
    assert text == "x_total of job j, instance b: seen no samples; expected a sample younger than 30 s"


def test_samples_from_the_future_are_named() -> None:
    assert _fresh(objects.series(-10, instance="a"), objects.series(1, instance="b")) == ""
    text = _fresh(objects.series(-11, instance="a"), objects.series(1, instance="b"))
    assert text == "x_total of job j, instance a: seen newest sample 11 s in the future; expected none from the future"


def test_event_of_the_past_is_absent_again() -> None:
    event = replace(COUNTER, presence=Presence.EVENT, event="a fault")
    assert signals.fresh(event, "j", [objects.series(249, instance="a")], {"a"}, 30) == []
    assert signals.fresh(event, "j", [objects.series(-60, instance="a")], {"a"}, 30)
    assert signals.fresh(COUNTER, "j", [objects.series(249, instance="a")], {"a"}, 30)
