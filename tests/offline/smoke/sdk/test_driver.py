"""The driver says exactly what it did, whatever the SDK does to it, and never the key."""

from __future__ import annotations

import ast
import base64
import json
import math
import struct
import subprocess
import sys
import tempfile
import zlib
from hashlib import sha256
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest

from smoke.sdk import driver, planned
from smoke.sdk.drive import DRIVER, Address, drive
from smoke.sdk.model import ResultError, parse_result, printed_result
from tests.offline.smoke.sdk.fake_sdk import FakeSdk

if TYPE_CHECKING:
    from pathlib import Path

    from smoke.sdk.model import DriverResult, Ended

KEY = "abcdefghijklmnopqrstu"
ADDRESS = Address("http://swanlab.test:8080", KEY)


@pytest.fixture
def sdk(tmp_path: Path) -> FakeSdk:
    """Version 0.8.4 of the fake."""
    return FakeSdk(tmp_path / "sdk", "0.8.4")


def play(sdk: FakeSdk, scenario: str, **more: Any) -> Ended:  # noqa: ANN401  # a plan's fields
    """The driver in a process of its own."""
    plan = {"scenario": scenario, "project": "p", "run": "r", "seed": 7, "steps": 5, **more}
    return drive(sdk.python, plan, ADDRESS, 60.0)


def result(ended: Ended) -> DriverResult:
    """Its result, which must be there."""
    assert ended.result is not None, ended.tail
    return ended.result


def test_a_round_trip_tells_every_point_that_was_logged(sdk: FakeSdk) -> None:
    found = result(play(sdk, "roundtrip", keys=2, lines=3))
    (run,) = found.runs
    told: dict[str, list[tuple[int, str]]] = {}
    for call in sdk.calls("log"):
        for key, value in call["data"].items():
            told.setdefault(key, []).append((call["step"], value))
    numbers = {key: tuple(points) for key, points in told.items() if key not in run.media}
    assert {key: len(points) for key, points in numbers.items()} == {
        "sentinel/k0": 5,
        "sentinel/k1": 5,
        "sentinel/nan": 3,
        "sentinel/inf": 3,
    }
    assert run.logged == numbers
    assert (found.sdk, found.stage, found.raised) == ("0.8.4", "done", ())
    assert (run.path, run.finished) == ("alice/p/id-r", True)
    assert run.lines == ("sentinel 7 line 0", "sentinel 7 line 1", "sentinel 7 line 2")
    assert run.config["nested"] == {"layers": [1, 2, 3]}


def test_what_each_scenario_logs_is_what_its_plan_asks_for(sdk: FakeSdk) -> None:
    for plan in (
        {"scenario": "roundtrip", "keys": 2, "width": 40},
        {"scenario": "values"},
        {"scenario": "second_init"},
    ):
        runs = result(play(sdk, **plan)).runs
        for run in runs:
            assert planned.short({**plan, "steps": 5}, run) == ()
            assert {key: len(points) for key, points in run.logged.items()} == planned.points({**plan, "steps": 5})
            assert {key: len(files) for key, files in run.media.items()} == planned.files(plan)
    (run,) = result(play(sdk, "roundtrip", keys=2, width=40)).runs
    assert [len(key) for key in run.logged if key.startswith("sentinel/k")] == [40, 40]


def test_media_are_told_by_the_bytes_that_the_sdk_made(sdk: FakeSdk) -> None:
    (run,) = result(play(sdk, "roundtrip", keys=1, lines=0)).runs
    made = [b"made of " + driver.picture(f"7/{step}") for step in range(2)]
    assert [(file.step, file.sha256, file.size) for file in run.media["sentinel/image"]] == [
        (step, sha256(content).hexdigest(), len(content)) for step, content in enumerate(made)
    ]
    assert [len(files) for files in run.media.values()] == [2, 2, 2]


def test_two_runs_have_names_and_points_of_their_own(sdk: FakeSdk) -> None:
    first, second = result(play(sdk, "second_init")).runs
    assert (first.name, second.name, second.path) == ("r", "r-second", "alice/p/id-r-second")
    assert first.logged["sentinel/again"] != second.logged["sentinel/again"]


def test_calls_without_a_run_are_told_by_what_they_do(sdk: FakeSdk) -> None:
    found = result(play(sdk, "calls"))
    assert found.answers == {
        "get_run_without_run": "RuntimeError",
        "finish_without_run": "None",
        "log_without_run": "RuntimeError",
        "login_web_host": "TypeError",
    }


def test_values_are_logged_as_a_training_script_would(sdk: FakeSdk) -> None:
    result(play(sdk, "values"))
    logged = [(call["step"], call["data"]) for call in sdk.calls("log")]
    assert logged[0] == (0, {"values/text": "'30/120'", "values/duration": "'3m 53s'", "values/beside": "0.5"})
    assert (-1, {"values/negative": "7.0"}) in logged
    assert [data["values/duplicate"] for step, data in logged if "values/duplicate" in data] == ["1.0", "2.0"]
    assert [step for step, data in logged if "values/disorder" in data] == [5, 3, 4]


def test_the_old_line_gets_its_own_arguments_and_address(tmp_path: Path) -> None:
    old = FakeSdk(tmp_path / "old", "0.7.20")
    assert result(play(old, "second_init")).runs[0].path == "alice/p/id-r"
    (imported,) = old.calls("import")
    assert imported["env"]["SWANLAB_API_HOST"] == "http://swanlab.test:8080/api"
    assert [call["monitor"] for call in old.calls("init")] == [False, False]
    assert "experiment_name" in old.calls("init")[0]["given"]


def test_nothing_of_the_machine_reaches_the_sdk(sdk: FakeSdk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SWANLAB_MODE", "offline")
    monkeypatch.setenv("SWANLAB_RUN_ID", "another")
    monkeypatch.setenv("HOME", str(tmp_path))
    result(play(sdk, "calls"))
    (imported,) = sdk.calls("import")
    assert set(imported["env"]) == {
        "HOME",
        *("SWANLAB_API_HOST", "SWANLAB_API_KEY", "SWANLAB_CONFIG_DIR", "SWANLAB_LOG_DIR", "SWANLAB_PROBE_MONITOR"),
        *("SWANLAB_SAVE_DIR", "SWANLAB_WEB_HOST"),
    }
    assert imported["env"]["HOME"] != str(tmp_path)
    assert imported["cwd"].rsplit("/", 1)[-1].startswith("plumbline-sdk-")


@pytest.mark.parametrize(
    ("fault", "kind"), [("init", "RuntimeError"), ("exit", "SystemExit"), ("import", "ImportError")]
)
def test_an_exception_of_the_sdk_is_a_result(sdk: FakeSdk, fault: str, kind: str) -> None:
    sdk.fail(fault)
    ended = play(sdk, "roundtrip")
    (raised,) = result(ended).raised
    assert f": {kind}: " in raised
    assert (ended.code, result(ended).stage) == (0, "failed")


def test_the_key_is_nowhere_in_what_is_left(sdk: FakeSdk) -> None:
    sdk.fail("init")
    ended = play(sdk, "roundtrip")
    assert "refused for key ***" in result(ended).raised[0]
    assert KEY not in repr(ended)


def test_what_was_printed_and_warned_is_kept_without_colours(sdk: FakeSdk) -> None:
    found = result(play(sdk, "second_init"))
    assert found.printed.count("swanlab: begun") == 2
    assert "old server" in found.warnings


def test_a_hang_is_ended_and_its_stage_is_known(sdk: FakeSdk, monkeypatch: pytest.MonkeyPatch) -> None:
    wait = subprocess.Popen.wait

    def run_out(process: subprocess.Popen[bytes], timeout: float | None = None) -> int:
        """The time of the scenario is up when it hangs; a process that was killed is waited for as ever."""
        if timeout == 60.0:
            sdk.wait_for_hang()
            raise subprocess.TimeoutExpired("driver", timeout)
        return wait(process, timeout)

    monkeypatch.setattr(subprocess.Popen, "wait", run_out)
    monkeypatch.setenv("TMPDIR", str(sdk.directory))
    monkeypatch.setattr(tempfile, "tempdir", None)
    sdk.fail("hang")
    ended = play(sdk, "roundtrip")
    assert list(sdk.directory.glob("plumbline-*")) == []
    assert ended.hang
    assert result(ended).stage == "first run finishes"
    assert not result(ended).runs[0].finished


def test_a_python_without_the_sdk_leaves_no_result(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho no module named swanlab; exit 1\n", encoding="utf-8")
    python.chmod(0o755)
    ended = drive(python, {"scenario": "calls", "project": "p"}, ADDRESS)
    assert (ended.result, ended.code, ended.hang) == (None, 1, False)
    assert "no module named swanlab" in ended.tail


def driver_says(plan: str, **environment: str) -> tuple[int, str, str]:
    """Code, stdout and stderr of the driver with a plan on stdin."""
    done = subprocess.run(
        [sys.executable, str(DRIVER), "-"], input=plan, capture_output=True, text=True, check=False, env=environment
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("plan", ['{"scenario": "dance", "project": "p"}', '{"scenario": "calls"}'])
def test_a_wrong_plan_is_refused(plan: str) -> None:
    code, _, told = driver_says(plan, SWANLAB_API_KEY=KEY, SWANLAB_API_HOST="http://x")
    assert code == 1
    assert "is not accepted; a plan has scenario (one of roundtrip, values, second_init, calls), project" in told


def test_an_unknown_field_of_a_plan_is_refused() -> None:
    code, _, told = driver_says('{"scenario": "calls", "project": "p", "stepz": 3}')
    assert (code, "is not accepted" in told) == (1, True)


@pytest.mark.parametrize("missing", ["SWANLAB_API_KEY", "SWANLAB_API_HOST"])
def test_key_and_address_come_from_the_environment(missing: str) -> None:
    given = {"SWANLAB_API_KEY": KEY, "SWANLAB_API_HOST": "http://x"}
    del given[missing]
    code, _, told = driver_says('{"scenario": "calls", "project": "p"}', **given)
    assert (code, f"{missing} is not set" in told) == (1, True)


def test_the_result_can_be_read_from_a_log_with_other_lines(sdk: FakeSdk) -> None:
    plan = '{"scenario": "second_init", "project": "p", "run": "r", "steps": 3000}'
    code, printed, _ = driver_says(
        plan, PYTHONPATH=str(sdk.directory), SWANLAB_API_KEY=KEY, SWANLAB_API_HOST="http://x"
    )
    lines = [line for line in printed.splitlines() if driver.MARKER in line]
    assert code == 0
    assert len(lines) > 1
    assert max(map(len, lines)) < 8100
    mixed = "\n".join(f"2026-11-29T00:00:00Z {line}\nnoise" for line in reversed(lines))
    assert len(printed_result(mixed).runs[1].logged["sentinel/again"]) == 3000
    with pytest.raises(ResultError, match="were printed"):
        printed_result("\n".join(lines[1:]))


@pytest.mark.parametrize(
    "text", ["", "PLUMBLINE-RESULT 1/1 !!!", f"PLUMBLINE-RESULT 1/1 {base64.b64encode(b'x').decode()}"]
)
def test_a_damaged_result_is_no_result(text: str) -> None:
    with pytest.raises(ResultError):
        printed_result(text)


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps({"sdk": "0.8.4"})])
def test_what_is_not_a_result_is_refused(text: str) -> None:
    with pytest.raises(ResultError, match="not a driver's result"):
        parse_result(text)


def test_numbers_are_repeatable_finite_and_of_many_magnitudes() -> None:
    column = driver.series(7, "k", 1000)
    assert column == driver.series(7, "k", 1000)
    assert column != driver.series(8, "k", 1000) != driver.series(7, "l", 1000)
    assert all(math.isfinite(value) for value in column)
    assert min(abs(value) for value in column) < 1e-6
    assert max(abs(value) for value in column) > 1e6


def test_the_picture_is_a_png() -> None:
    content = BytesIO(driver.picture("7"))
    assert content.read(8) == b"\x89PNG\r\n\x1a\n"
    kinds = []
    while head := content.read(8):
        length, kind = struct.unpack(">I4s", head)
        body = content.read(length)
        assert struct.unpack(">I", content.read(4))[0] == zlib.crc32(kind + body)
        kinds.append(kind)
    assert kinds == [b"IHDR", b"IDAT", b"IEND"]


def test_it_runs_under_the_oldest_python_of_training_images() -> None:
    """And needs nothing but the standard library, so that a mounted file is enough."""
    tree = ast.parse(DRIVER.read_text(encoding="utf-8"), feature_version=(3, 8))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names
