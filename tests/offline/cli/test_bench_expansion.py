"""What stands behind a record, and what panels ask."""

from __future__ import annotations

import re

import pytest

from signals.thresholds import Thresholds
from tests.bench import configuration, expansion
from tests.bench.errors import BenchError
from tests.bench.expansion import Recorded, raw
from tests.bench.panels import panels, rival
from tests.offline.cli.test_bench_plan import small

KNOWN = {
    "gpu:use:ratio": Recorded('max by (UUID, pod) (DCGM_FI_DEV_GPU_UTIL{GPU_I_ID=""}) / 100', "1m"),
    "node:use:avg": Recorded("avg by (node) (gpu:use:ratio)", "1m"),
    "pod:use:avg": Recorded('avg by (pod) (gpu:use:ratio{pod!=""})', "15s"),
}


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ("DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_GPU_TEMP"),
        (
            "topk(3, node:use:avg)",
            'topk(3, (avg by (node) ((max by (UUID, pod) (DCGM_FI_DEV_GPU_UTIL{GPU_I_ID=""}) / 100))))',
        ),
        (
            "pod:use:avg",
            '(avg by (pod) ((max by (UUID, pod) (DCGM_FI_DEV_GPU_UTIL{GPU_I_ID="", pod!=""}) / 100)))',
        ),
        (
            "max_over_time(gpu:use:ratio[5m])",
            'max_over_time((max by (UUID, pod) (DCGM_FI_DEV_GPU_UTIL{GPU_I_ID=""}) / 100)[5m:1m])',
        ),
        ("rate(kube_x_total[5m])", "rate(kube_x_total[5m])"),
    ],
)
def test_records_are_replaced_down_to_scraped_series(expr: str, expected: str) -> None:
    assert raw(expr, KNOWN) == expected


def test_record_without_an_expression_of_its_own_is_refused() -> None:
    with pytest.raises(BenchError, match="gpu:xid_classified:max"):
        raw("gpu:xid_classified:max", expansion.records(configuration.inputs(small()), "15s"))


def test_interval_is_that_of_the_group_or_of_all() -> None:
    known = expansion.records(configuration.inputs(small()), "15s")
    assert known["fleet:gpus:count"].interval == "1m"
    assert known["gpu:xid_events:max"].interval == "15s"


def test_panels_ask_for_records_and_expand_to_none() -> None:
    known = expansion.records(configuration.inputs(small()), "15s")
    found = {panel.title: raw(panel.expr, known) for panel in panels(Thresholds())}
    same = [panel.title for panel in panels(Thresholds()) if panel.expr == found[panel.title]]
    assert len(found) == 10
    assert same == ["hottest by model"]
    assert [expr for expr in found.values() if set(re.findall(r"[a-z_]+:[a-z_]+:\w+", expr)) & set(known)] == []


def test_rival_has_eight_panels_and_no_record() -> None:
    assert len(rival()) == 8
    assert all(raw(panel.expr, {}) == panel.expr for panel in rival())
