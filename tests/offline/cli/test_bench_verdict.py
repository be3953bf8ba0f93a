"""Figures of a bench: what makes them worthless, what follows from them, and how they are shown."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.bench import measure, queries, signals
from tests.bench.boards import SAME, board_panels
from tests.bench.figures import Asked, Group, Load, Report, Scrapes, Timed, Truth
from tests.bench.panels import Panel, rival
from tests.bench.plan import TWENTY
from tests.bench.table import table
from tests.bench.verdict import problems
from tests.offline.cli.test_bench_expansion import KNOWN
from tests.offline.cli.test_bench_plan import small
from tests.offline.signals.promtool_cases import INPUTS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.bench.client import Client

TRUTH = Truth(
    targets_up=10,
    scrapes_failed=0,
    gpus=80,
    gpus_recorded=80,
    gpu_series=1603,
    allocated=64,
    teams=("research", "serving", "speech", "vision"),
    unhealthy=(),
    evaluation_failures=0.0,
)
LOAD = Load(
    seconds=60.0,
    cpu=9.0,
    load=1.0,
    samples_per_second=110.0,
    head_series=3000.0,
    resident_mib=100.0,
    peak_mib=120.0,
    rules=150,
)
GROUP = Group(name="slow", rules=7, interval=15.0, last=1.5, worst=3.0, missed=0.0, reach=21_600.0)
PANELS = (
    Asked(
        title="by node",
        raw=Timed(1001.0, 3002.0, 20),
        recorded=Timed(1.0, 2.0, 20),
        raw_total=10.0,
        recorded_total=10.4,
    ),
    Asked(title="by model", raw=Timed(50.0, 70.0, 1)),
)
RIVAL_POWER = Asked(title="12239 total power", raw=Timed(10.0, 40.0, 8))
BOARD = (
    Asked(title="GPU fleet: Power", raw=Timed(1.0, 4.0, 1)),
    Asked(title="GPU fleet: Alerts about GPUs", raw=Timed(2.0, 3.0, 0), may_be_empty=True),
)
GOOD = Report(
    nodes=10,
    gpus_per_node=8,
    fields=TWENTY,
    cores=2,
    interval=15,
    truth=TRUTH,
    with_rules=LOAD,
    without_rules=replace(LOAD, cpu=5.0, rules=0),
    groups=(GROUP,),
    record_share=0.25,
    scrapes=Scrapes(duration_p99=0.1, interval_p99=15.0),
    panels=PANELS,
    rival=(Asked(title="theirs", raw=Timed(200.0, 400.0, 80)), RIVAL_POWER),
    board=BOARD,
)


def broken(**truth: object) -> Report:
    """A report in which something else is so."""
    return replace(GOOD, truth=replace(TRUTH, **truth))  # type: ignore[arg-type]  # fields of the record, by name


def test_good_figures_stand() -> None:
    assert problems(GOOD) == []


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (broken(targets_up=9), "9 of 10 targets"),
        (broken(scrapes_failed=1), "1 targets failed a scrape"),
        (broken(gpus=79), "79 GPUs are scraped, not 80"),
        (broken(gpus_recorded=0), "fleet:gpus:count says 0"),
        (broken(gpu_series=1599), "1599 series"),
        (broken(allocated=0), "says 0 GPUs, not 64"),
        (broken(teams=("unattributed",)), "counted for unattributed"),
        (broken(teams=()), "counted for no team"),
        (broken(unhealthy=("GpuHot of g: err many-to-many",)), "rule GpuHot of g: err many-to-many"),
        (broken(evaluation_failures=2.0), "2 evaluations failed"),
        (replace(GOOD, groups=()), "no rule group"),
        (replace(GOOD, groups=(replace(GROUP, missed=1.0),)), "slow missed 1 evaluations"),
        (replace(GOOD, with_rules=replace(LOAD, rules=0)), "no rule was loaded"),
        (replace(GOOD, without_rules=replace(LOAD, rules=3)), "3 rules were loaded in the span without"),
        (replace(GOOD, with_rules=replace(LOAD, samples_per_second=0.0)), "0 samples/s with rules"),
        (replace(GOOD, rival=(Asked(title="theirs", raw=Timed(1.0, 1.0, 0)),)), "'theirs' has no series"),
        (replace(GOOD, board=()), "no panel of a board was asked"),
        (replace(GOOD, board=(replace(BOARD[1], may_be_empty=False),)), "'GPU fleet: Alerts about GPUs' has no series"),
        (replace(GOOD, panels=(replace(PANELS[0], recorded=Timed(1.0, 2.0, 19)),)), "19 series by records and 20"),
        (replace(GOOD, panels=(replace(PANELS[0], recorded_total=20.0),)), "sums to 20 by records and 10 without"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_figures_that_stand_for_nothing_are_seen(report: Report, said: str) -> None:
    found = problems(report)
    assert len(found) == 1
    assert said in found[0]


def test_verdict_is_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert signals.judged(GOOD) == 0
    assert signals.judged(broken(gpus=1)) == 1
    assert "error: 1 GPUs are scraped" in capsys.readouterr().err


def test_net_is_what_panels_save_against_what_rules_cost() -> None:
    # 9 - 5 CPU seconds per minute, a quarter of it for records; 1 s saved at a moment, 3 s over the window.
    net = GOOD.net
    assert (net.all_rules, net.records, net.saved_instant, net.saved_window) == (4.0, 1.0, 1.0, 3.0)
    assert net.pays_at(net.all_rules, net.saved_instant) == 4.0
    assert net.pays_at(net.records, net.saved_window) == pytest.approx(1 / 3)
    assert net.pays_at(net.all_rules, 0.0) is None


def test_table_shows_both_ways_side_by_side() -> None:
    lines = [line.split() for line in table(GOOD).splitlines()]
    assert ["by", "node", "1.0", "1001.0", "1001.0", "2.0", "3002.0", "1501.0", "20"] in lines
    assert ["by", "model", "no", "record", "50.0", "no", "record", "70.0", "1"] in lines
    assert ["theirs", "200.0", "400.0", "80"] in lines
    assert ["GPU", "fleet:", "Power", "4.0", "40.0", "10.0", "1", "8"] in lines
    assert ["GPU", "fleet:", "Alerts", "about", "GPUs", "3.0", "0"] in lines
    assert ["GPU", "fleet", "7.0", "4.0", "2", "1"] in lines
    assert ["12239", "440.0", "400.0", "2", "0"] in lines
    assert ["slow", "7", "1.500", "3.000", "15", "s", "0.200", "360", "min"] in lines
    assert ["CPU", "seconds", "per", "minute", "9.0", "5.0"] in lines


def test_public_board_stands_beside_panels_that_there_are() -> None:
    ours = {panel.title for panel in board_panels(INPUTS)}
    theirs = {panel.title for panel in rival()}
    assert {title for title, _ in SAME} <= ours
    assert {title for _, title in SAME} <= theirs


def test_report_holds_figures_net_and_problems(tmp_path: Path) -> None:
    signals.write(broken(gpus=1), tmp_path / "bench" / "signals.json")
    found = json.loads((tmp_path / "bench" / "signals.json").read_text())
    assert found["groups"][0]["worst"] == 3.0
    assert found["net"]["all_rules"] == 4.0
    assert found["problems"] == ["1 GPUs are scraped, not 80"]


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ("up", 0.0),
        ("rate(x[5m])", 300.0),
        ("avg_over_time(x[1h] offset 15m) > rate(y[30m])", 4500.0),
        ("max_over_time((a)[6h:1m])", 21_600.0),
        ("rate(x[1m30s])", 90.0),
    ],
)
def test_reach_is_the_longest_window_with_its_offset(expr: str, expected: float) -> None:
    assert measure.reach(expr) == expected


def test_share_weighs_rules_by_how_often_they_run() -> None:
    slow = {"interval": 60, "rules": [{"type": "recording", "evaluationTime": 6.0}]}
    quick = {"interval": 15, "rules": [{"type": "alerting", "evaluationTime": 4.5}]}
    assert measure.record_share([slow, quick]) == pytest.approx(0.25)  # 0.1 against 0.3
    assert measure.record_share([]) == 0.0


class FakeClient:
    """Answers every question with two series, and notes what was asked."""

    def __init__(self) -> None:
        """Nothing was asked yet."""
        self.asked: list[str] = []

    def ask(self, path: str, **parameters: object) -> object:
        """Note the question."""
        self.asked.append(f"{path} {parameters['query']}")
        return None

    def vector(self, expr: str, at: float | None = None) -> list[tuple[dict[str, str], float]]:
        """1 and 2, and at a moment 10 times as much for what is not recorded."""
        factor = 10.0 if at is not None and "DCGM" in expr else 1.0
        return [({}, factor), ({}, 2 * factor)]

    def number(self, expr: str) -> float:
        """When rules were evaluated."""
        assert "plumbline-gpu-records" in expr
        return 1e9


def ask(panel: Panel) -> tuple[Asked, list[str]]:
    """A panel and the questions that it led to, with three runs."""
    fake = FakeClient()
    client: Client = fake  # type: ignore[assignment]  # what a panel needs of it
    return queries.ask(client, panel, KNOWN, small(runs=3)), fake.asked


def test_panel_is_asked_both_ways_and_the_first_answer_is_thrown_away() -> None:
    found, asked = ask(Panel("by node", "node:use:avg"))
    assert found.recorded is not None
    assert (found.raw.series, found.recorded.series) == (2, 2)
    assert (found.raw_total, found.recorded_total) == (30.0, 3.0)
    assert asked.count("query node:use:avg") == 3
    assert asked.count("query_range node:use:avg") == 4


def test_panel_without_a_record_is_asked_one_way() -> None:
    found, asked = ask(Panel("by model", "max by (modelName) (DCGM_FI_DEV_GPU_TEMP)"))
    assert found.recorded is None
    assert len(asked) == 7
