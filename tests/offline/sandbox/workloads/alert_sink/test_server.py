"""The sink over HTTP: real requests, limits, and the program as its image runs it."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from cli.engine import ROOT
from sandbox.workloads.alert_sink.__main__ import main
from sandbox.workloads.alert_sink.inbox import Inbox
from sandbox.workloads.alert_sink.server import LARGEST_BODY, Server
from tests.offline.sandbox.fakes import PATIENCE
from tests.offline.sandbox.workloads.alert_sink.payloads import alert, body

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@pytest.fixture
def port() -> Iterator[int]:
    """Port of a sink that listens everywhere."""
    server = Server("", 0, Inbox())
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join()


def ask(
    port: int, method: str, path: str, content: bytes | None = None, headers: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """Status and body of one request."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request(method, path, content, dict(headers or {}))
        found = connection.getresponse()
        return found.status, found.read().decode()
    finally:
        connection.close()


def test_notification_goes_in_and_comes_out(port: int) -> None:
    assert ask(port, "POST", "/pager", body(alerts=[alert(fingerprint="f/1")])) == (200, '{"alerts": 1}\n')
    status, text = ask(port, "GET", "/notifications?fingerprint=f%2F1&receiver=pager&alertname=GpuLost&since=0")
    assert status == 200
    (found,) = json.loads(text)["notifications"]
    assert found["payload"]["alerts"][0]["fingerprint"] == "f/1"
    assert ask(port, "GET", "/notifications?alertname=Other")[1] == '{"notifications": []}\n'
    assert ask(port, "DELETE", "/notifications") == (200, '{"deleted": 1}\n')
    assert ask(port, "GET", "/healthz") == (200, "OK")
    assert "alert_sink_notifications_held 0" in ask(port, "GET", "/metrics")[1]


def test_one_connection_serves_many_requests(port: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    statuses = []
    for content in (body(), b"no json", body()):
        connection.request("POST", "/pager", content)
        answer = connection.getresponse()
        answer.read()
        statuses.append(answer.status)
    connection.close()
    assert statuses == [200, 400, 200]


def test_body_at_the_limit_is_read(port: int) -> None:
    padded = body().ljust(LARGEST_BODY)
    assert len(padded) == LARGEST_BODY
    assert ask(port, "POST", "/pager", padded)[0] == 200


def test_body_over_the_limit_is_refused_unread(port: int) -> None:
    status, text = ask(port, "POST", "/pager", headers={"Content-Length": str(LARGEST_BODY + 1)})
    assert status == 413
    assert json.loads(text)["error"].startswith("the body has 1000001 bytes; accepted are up to 1000000")
    assert 'alert_sink_refused_total{reason="size"} 1' in ask(port, "GET", "/metrics")[1]


@pytest.mark.parametrize("headers", [{"Transfer-Encoding": "chunked"}, {"Content-Length": "many"}])
def test_body_without_a_length_is_refused(port: int, headers: dict[str, str]) -> None:
    assert ask(port, "POST", "/pager", headers=headers)[0] == 411


def test_port_that_is_taken(port: int, caplog: pytest.LogCaptureFixture) -> None:
    assert main([f"--port={port}"]) == 1
    assert f"cannot listen on port {port}" in caplog.text


@pytest.mark.parametrize("flags", [["--port=http"], ["--port=70000"], ["--keep=5"], ["--po=1"]])
def test_wrong_flag(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(flags)
    assert re.search("is no port; accepted is 0|unrecognized arguments", capsys.readouterr().err)


def test_program_runs_as_in_its_image_and_ends_when_told_to() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = taken.getsockname()[1]
    argv = [sys.executable, "-P", "-S", "-m", "sandbox.workloads.alert_sink", "--host=127.0.0.1", f"--port={free}"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
    process = subprocess.Popen(argv, env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        assert f"listens on port {free}" in process.stderr.readline()
        assert ask(free, "POST", "/pager", body())[0] == 200
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert (process.returncode, 'POST /pager: 200 {"alerts": 1}' in errors) == (0, True), errors
