"""No rule names a metric or a label that the catalogue does not know; each kind of such a fault is seen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from signals.catalogue import PRODUCERS
from signals.catalogue.model import Metric, MetricType, Producer
from signals.rules import groups
from signals.rules.model import Alert, Group, Record, Severity
from tests.offline.signals.gate import faults, judge, known_metrics, with_records
from tests.offline.signals.promtool_cases import INPUTS

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Producer(
    job="demo",
    title="Demo",
    versions="1",
    target_labels=("cluster", "environment", "node"),
    per_node=True,
    metrics=(
        Metric(name="demo_total", type=MetricType.COUNTER, unit="1", meaning="m", labels=("disk",)),
        Metric(name="demo_level", type=MetricType.GAUGE, unit="1", meaning="m", labels=("gpu",), optional=("pod",)),
        Metric(name="demo_seconds", type=MetricType.HISTOGRAM, unit="seconds", meaning="m", labels=("op",)),
    ),
)
KNOWN = known_metrics([PAGE])


def every_group() -> list[Group]:
    return [group for file in groups(INPUTS).values() for group in file]


def test_no_rule_is_at_fault() -> None:
    assert faults(every_group(), PRODUCERS) == []


@pytest.mark.parametrize(
    ("expression", "labels"),
    [
        ("demo_level", {"gpu", "pod", "cluster", "environment", "node", "job", "instance"}),
        ("sum by (cluster, gpu) (demo_level)", {"cluster", "gpu"}),
        ("sum without (gpu, pod, job, instance, environment) (demo_level)", {"cluster", "node"}),
        ("rate(demo_total[5m]) > 0", {"disk", "cluster", "environment", "node", "job", "instance"}),
        ("histogram_quantile(0.9, sum by (le, op) (rate(demo_seconds_bucket[5m])))", {"op"}),
        ('absent(demo_level{gpu="0", pod=~"x"})', {"gpu"}),
        ('label_replace(sum by (gpu) (demo_level), "team", "$1", "gpu", "(.*)")', {"gpu", "team"}),
        ("sum by (gpu, node) (demo_level) / on (node) group_left () sum by (node) (demo_total)", {"gpu", "node"}),
        ("sum by (node) (demo_level) / on (node) sum by (node) (demo_total)", {"node"}),
        ("sum by (gpu) (demo_level) unless sum by (gpu, node) (demo_level)", {"gpu"}),
        ("sum by (gpu) (demo_level) or sum by (node) (demo_level)", {"gpu", "node"}),
        ("time() - max by (node) (demo_level)", {"node"}),
        ("topk by (node) (3, sum by (node, gpu) (demo_level))", {"node", "gpu"}),
        ("vector(1)", set()),
    ],
)
def test_labels_are_inferred_as_prometheus_defines_them(expression: str, labels: set[str]) -> None:
    found, verdict = judge(expression, KNOWN)
    assert (set(found), verdict.faults) == (labels, [])


@pytest.mark.parametrize(
    ("expression", "fault"),
    [
        ("demo_levle > 1", "metric demo_levle is not in the catalogue"),
        ('demo_level{gqu="1"}', "demo_level has no label gqu"),
        ("sum by (disk) (demo_level)", "aggregation by label disk"),
        ("demo_level * on (disk) group_left () demo_total", "match on label disk, which the left side demo_level"),
        ("demo_total and ignoring (pod) demo_total", "match on label pod"),
        (
            "sum by (gpu) (demo_level) * on (gpu) group_left (disk) max by (gpu) (demo_level)",
            "group label disk is not on the side",
        ),
        ('label_replace(demo_total, "a", "$1", "pod", "(.*)")', "label_replace reads label pod"),
        ("rate(demo_level[5m])", "rate() of demo_level, which is a gauge"),
        ("delta(demo_total[5m])", "delta() of demo_total, which is no gauge"),
        ("demo_seconds > 1", "metric demo_seconds is not in the catalogue"),
        ('{job="demo"}', "names no metric"),
    ],
)
def test_every_kind_of_fault_is_named(expression: str, fault: str) -> None:
    assert any(fault in found for found in judge(expression, KNOWN)[1].faults)


def alert(expression: str, summary: str = "s") -> Alert:
    return Alert(
        alert="A", expr=expression, wait="1m", severity=Severity.P3, summary=summary, description="d", runbook="r"
    )


def test_a_template_label_that_the_expression_does_not_yield_is_named() -> None:
    group = Group(name="g", rules=(alert("sum by (gpu) (demo_level) > 1", "{{ $labels.pod }} on {{ $labels.gpu }}"),))
    assert faults([group], [PAGE]) == ["A: template uses $labels.pod, which the expression does not yield"]


def test_an_external_label_is_no_label_of_a_series() -> None:
    """Prometheus adds external labels to what it sends away, and to nothing that a rule or a template reads."""
    record = Record(record="node:demo_level:sum", expr="sum by (node) (demo_level)")
    group = Group(name="g", rules=(record, alert("node:demo_level:sum > 1", "{{ $labels.cluster }}")))
    assert faults([group], [PAGE]) == ["A: template uses $labels.cluster, which the expression does not yield"]
    by = Group(name="g", rules=(record, alert("sum by (environment) (node:demo_level:sum) > 1")))
    assert ["aggregation by label environment" in fault for fault in faults([by], [PAGE])] == [True]


def test_labels_follow_a_chain_of_records() -> None:
    chain = (
        Record(record="fleet:demo_level:sum", expr="sum by (cluster) (node:demo_level:sum)"),
        Record(record="node:demo_level:sum", expr="sum by (cluster, node) (demo_level)"),
    )
    known = with_records([Group(name="g", rules=chain)], [PAGE])
    assert known["node:demo_level:sum"].labels == {"cluster", "node"}
    group = Group(name="g", rules=(*chain, alert("sum by (gpu) (node:demo_level:sum) > 1")))
    assert [fault for fault in faults([group], [PAGE]) if "aggregation by label gpu" in fault]


def changed(rename: str, *, labels: bool) -> Iterator[Producer]:
    """The pages with one metric renamed, or without its labels."""
    for page in PRODUCERS:
        metrics = (
            metric
            if metric.name != rename
            else replace(metric, labels=(), optional=())
            if labels
            else replace(metric, name=f"{metric.name}_renamed")
            for metric in page.metrics
        )
        yield replace(page, metrics=tuple(metrics))


def used() -> list[str]:
    """Every catalogued metric that a rule names."""
    known = with_records(every_group(), PRODUCERS)
    names = {name for g in every_group() for rule in g.rules for name in judge(rule.expr, known)[1].metrics}
    return sorted(names & {metric.name for page in PRODUCERS for metric in page.metrics})


@pytest.mark.parametrize("name", used())
def test_a_rename_upstream_of_any_metric_that_rules_use_is_seen(name: str) -> None:
    found = faults(every_group(), changed(name, labels=False))
    assert any(f"metric {name} is not in the catalogue" in fault for fault in found)


@pytest.mark.parametrize("name", ["prometheus_rule_evaluation_failures_total"])
def test_a_label_lost_upstream_is_seen(name: str) -> None:
    assert faults(every_group(), changed(name, labels=True)) != []
