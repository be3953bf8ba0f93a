"""The catalogue is complete, unambiguous and honest about what may be absent."""

from __future__ import annotations

import re

import pytest

from signals.catalogue import PRODUCERS, producer
from signals.catalogue.model import Metric, MetricType, Presence, Producer

METRICS = [(page, metric) for page in PRODUCERS for metric in page.metrics]


JOBS = [
    *("prometheus", "apiserver", "kubelet", "cadvisor", "dcgm-exporter", "node-exporter", "kube-state-metrics"),
    *("kube-state-metrics-self", "pushgateway", "alertmanager"),
    *("object-store", "swanlab-gate", "swanlab-vector", "swanlab-clickhouse"),
    *("otel-agent", "otel-gateway", "span-metrics", "victoria-logs", "jaeger"),
    "grafana",
]
UNITS = (
    *("seconds", "bytes", "1", "celsius", "watts", "megahertz", "mebibytes", "percent", "millijoules"),
    *("bytes per second", "nanoseconds", "days"),
)


def named(value: object) -> str:
    return str(getattr(value, "job", None) or getattr(value, "name", ""))


def test_jobs_are_those_of_this_bundle() -> None:
    assert [page.job for page in PRODUCERS] == JOBS


def test_a_page_is_found_by_its_job() -> None:
    assert producer("kubelet").job == "kubelet"


def test_unknown_job_names_those_that_exist() -> None:
    with pytest.raises(KeyError, match=f"no producer `dcgm`; known are {', '.join(JOBS)}"):
        producer("dcgm")


@pytest.mark.parametrize("page", PRODUCERS, ids=named)
def test_no_metric_is_listed_twice(page: Producer) -> None:
    names = [metric.name for metric in page.metrics]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("page", PRODUCERS, ids=named)
def test_every_target_carries_cluster_and_environment_and_its_node_if_it_has_one(page: Producer) -> None:
    assert page.target_labels == ("cluster", "environment", *(("node",) if page.per_node else ()))


@pytest.mark.parametrize("page", PRODUCERS, ids=named)
def test_only_own_timestamps_may_lag(page: Producer) -> None:
    assert (page.sample_delay_seconds > 0) == page.own_timestamps


@pytest.mark.parametrize(("page", "metric"), METRICS, ids=named)
def test_metric_is_described_and_sourced(page: Producer, metric: Metric) -> None:
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", metric.name), page.job
    assert metric.meaning.endswith(".")
    assert re.fullmatch(r"\S+ v?\S+( and v\S+)? \S+\.(go|csv|rs|cpp|py)", metric.source)
    assert metric.unit in UNITS


@pytest.mark.parametrize(("page", "metric"), METRICS, ids=named)
def test_unit_is_the_one_in_the_name(page: Producer, metric: Metric) -> None:
    found = re.search(r"_(seconds|bytes)(_total)?$", metric.name)
    assert found is None or metric.unit == found[1], page.job


@pytest.mark.parametrize(("page", "metric"), METRICS, ids=named)
def test_absence_has_an_event_and_presence_has_none(page: Producer, metric: Metric) -> None:
    assert bool(metric.event) == (metric.presence is Presence.EVENT), page.job


@pytest.mark.parametrize(("page", "metric"), METRICS, ids=named)
def test_range_is_not_empty(page: Producer, metric: Metric) -> None:
    assert metric.low is None or metric.high is None or metric.low <= metric.high, page.job


@pytest.mark.parametrize(("page", "metric"), METRICS, ids=named)
def test_only_histograms_have_buckets(page: Producer, metric: Metric) -> None:
    assert "le" not in metric.labels or metric.type is MetricType.HISTOGRAM, page.job


@pytest.mark.parametrize(("page", "metric"), METRICS, ids=named)
def test_labels_do_not_collide_with_those_of_the_target(page: Producer, metric: Metric) -> None:
    assert not {*page.target_labels, "job", "instance"} & set(metric.labels)


@pytest.mark.parametrize(("page", "metric"), METRICS, ids=named)
def test_nothing_that_is_described_is_dropped_whole(page: Producer, metric: Metric) -> None:
    whole = [drop for drop in page.drops if not drop.labels and not drop.buckets]
    assert not [drop.metric for drop in whole if re.fullmatch(drop.metric, metric.name)]


def test_clickhouse_keeps_its_rejected_inserts_and_not_what_each_processor_does() -> None:
    drops = [drop.metric for drop in producer("swanlab-clickhouse").drops]
    gone = ("ProfileEvents_SelectQueryTimeMicroseconds", "Metrics_S3Requests", "AsyncMetrics_OSUserTimeCPU7")
    kept = ("ProfileEvents_RejectedInserts", "ProfileEvents_DelayedInserts", "AsyncMetrics_Uptime")
    for name in (*gone, *kept):
        assert any(re.fullmatch(drop, f"ClickHouse{name}") for drop in drops) == (name in gone)


@pytest.mark.parametrize("page", PRODUCERS, ids=named)
def test_every_drop_says_what_is_lost(page: Producer) -> None:
    assert all(drop.why.endswith(".") and re.compile(drop.metric) for drop in page.drops)
