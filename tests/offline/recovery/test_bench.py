"""The bench of recovery at a small size, over the real programs: every row is there, and damage is an error."""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

import pytest
import requests

from cli.engine import ROOT
from tests.bench.errors import BenchError
from tests.bench.recovery import __main__ as command
from tests.bench.recovery import content, cost, metadata, plan, raw, series, steps
from tests.bench.recovery import site as bench_site
from tests.bench.recovery.figures import ratios
from tests.bench.recovery.run import run
from tests.bench.recovery.table import table
from tests.bench.recovery.verdict import problems
from tests.offline.recovery.locked import LOCKED
from tests.offline.sandbox.fakes import PATIENCE, silent, wait_until_ended

if TYPE_CHECKING:
    from tests.bench.recovery.figures import Report
    from tests.bench.recovery.site import Site

SMALL: Final = plan.Plan(points=10_000, objects=20)
ROWS: Final = {
    "metadata": [
        *("create, the first point", "create again, nothing changed", "verify"),
        *("pg_dump --format=custom to a file", "pg_restore"),
    ],
    "series": [
        *("create, the first point", "create again, nothing changed", "verify"),
        *("SELECT … FORMAT Native to /dev/null", "SELECT … FORMAT Native to a file", "INSERT of that file"),
        *("BACKUP DATABASE to a file", "RESTORE DATABASE"),
    ],
    "media": [
        *("create, the first point", "create again, nothing changed", "verify", "restore, compare"),
        *("GET of every object", "PUT, not hashed"),
    ],
}


@pytest.fixture(scope="module")
def report() -> Report:
    """Of a run in which nothing happens meanwhile."""
    return run(SMALL, silent()[0])


def test_every_row_is_there_and_nothing_is_wrong(report: Report) -> None:
    assert {store.name: [step.name for step in store.steps] for store in report.stores} == ROWS
    assert problems(report) == []
    lines = table(report).splitlines()
    for store in report.stores:
        assert any(line.startswith(f"  {store.name}: {store.kind}, {store.wanted} {store.unit}") for line in lines)
        for step in store.steps:
            assert any(line.strip().startswith(step.name) for line in lines)
        for ratio in ratios(store):
            assert any(line.startswith(f"  {store.name}: {ratio.name} / {ratio.raw} ") for line in lines)
    # 10 runs with 40 columns and a profile each, 50 users, 40 projects, 20 files.
    assert [store.count for store in report.stores] == [10 + 10 + 400 + 50 + 40 + 20, 10_000, 20]


def test_figures_are_measured(report: Report) -> None:
    for store in report.stores:
        for step in store.steps:
            found = step.cost
            assert found.seconds > 0
            # A tool that is done in a moment may be over before a busy machine has let anybody look at it.
            if step.ours or found.cpu > 0.3:
                assert found.peak > 1, f"{store.name}, {step.name}: no program has so little memory"
            assert found.servers_peak > 1, f"{store.name}, {step.name}: no server has so little memory"
        assert store.step(steps.FIRST).cost.cpu > 0
    points, objects = report.stores[1:]
    assert (points.step(steps.AGAIN).sent or 0) < (points.step(steps.FIRST).sent or 0), "points were sent again"
    assert (objects.step(steps.FIRST).sent or 0) >= objects.size == SMALL.object_bytes
    assert (objects.step(steps.AGAIN).sent or 0) < content.SMALLEST, "objects were sent again"


def test_report_is_written_with_what_follows(report: Report, tmp_path: Path) -> None:
    command.write(report, tmp_path / "below" / "report.json")
    found = json.loads((tmp_path / "below" / "report.json").read_text(encoding="utf-8"))
    assert found["problems"] == []
    assert [store["name"] for store in found["stores"]] == list(ROWS)
    assert found["stores"][0]["ratios"][0]["raw"] == "pg_dump --format=custom to a file"


def damage(moment: str, site: Site) -> None:
    """A value, a row and a chunk: the first two only the bench can notice, the third only the program."""
    if moment == "metadata restored":
        with site.databases.connect(f"{metadata.COPY}__restored") as connection:
            connection.execute("UPDATE users SET name = 'Mallory' WHERE username = 'user-7'")
    if moment == "series restored":
        one = "step = 3 AND key = 'train/metric-0' SETTINGS mutations_sync = 2"
        done = site.engine.ask(f"ALTER TABLE {series.COPY}__restored.scalar DELETE WHERE {one}")
        assert done.status == 200, done.text
    if moment == "media taken":
        bucket = site.target.bucket(LOCKED)
        (own,) = (key for key in site.target.keys("chunks/", LOCKED) if bucket.get(key) == content.body(5))
        filer = f"http://127.0.0.1:{site.target.ports['filer.port']}/buckets/{LOCKED}"
        for path in (own, f"{own}.versions"):
            requests.delete(f"{filer}/{path}", params={"recursive": "true"}, timeout=60).raise_for_status()


def test_damage_fails_the_bench_whoever_notices_it(capsys: pytest.CaptureFixture[str]) -> None:
    found = run(SMALL, silent()[0], damage)
    words = problems(found)
    told = "\n".join(words)
    assert len(words) >= 5, told
    assert words[0].startswith("metadata: verify: users is [50, ")
    assert words[1].startswith("series: verify: scalar is ['9999', ")
    assert words[2].startswith(f"media: verify: media: {content.key(5)}: chunk ")
    assert words[3].startswith(f"media: restore, compare: {content.key(5)}: chunk ")
    assert all("is missing" in line for line in words[2:4])
    # The bench misses it too, by a listing of its own, which names three; what was not yet restored by then as well.
    listed = f"media: restore, compare: {content.key(5)} is None, the source has [{content.size(5)}, "
    assert any(line.startswith(listed) for line in words[4:]) or words[-1].endswith(" more differ"), told
    assert all(line.startswith("media: restore, compare: ") for line in words[4:]), told
    assert command.judged(found) == 1
    assert "error: series: verify: scalar is" in capsys.readouterr().err


def test_wrong_number_of_rows_is_a_problem(report: Report) -> None:
    fewer = replace(report, stores=(replace(report.stores[0], count=529), *report.stores[1:]))
    assert problems(fewer) == ["metadata: 529 rows are in it, 530 were to be"]


def test_ratio_of_a_tool_that_took_no_time_is_none(report: Report) -> None:
    store = report.stores[0]
    none = cost.Cost(seconds=0, peak=1, cpu=0, servers_peak=1, servers_cpu=0)
    four = cost.Cost(seconds=4, peak=3, cpu=1, servers_peak=5, servers_cpu=3)
    two = cost.Cost(seconds=2, peak=1, cpu=1, servers_peak=1, servers_cpu=1)
    first, again = replace(store.steps[0], cost=four), replace(store.steps[3], cost=none)
    (found, _) = ratios(replace(store, steps=(first, store.steps[2], again, store.steps[4])))
    assert math.isnan(found.seconds)
    assert math.isnan(found.cpu)
    (found, _) = ratios(replace(store, steps=(first, store.steps[2], replace(again, cost=two), store.steps[4])))
    assert (found.seconds, found.peak, found.cpu) == (2.0, 4.0, 2.0)


def test_sizes_come_from_the_environment() -> None:
    assert plan.plan({}) == plan.Plan(points=10_000_000, objects=5_000)
    assert plan.plan({"BENCH_POINTS": "10000", "BENCH_OBJECTS": "20"}) == SMALL
    with pytest.raises(BenchError, match="BENCH_OBJECTS is '-1'; accepted is a number from 1 on"):
        plan.plan({"BENCH_OBJECTS": "-1"})


def test_disk_without_room_is_refused_before_anything_is_started(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"GB free, the bench needs .* GB; free some, or set TMPDIR"):
        plan.check_room(plan.Plan(points=10**12), tmp_path)


def test_server_that_does_not_start_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Path) -> NoReturn:
        pytest.fail("nobody answers")

    monkeypatch.setattr(bench_site, "locked", contextlib.contextmanager(broken))
    with (
        pytest.raises(BenchError, match="target cannot be started: Failed: nobody answers"),
        bench_site.site(tmp_path, print),
    ):
        pass


def test_objects_are_of_mixed_sizes_and_none_is_another() -> None:
    sizes = [content.size(number) for number in range(5_000)]
    assert min(sizes) == 1024
    assert 1.9 * 1024**2 < max(sizes) <= 2 * 1024**2
    assert sum(sizes) <= 1024**3
    assert [len(content.body(number)) for number in range(200)] == sizes[:200]
    assert len({content.body(number) for number in range(200)}) == 200
    assert len({content.key(number) for number in range(5_000)}) == 5_000


def test_differences_name_three_and_count_the_rest() -> None:
    assert steps.differences({"a": 1}, {"a": 1}) == ()
    assert steps.differences({"a": 1}, {"b": 2}) == ("a is None, the source has 1", "b is 2, the source has None")
    assert steps.differences(dict.fromkeys("abcde", 1), {})[3:] == ("2 more differ",)


def test_memory_and_processor_of_a_program_are_those_of_its_children_too(tmp_path: Path) -> None:
    inner = "from time import process_time\nheld = b'1' * (80 << 20)\nwhile process_time() < 0.7: pass"
    outer = "import subprocess, sys; print('said'); sys.exit(3 + subprocess.call([sys.executable, '-c', sys.argv[1]]))"
    servers = cost.Servers({"server": os.getpid()})
    found = cost.measured([sys.executable, "-c", outer, inner], servers, "server", tmp_path / "log", {})
    assert (found.code, found.output.strip()) == (3, "said")
    assert found.cost.peak > 80
    assert found.cost.cpu >= 0.7
    assert found.cost.servers_peak > 1


def test_raw_client_refuses_what_is_no_good_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    order = tmp_path / "order.json"
    rows = [[0, "http://127.0.0.1:1/"]]
    order.write_text(json.dumps({"do": "get", "threads": 2, "addresses": rows}), encoding="utf-8")
    assert raw.main(order) == 1
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_bench_ends_its_programs_and_removes_its_files(tmp_path: Path, sent: signal.Signals) -> None:
    # A short path: sockets lie below it, and their names may have 108 bytes.
    with tempfile.TemporaryDirectory(prefix="plumbline-room-") as room:
        Path(room).chmod(0o755)  # PostgreSQL runs as another account than root
        sizes = {"BENCH_POINTS": "10000", "BENCH_OBJECTS": "20"}
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": room, **sizes}
        argv = [sys.executable, "-m", "tests.bench.recovery", "--out", str(tmp_path / "out.json")]
        with subprocess.Popen(argv, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            for line in process.stderr:
                if "metadata: create again" in line:
                    break
            started = cost.family(process.pid)[1:]
            process.send_signal(sent)
            printed = process.stderr.read()
            assert process.wait(PATIENCE) == 130, printed
        assert len(started) >= 4
        assert all(wait_until_ended(child) for child in started)
        assert "what the bench had started is ended" in printed
        assert "Traceback" not in printed
        assert list(Path(room).iterdir()) == []
