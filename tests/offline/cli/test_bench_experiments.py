"""Figures of the bench of experiments: what is sent, what makes figures worthless, and how they are shown."""

from __future__ import annotations

import gzip
import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.bench.errors import BenchError
from tests.bench.experiments import __main__ as command
from tests.bench.experiments import points
from tests.bench.experiments.figures import (
    Both,
    Inserted,
    Latency,
    Media,
    Phase,
    Rate,
    Report,
    Sender,
    Stored,
)
from tests.bench.experiments.machine import Phases, ticks
from tests.bench.experiments.media import Objects
from tests.bench.experiments.plan import Clock, Plan
from tests.bench.experiments.sdk_logger import key_name, log_all, value
from tests.bench.experiments.table import table
from tests.bench.experiments.verdict import problems

if TYPE_CHECKING:
    from pathlib import Path

SMALL = Plan(keys=2, steps=6, batch=4, sdk_keys=2, sdk_steps=250)
LATENCY = Both(Latency((30.0, 10.0, 20.0, 40.0, 50.0)), Latency((5.0,) * 5))
SDK = Stored(name="SDK", wanted=500, acknowledged=500, intact=500, rows=500, sending=2.0, lag=3.0)
RAW = Stored(name="HTTP", wanted=1200, acknowledged=1000, intact=1000, rows=1000, sending=0.5, lag=1.5)
REPORT = Report(
    cores=2,
    threads=4,
    load=(1.0, 2.5),
    sdk=SDK,
    sender=Sender(calls=0.5, computed=1.5),
    raw=RAW,
    inserted=Inserted(one=Rate(1000, 0.5), many=Rate(1000, 0.25), rows=2000),
    series=500,
    export=LATENCY,
    summaries=LATENCY,
    media=Media(
        objects=10,
        size=65536,
        put=(Rate(10, 1.0), Rate(10, 0.5)),
        get=(Rate(10, 2.0), Rate(10, 1.0)),
        latency=LATENCY,
        wrong=0,
    ),
    phases=(Phase(name="sending", seconds=2.0, busy=0.75), Phase(name="reading", seconds=1.5, busy=0.5)),
)


def test_requests_hold_every_step_of_every_key_once() -> None:
    assert SMALL.batches == 3
    assert [list(SMALL.span(batch)) for batch in range(3)] == [[0, 1], [2, 3], [4, 5]]
    bodies = [json.loads(points.body(SMALL, batch, "p", "e")) for batch in range(3)]
    assert {(body["type"], body["projectId"], body["experimentId"]) for body in bodies} == {("scalar", "p", "e")}
    sent = [(one["key"], one["index"]) for body in bodies for one in body["metrics"]]
    assert sorted(sent) == [(f"bench/k{key}", step) for key in range(2) for step in range(6)]
    first, last = bodies[0]["metrics"][0], bodies[2]["metrics"][-1]
    assert (first["create_time"], last["create_time"]) == ("2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.005Z")


def test_rows_for_the_store_are_the_records_of_the_request() -> None:
    metrics = json.loads(points.body(SMALL, 1, "p", "e"))["metrics"]
    rows = [json.loads(line) for line in gzip.decompress(points.rows(SMALL, 1, "p", "e")).splitlines()]
    # project, uid, key, epoch, step, value, kind, timestamp: columns of table scalar, without the precedence
    assert [row[:7] for row in rows] == [
        ["p", "e", one["key"], 0, one["index"], one["data"], "number"] for one in metrics
    ]
    assert rows[0][7] == "1767225600.002"  # 2026-01-01T00:00:00.002Z
    assert len({row[8] for row in rows}) == len(rows)


def test_records_that_do_not_fill_requests_are_refused() -> None:
    with pytest.raises(BenchError, match="3 keys of 6 steps do not fill whole requests of 4 records"):
        Plan(keys=3, steps=6, batch=4)
    with pytest.raises(BenchError, match="2 keys of 7 steps"):
        Plan(keys=2, steps=7, batch=4)


def test_only_acknowledged_requests_are_expected_back() -> None:
    sent = points.sent(SMALL, [2, 0])
    assert {key: sorted(series) for key, series in sent.items()} == {f"bench/k{key}": [0, 1, 4, 5] for key in (0, 1)}
    assert sent["bench/k1"][4] == value(1, 4)
    assert points.logged(1, 2) == {"bench/k0": {0: value(0, 0), 1: value(0, 1)}}


@pytest.mark.parametrize(
    ("read", "intact"),
    [
        ({0: "1.5", 1: "0.25"}, 2),
        ({0: "1.5"}, 1),
        ({0: "1.5", 1: "0.2500000000000001"}, 1),
        ({1: "1.5", 0: "0.25"}, 0),
        ({}, 0),
        ({0: "1.5", 1: "0.25", 2: "7"}, 2),
    ],
)
def test_points_are_compared_one_by_one(read: dict[int, str], intact: int) -> None:
    assert points.compared({0: 1.5, 1: 0.25}, read) == intact


def test_what_the_sdk_logs_is_what_is_expected_back() -> None:
    logged: dict[str, dict[int, float]] = {}

    class Module:
        @staticmethod
        def log(data: dict[str, float], step: int) -> None:
            for key, number in data.items():
                logged.setdefault(key, {})[step] = number

    plan: dict[str, Any] = {"keys": SMALL.sdk_keys, "steps": SMALL.sdk_steps, "seconds": 60.0}
    assert log_all(Module, plan) == 250
    assert logged == points.logged(2, 250)
    assert log_all(Module, {**plan, "seconds": -1.0}) == 0


def test_percentiles_are_of_the_nearest_rank() -> None:
    latency = Latency((30.0, 10.0, 20.0, 40.0))
    assert [latency.at(share) for share in (0.0, 0.25, 0.5, 0.51, 0.95, 1.0)] == [10, 10, 20, 30, 40, 40]
    assert math.isnan(Latency(()).at(0.5))


def test_rates_count_the_way_until_all_can_be_read() -> None:
    assert (SDK.taken, SDK.end_to_end) == (250.0, 100.0)
    assert (RAW.taken, RAW.end_to_end) == (2000.0, 500.0)
    assert Rate(0, 0.0).per_second == 0.0


def test_busy_is_all_but_idle_and_iowait() -> None:
    before = "cpu  100 10 50 800 20 5 5 10 99 9\ncpu0 1 1 1 1 1 1 1 1 1 1\n"
    assert ticks(before) == (180, 1000)  # guest time, the last two, is in user and nice already


def test_phases_are_told_and_kept_in_order() -> None:
    said: list[str] = []
    phases = Phases(said.append)
    for name in ("one", "two"):
        with phases.phase(name):
            pass
    assert said == [phase.name for phase in phases.done] == ["one", "two"]
    assert all(phase.seconds >= 0 and 0 <= phase.busy <= 1 for phase in phases.done)


def test_time_is_never_beyond_the_end_of_the_bench() -> None:
    clock = Clock(100.0)
    assert clock.within(1000.0, "all") == clock.begun + 100.0
    assert clock.within(1.0, "a part") < clock.begun + 100.0
    with pytest.raises(BenchError, match="sending: no time is left, the bench may take 0 s"):
        Clock(0.0).within(1.0, "sending")


def test_sound_figures_have_no_problem_and_requests_that_were_not_sent_are_none() -> None:
    assert RAW.acknowledged < RAW.wanted
    assert problems(REPORT) == []


MEDIA = REPORT.media
FEW = Both(Latency((1.0,) * 5), Latency((1.0,) * 4))


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        (replace(REPORT, sdk=replace(SDK, rows=499)), "SDK: 500 points were acknowledged and 499 are read back"),
        (replace(REPORT, sdk=replace(SDK, rows=501)), "SDK: 500 points were acknowledged and 501 are read back"),
        (replace(REPORT, raw=replace(RAW, intact=998)), "HTTP: 998 of 1000 acknowledged points are read back with"),
        (replace(REPORT, raw=replace(RAW, acknowledged=0, rows=0, intact=0)), "HTTP: no point was acknowledged"),
        (replace(REPORT, inserted=replace(REPORT.inserted, rows=1999)), "2000 rows were inserted into ClickHouse"),
        (
            replace(REPORT, inserted=Inserted(one=Rate(0, 1.0), many=Rate(5, 1.0), rows=5)),
            "nothing was inserted into ClickHouse directly",
        ),
        (replace(REPORT, export=FEW), "CSV export: 4 samples, fewer than 5"),
        (replace(REPORT, summaries=FEW), "summaries: 4 samples"),
        (replace(REPORT, media=replace(MEDIA, latency=FEW)), "media GET: 4 samples"),
        (replace(REPORT, media=replace(MEDIA, wrong=2)), "2 media objects came back with other bytes"),
        (
            replace(REPORT, media=replace(MEDIA, put=(Rate(9, 1.0), Rate(10, 1.0)))),
            "media PUT through SwanLab: 9 of 10 objects",
        ),
        (
            replace(REPORT, media=replace(MEDIA, get=(Rate(10, 1.0), Rate(8, 1.0)))),
            "media GET of the store: 8 of 10 objects",
        ),
        (replace(REPORT, left=("table x",)), "left behind: table x"),
    ],
)
def test_figures_that_stand_for_nothing_are_told(report: Report, expected: str) -> None:
    (found,) = problems(report)
    assert expected in found


def test_time_alone_is_no_problem() -> None:
    slow = replace(SDK, sending=1e6, lag=1e6)
    assert problems(replace(REPORT, sdk=slow)) == []


def test_other_bytes_are_noticed() -> None:
    objects = Objects.made(Plan(objects=3, size=16))
    assert [len(content) for content in objects.contents] == [16] * 3
    objects.check(0, objects.contents[0])
    objects.check(1, objects.contents[0])
    objects.check(2, b"")
    assert objects.wrong == {1, 2}


def test_table_shows_swanlab_its_store_and_the_ratio() -> None:
    rows = {line.split("  ")[1]: line.split() for line in table(REPORT).splitlines() if line.startswith("  ")}
    # 1000 points in 0.5 s beside 1000 rows in 0.25 s
    assert rows["points taken/s, 4 threads; INSERT, rows/s"][-3:] == ["2000", "4000", "0.50"]
    assert rows["points end to end/s, 4 threads; INSERT, rows/s"][-3:] == ["500", "4000", "0.12"]
    assert rows["points taken/s by SDK; INSERT, rows/s"][-3:] == ["250", "2000", "0.12"]
    assert rows["500 points as CSV; SELECT, p50 ms"][-3:] == ["30.0", "5.0", "6.00"]
    assert rows["500 points as CSV; SELECT, p95 ms"][-3:] == ["50.0", "5.0", "10.00"]
    assert rows["object of 64 KiB; GET, p50 ms"][-3:] == ["30.0", "5.0", "6.00"]
    assert rows["objects/s, 4 threads; PUT"][-3:] == ["10", "20", "0.50"]
    assert rows["HTTP"][-7:] == ["1000", "1000", "0.5", "2000", "+1.5", "s", "500"]
    assert rows["sending"][-2:] == ["2.0", "75%"]
    assert rows["all of it"][-1:] == ["3.5"]
    assert "2 cores; load average 1.0 before, 2.5 after" in table(REPORT)


def test_report_is_written_with_what_follows_from_it(tmp_path: Path) -> None:
    path = tmp_path / "made" / "experiments.json"
    command.write(replace(REPORT, left=("table x",)), path)
    found = json.loads(path.read_text())
    assert (found["sdk"]["taken"], found["raw"]["end_to_end"]) == (250.0, 500.0)
    assert found["export"]["ours"] == {"samples": [30.0, 10.0, 20.0, 40.0, 50.0], "p50": 30.0, "p95": 50.0}
    assert found["problems"] == ["left behind: table x"]


def test_exit_code_is_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.judged(REPORT) == 0
    assert command.judged(replace(REPORT, left=("table x",))) == 1
    assert capsys.readouterr().err == "error: left behind: table x\n"


def test_names_of_keys_are_those_that_are_counted() -> None:
    assert key_name(7).startswith("bench/")
