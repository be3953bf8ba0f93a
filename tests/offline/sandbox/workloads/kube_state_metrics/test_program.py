"""The whole program over HTTP: pages of both ports, readiness, health, and what it exposes about itself."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from cli.engine import ROOT
from sandbox.workloads.kube_state_metrics.__main__ import Program, build, main, run
from sandbox.workloads.kube_state_metrics.options import parse
from sandbox.workloads.kube_state_metrics.telemetry import Counters, Process, exposition, read_process
from tests.offline.sandbox.fakes import PATIENCE
from tests.offline.sandbox.workloads.kube_state_metrics.fake_api import FakeApi, event, listed, pod, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

LOOPBACK = ("--host=127.0.0.1", "--port=0", "--telemetry-host=127.0.0.1", "--telemetry-port=0")
RUNNING: dict[str, Any] = {"status": {"phase": "Running"}}


@pytest.fixture
def server() -> Iterator[FakeApi]:
    """An API server for one test."""
    made = FakeApi()
    yield made
    made.end()


class Running:
    """The program, running in threads."""

    def __init__(self, program: Program) -> None:
        """Start it."""
        self.program, self.stop = program, threading.Event()
        self.healthy: bool | None = None
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        self.healthy = run(self.program, self.stop)

    def get(self, page: str, *, telemetry: bool = False, accept: str = "") -> tuple[int, str, str]:
        """Status, content type and body of a page."""
        port = (self.program.telemetry if telemetry else self.program.metrics).server_port
        request = urllib.request.Request(f"http://127.0.0.1:{port}{page}", headers={"Accept": accept})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310  # loopback
                return answer.status, answer.headers["Content-Type"], answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers["Content-Type"], error.read().decode()

    def status(self, page: str, *, telemetry: bool = False) -> int:
        """Status of a page."""
        return self.get(page, telemetry=telemetry)[0]


@pytest.fixture
def start(server: FakeApi) -> Iterator[Callable[..., Running]]:
    """Starts the program with flags; ends it after the test."""
    running: list[Running] = []

    def started(*flags: str) -> Running:
        running.append(Running(build(parse([*LOOPBACK, *flags]), server.api("abc"))))
        return running[-1]

    yield started
    for one in running:
        one.stop.set()
        server.over.set()
        one.thread.join()


def test_pages_of_a_program_that_follows_everything(server: FakeApi, start: Callable[..., Running]) -> None:
    server.lists["/api/v1/pods"] = [listed("1", pod("a", **RUNNING))]
    server.lists["/api/v1/nodes"] = [listed("1", {"metadata": {"name": "n1", "uid": "n1"}})]
    program = start("--resources=pods,nodes", "--metric-allowlist=kube_pod_info,kube_node_spec_unschedulable")
    until(lambda: program.status("/readyz", telemetry=True) == 200)
    status, content_type, body = program.get("/metrics")
    assert (status, content_type) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert body.splitlines() == [
        "# HELP kube_node_spec_unschedulable [STABLE] Whether a node can schedule new pods.",
        "# TYPE kube_node_spec_unschedulable gauge",
        'kube_node_spec_unschedulable{node="n1"} 0',
        "# HELP kube_pod_info [STABLE] Information about pod.",
        "# TYPE kube_pod_info gauge",
        'kube_pod_info{namespace="ns1",pod="a",uid="a",host_ip="",pod_ip="",node="",created_by_kind="",'
        'created_by_name="",priority_class="",host_network="false"} 1',
    ]
    assert {authorization for _, _, authorization in server.requests} == {"Bearer abc"}
    assert program.status("/nothing") == 404


def test_open_metrics_ends_with_its_mark(start: Callable[..., Running]) -> None:
    program = start("--resources=pods")
    _, content_type, body = program.get("/metrics", accept="application/openmetrics-text;version=1.0.0")
    assert content_type.startswith("application/openmetrics-text; version=1.0.0")
    assert body == "# EOF\n"


def test_scrape_can_ask_for_resources(server: FakeApi, start: Callable[..., Running]) -> None:
    server.lists["/api/v1/pods"] = [listed("1", pod("a"))]
    server.lists["/api/v1/nodes"] = [listed("1", {"metadata": {"name": "n1", "uid": "n1"}})]
    program = start("--resources=pods,nodes")
    until(lambda: program.status("/readyz", telemetry=True) == 200)
    for query, pods, nodes in (
        ("", True, True),
        ("?resources=pods,jobs", True, False),
        ("?exclude_resources=pods", False, True),
    ):
        body = program.get(f"/metrics{query}")[2]
        assert ("kube_pod_info{" in body, "kube_node_info{" in body) == (pods, nodes)


def test_named_namespaces_are_followed_one_by_one(server: FakeApi, start: Callable[..., Running]) -> None:
    server.lists["/api/v1/namespaces/b/pods"] = [listed("1", pod("in-b"))]
    server.lists["/api/v1/nodes"] = [listed("1", {"metadata": {"name": "n1", "uid": "n1"}})]
    program = start("--resources=pods,nodes", "--namespaces=a,b", "--metric-allowlist=pod_owner|node_info")
    until(lambda: program.status("/readyz", telemetry=True) == 200)
    body = program.get("/metrics")[2]
    assert [line.split(",owner")[0] for line in body.splitlines() if line.startswith("kube_pod_owner")] == [
        'kube_pod_owner{namespace="ns1",pod="in-b",uid="in-b"'
    ]
    assert body.count("kube_node_info{") == 1
    lists = sorted(path for path, query, _ in server.requests if "watch" not in query)
    assert lists == ["/api/v1/namespaces/a/pods", "/api/v1/namespaces/b/pods", "/api/v1/nodes"]


def test_missing_permission_is_logged_and_keeps_it_from_being_ready(
    server: FakeApi, start: Callable[..., Running], caplog: pytest.LogCaptureFixture
) -> None:
    server.lists["/api/v1/nodes"] = [403] * 1000
    with caplog.at_level(logging.ERROR):
        program = start("--resources=pods,nodes")
        until(lambda: any("cannot follow /api/v1/nodes: GET /api/v1/nodes: HTTP 403" in m for m in caplog.messages))
    until(lambda: 'list_total{resource="*v1.Pod",result="success"} 1' in program.get("/metrics", telemetry=True)[2])
    assert program.get("/readyz", telemetry=True) == (503, "text/plain; charset=utf-8", "Service Unavailable")
    assert program.status("/healthz") == 200


@pytest.mark.parametrize(("answer", "status"), [(200, 200), (500, 503)])
def test_livez_asks_the_api_server(server: FakeApi, start: Callable[..., Running], answer: int, status: int) -> None:
    server.probes["/livez"] = answer
    assert start("--resources=pods").status("/livez") == status


def test_object_that_nobody_can_read_ends_the_program(server: FakeApi, start: Callable[..., Running]) -> None:
    server.watches["/api/v1/pods"] = [[event("ADDED", "2", "a", status={"startTime": "yesterday"})]]
    program = start("--resources=pods")
    program.thread.join(PATIENCE)
    assert program.healthy is False


def test_metrics_about_itself() -> None:
    counters = Counters()
    counters.listed("*v1.Pod", "success")
    counters.watched("*v1.Pod", "error")
    counters.watched("*v1.Node", "success")
    text = exposition(
        counters, Process(cpu=1.5, start=1.7e9, resident=2048, virtual=4096, open_files=9, most_files=1024)
    )
    rows = [line for line in text.splitlines() if "build_info" not in line and "# HELP" not in line]
    assert rows == [
        "# TYPE kube_state_metrics_list_total counter",
        'kube_state_metrics_list_total{resource="*v1.Pod",result="success"} 1',
        "# TYPE kube_state_metrics_shard_ordinal gauge",
        'kube_state_metrics_shard_ordinal{shard_ordinal="0"} 0',
        "# TYPE kube_state_metrics_total_shards gauge",
        "kube_state_metrics_total_shards 1",
        "# TYPE kube_state_metrics_watch_total counter",
        'kube_state_metrics_watch_total{resource="*v1.Node",result="success"} 1',
        'kube_state_metrics_watch_total{resource="*v1.Pod",result="error"} 1',
        "# TYPE process_cpu_seconds_total counter",
        "process_cpu_seconds_total 1.5",
        "# TYPE process_max_fds gauge",
        "process_max_fds 1024",
        "# TYPE process_open_fds gauge",
        "process_open_fds 9",
        "# TYPE process_resident_memory_bytes gauge",
        "process_resident_memory_bytes 2048",
        "# TYPE process_start_time_seconds gauge",
        "process_start_time_seconds 1.7e+09",
        "# TYPE process_virtual_memory_bytes gauge",
        "process_virtual_memory_bytes 4096",
    ]
    assert 'branch="sandbox-stand-in"' in text
    assert 'version="v2.19.1"' in text


def test_process_is_this_one() -> None:
    process = read_process()
    assert process.start < time.time() < process.start + 86_400
    assert process.virtual > process.resident > 1_000_000
    assert process.open_files >= 3


def test_wrong_flag_ends_with_2(caplog: pytest.LogCaptureFixture) -> None:
    assert main(["--total-shards=2"]) == 2
    assert "unrecognized arguments: --total-shards=2" in caplog.text


def test_no_credentials_end_with_1(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    assert main([f"--kubeconfig={tmp_path / 'none'}"]) == 1
    assert "cannot start: kubeconfig" in caplog.text


def test_program_runs_as_in_its_image_and_ends_when_told_to(server: FakeApi, tmp_path: Path) -> None:
    config = tmp_path / "kubeconfig"
    config.write_text(
        json.dumps(
            {
                "current-context": "c",
                "contexts": [{"name": "c", "context": {"cluster": "k"}}],
                "clusters": [{"name": "k", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
            }
        )
    )
    argv = [
        *(sys.executable, "-P", "-S", "-m", "sandbox.workloads.kube_state_metrics"),
        *(f"--kubeconfig={config}", "--port=0", "--telemetry-port=0", "--resources=pods"),
    ]
    environment = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
    process = subprocess.Popen(argv, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        until(lambda: server.asked(watch=True) or process.poll() is not None)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert (process.returncode, "follows pods in all namespaces" in errors) == (0, True), errors
