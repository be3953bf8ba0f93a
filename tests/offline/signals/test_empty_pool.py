"""A pool of GPU nodes that is scaled to none pages nobody; one with nodes and without an exporter does."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import yaml

from signals.rules import rule_files
from tests.offline.promtool import require_promtool
from tests.offline.signals.promtool_cases import INPUTS

if TYPE_CHECKING:
    from pathlib import Path

GPU = "dcgm-exporter"
FILES = ("rules-targets.yml", "rules-gpu-kubernetes.yml")
CAPACITY = (
    'kube_node_status_capacity{job="kube-state-metrics", cluster="c", environment="dev", node="n", '
    'resource="nvidia_com_gpu"}'
)


def states(directory: Path, *, may_be_empty: bool, capacity: str) -> bool:
    """Whether ScrapeJobAbsent is silent before the pool has nodes (10m) and fires for dcgm-exporter alone after (40m).

    capacity: GPUs of a node, one value each minute.
    """
    inputs = replace(INPUTS, may_be_empty=(GPU,) if may_be_empty else ())
    rendered = rule_files(inputs)
    for name in FILES:
        (directory / name).write_text(rendered[name], encoding="utf-8")
    others = [job for job in INPUTS.jobs if job != GPU]
    series = [{"series": f'up{{job="{job}", cluster="c", instance="i"}}', "values": "1x60"} for job in others]
    query = 'count by (job, alertstate) (ALERTS{alertname="ScrapeJobAbsent"})'
    fires = [{"labels": f'{{job="{GPU}", alertstate="firing"}}', "value": 1}]
    test = {
        "interval": "1m",
        "input_series": [*series, {"series": CAPACITY, "values": capacity}],
        "promql_expr_test": [
            {"expr": query, "eval_time": "10m", "exp_samples": []},
            {"expr": query, "eval_time": "40m", "exp_samples": fires},
            {"expr": query, "eval_time": "59m", "exp_samples": []},
        ],
    }
    case = directory / "case.yaml"
    case.write_text(yaml.safe_dump({"rule_files": list(FILES), "tests": [test]}), encoding="utf-8")
    command = [require_promtool(), "test", "rules", case.name]
    return subprocess.run(command, cwd=directory, capture_output=True, timeout=60, check=False).returncode == 0


@pytest.mark.parametrize(
    ("may_be_empty", "capacity", "right"),
    [
        (True, "_x19 8x25 stale", True),
        (True, "0x19 8x25 0x15", True),
        (True, "_x60", False),
        (False, "_x19 8x25 stale", False),
    ],
    ids=["nodes come and go", "the plugin comes and goes", "always at none", "may not be empty"],
)
def test_absence_matters_while_a_node_offers_gpus(
    capacity: str, tmp_path: Path, *, may_be_empty: bool, right: bool
) -> None:
    assert states(tmp_path, may_be_empty=may_be_empty, capacity=capacity) is right
