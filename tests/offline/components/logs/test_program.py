"""The real VictoriaLogs with our very flags: what survives, what is not kept, what it says of itself."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import requests

from components.logs.names import INGEST_HEADERS, INGEST_PATH
from components.logs.options import flags
from signals.catalogue.victoria_logs import UNCOUNTED, WARNINGS
from smoke.access.exposition import parse
from tests.offline.components.logs.program import Logs, until
from tests.offline.components.logs.test_manifests import ARGS
from tests.offline.components.otel_collector.otlp import logs as otlp_logs
from tests.offline.components.otel_collector.otlp import record

if TYPE_CHECKING:
    from pathlib import Path

POD = {"k8s.namespace.name": "team-a", "k8s.pod.name": "infer-0", "k8s.container.name": "engine", "run_id": "r-1"}
DAY = 86_400 * 10**9


def test_lines_on_disk_survive_a_kill_and_are_found_by_stream_and_key(tmp_path: Path) -> None:
    logs, now = Logs(tmp_path), time.time_ns()
    with logs.running(ARGS) as process:
        assert logs.write({"nonce-1 began": now, "nonce-1 ended": now + 1}, POD) == 200
        until(lambda: logs.metric('vl_storage_rows{type="storage/small"}') == 2, "both rows are in files")
        process.kill()
        process.wait(60)
    with logs.running(ARGS):
        rows = logs.found('{k8s.pod.name="infer-0"} AND run_id:r-1')
        assert [row["_msg"] for row in rows] == ["nonce-1 began", "nonce-1 ended"]
        assert rows[0]["_stream"] == (
            '{k8s.container.name="engine",k8s.namespace.name="team-a",k8s.pod.name="infer-0"}'
        ), "a run's id would make a stream of its own"


def test_a_line_older_than_the_retention_is_answered_for_counted_and_not_kept(tmp_path: Path) -> None:
    """What the loss accounting must subtract. The first line makes the day without which nothing is counted."""
    logs, now = Logs(tmp_path), time.time_ns()
    with logs.running(ARGS):
        assert logs.write({"young": now}, POD) == 200
        until(lambda: bool(logs.found("young")), "the young line is found")
        assert logs.write({"old": now - 8 * DAY, "younger": now}, POD) == 200
        until(lambda: bool(logs.found("younger")), "the second young line is found")
        assert logs.found("old") == []
        assert logs.metric('vl_rows_dropped_total{reason="too_small_timestamp"}') == 1


def test_members_of_a_body_keep_their_names(tmp_path: Path) -> None:
    """A name that were said to be the message's would take the place of a record's text."""
    logs, now = Logs(tmp_path), time.time_ns()
    with logs.running(ARGS):
        for key in ("message", "msg", "other"):
            assert logs.write({f"under {key}": now}, POD, key=key) == 200
        until(lambda: len(logs.found("*")) == 3, "three lines are found")
        for key in ("message", "msg", "other"):
            assert logs.found(f'{key}:"under {key}"')[0]["_msg"].startswith("missing _msg field")


def test_without_room_lines_are_refused_so_that_the_gateway_keeps_them(tmp_path: Path) -> None:
    """With more bytes asked to stay free than a disk has. OTLP's clients send again after these statuses alone."""
    logs = Logs(tmp_path)
    with logs.running(replace(ARGS, volume_bytes=2**60)):
        assert logs.write({"refused": time.time_ns()}, POD) in {429, 502, 503, 504}
        assert logs.metric(f'vl_storage_is_read_only{{path="{tmp_path}/data"}}') == 1
        assert requests.get(f"{logs.url}/health", timeout=60).status_code == 200, "a restart would not make room"


def test_limits_are_those_that_the_program_reports(tmp_path: Path) -> None:
    logs = Logs(tmp_path)
    with logs.running(ARGS):
        told = requests.get(f"{logs.url}/flags", timeout=60).text
        own = {name: value for name, value in flags(ARGS).items() if name not in ("storageDataPath", "httpListenAddr")}
        assert len(own) == 6
        for name, value in own.items():
            assert f'-{name}="{value}"' in told.splitlines()
            assert logs.metric(f'flag{{name="{name}", value="{value}", is_set="true"}}') == 1


def test_of_what_it_cannot_store_a_counter_of_its_log_tells(tmp_path: Path) -> None:
    """No counter of records does; the rule and the accounting live on this one."""
    logs, now = Logs(tmp_path), time.time_ns()
    with logs.running(ARGS):
        cases = {
            "log_rows.go": [record("named", values={"n" * 129: 1}), record("m" * 2 * 2**20)],
            "block.go": [record("one of many", values={f"n{number}": 1}) for number in range(2500)],
        }
        for file, records in cases.items():
            before = _uncounted(logs).get(file, 0.0)
            request = otlp_logs(records, POD).SerializeToString()
            headers = {"Content-Type": "application/x-protobuf", **INGEST_HEADERS}
            assert requests.post(f"{logs.url}{INGEST_PATH}", request, headers=headers, timeout=60).ok
            until(
                lambda file=file, before=before: _uncounted(logs).get(file, 0.0) > before,  # type: ignore[misc]  # mypy cannot infer a lambda with defaults
                f"a warning of {file}",
            )
        assert logs.write({"good": now}, {**POD, "k8s.pod.name": "infer-1"}) == 200
        until(lambda: bool(logs.found("good")), "the good line is found")
        assert 0 < len(logs.found("one of many")) < 2500
        assert logs.found("named") == []


def _uncounted(logs: Logs) -> dict[str, float]:
    """Warnings by the file that they come from."""
    found: dict[str, float] = {}
    for sample in parse(requests.get(f"{logs.url}/metrics", timeout=60).text):
        location = sample.labels.get("location", "")
        if sample.name == WARNINGS and sample.labels["level"] == "warn" and re.match(UNCOUNTED, location):
            file = location.rpartition("/")[2].partition(":")[0]
            found[file] = found.get(file, 0.0) + sample.value
    return found
