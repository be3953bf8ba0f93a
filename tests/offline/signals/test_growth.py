"""Counters that outlive their exporter: growth is seen at birth, and no exporter's restart looks like it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from signals.rules import rule_files
from signals.rules.expressions import grew, grew_since
from tests.offline.signals.promtool_cases import CASES, INPUTS, run

if TYPE_CHECKING:
    from pathlib import Path


def judged(case: str, name: str, old: str, new: str, directory: Path) -> int:
    """Exit code of one case with part of the alert's expression replaced. name: the beginning of the case's name."""
    alert = name.partition(",")[0]
    texts = rule_files(INPUTS)
    changed = {}
    for file, text in texts.items():
        rules = [r for g in yaml.safe_load(text)["groups"] for r in g["rules"] if r.get("alert", alert) == alert]
        assert all(old in rule["expr"] for rule in rules if "alert" in rule)
        kept = [{**r, "expr": r["expr"].replace(old, new)} if "alert" in r else r for r in rules]
        changed[file] = yaml.safe_dump({"groups": [{"name": "changed", "rules": kept}]})
    return run(next(found for found in CASES if found.stem == case), directory, changed, name)[0]


def test_the_expression() -> None:
    assert grew_since("x", "15m", "born", "cluster, pod") == (
        "increase(x[15m]) > 0\nor\n(x > 0 and on (cluster, pod) time() - born < 15m)"
    )


@pytest.mark.parametrize(
    ("case", "name", "old"),
    [
        ("node", "NodeOutOfMemory, the first kill", "< 15m)"),
        ("node-network", "NodeRdmaLinkDown, the first flap", "< 15m)"),
        ("kubernetes-pods", "MonitoringOutOfMemory, first seen with 1 restart", "< 3h)"),
        ("kubernetes-pods", "ContainerOutOfMemory, first seen with 1 restart", "< 3h)"),
        ("gpu-kubernetes", "GpuXidWithPodErrors, born at 1", "< 15m)"),
    ],
)
def test_without_the_age_of_the_object_its_first_event_is_missed(
    case: str, name: str, old: str, tmp_path: Path
) -> None:
    assert judged(case, name, old, old, tmp_path) == 0
    assert judged(case, name, old, "< 0)", tmp_path) != 0


def test_growth_that_trusts_a_new_series_takes_a_restart_of_the_exporter_for_a_kill(tmp_path: Path) -> None:
    """What `grew` does is right for counters of the process that exposes them, and wrong for the kernel's."""
    counter = 'node_vmstat_oom_kill{job="node-exporter"}'
    boot = 'node_boot_time_seconds{job="node-exporter"}'
    right = grew_since(counter, "15m", boot, "cluster, instance")
    name = "NodeOutOfMemory, kills of last month"
    assert judged("node", name, right, right, tmp_path) == 0
    assert judged("node", name, right, grew(counter, "5m"), tmp_path) != 0


def test_a_new_kube_state_metrics_is_no_restart_of_a_pod(tmp_path: Path) -> None:
    name = "GpuXidWithPodErrors, the restart of last month"
    assert judged("gpu-kubernetes", name, "< 15m)", "< 15m)", tmp_path) == 0
    assert judged("gpu-kubernetes", name, "< 15m)", "< 999d)", tmp_path) != 0
