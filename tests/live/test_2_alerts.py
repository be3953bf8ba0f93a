"""Faults on the way of an alert to a person, and an Alertmanager that is killed: no page is lost, none comes twice."""

from __future__ import annotations

import json
import os
import signal
import time
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import pytest
import requests

from sandbox.cluster import daemons, remains
from sandbox.cluster.layout import NODE_NAME
from sandbox.workloads.gpu import incidents
from tests.live.plumbline import NAMESPACE, forwarded, get, kubectl, smoke, until
from tests.live.pushes import changed, in_text
from tests.live.workloads import exporter, page

if TYPE_CHECKING:
    from collections.abc import Iterator

Rows = dict[str, dict[str, Any]]

POD: Final = "alertmanager-0"
FILE: Final = "/etc/alertmanager/alertmanager.yml"
SINK_NAMESPACE: Final = "plumbline-sandbox"
ELSEWHERE: Final = "nobody"
# A page takes about ten seconds to its receiver; the rest is for a slow machine.
PATIENCE: Final = 25.0
BEFORE, DURING, SILENCED = (f"{name}-{uuid.uuid4().hex[:6]}" for name in ("before", "during", "silenced"))


def _alertmanager(path: str) -> str:
    return kubectl("get", "--raw", f"/api/v1/namespaces/{NAMESPACE}/services/alertmanager:9093/proxy{path}")


def _maintained() -> tuple[float, ...]:
    """How often silences and the log of notifications were written to disk."""
    lines = _alertmanager("/metrics").splitlines()
    names = ("alertmanager_silences_maintenance_total ", "alertmanager_nflog_maintenance_total ")
    return tuple(float(line.split(" ")[1]) for name in names for line in lines if line.startswith(name))


def _told(word: str) -> list[str]:
    """Receivers that were told that the alert with this proof fires, once for each time."""
    sink = f"/api/v1/namespaces/{SINK_NAMESPACE}/services/alert-sink:8080/proxy/notifications"
    return [
        received["receiver"]
        for received in json.loads(kubectl("get", "--raw", sink))["notifications"]
        for alert in received["payload"]["alerts"]
        if alert["labels"].get("proof") == word and alert["status"] == "firing"
    ]


@contextmanager
def _silence(word: str) -> Iterator[str]:
    """A silence over the alert with this proof."""
    now = time.time()
    times = {key: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at)) for key, at in _bounds(now).items()}
    matcher = {"name": "proof", "value": word, "isRegex": False, "isEqual": True}
    body = {"matchers": [matcher], **times, "createdBy": "live test", "comment": "survives a kill"}
    with forwarded(f"pod/{POD}", 9093) as base:
        answer = requests.post(f"{base}/api/v2/silences", json=body, timeout=10)
    assert answer.ok, answer.text
    number = answer.json()["silenceID"]
    try:
        yield number
    finally:
        path = f"/api/v1/namespaces/{NAMESPACE}/services/alertmanager:9093/proxy/api/v2/silence/{number}"
        kubectl("delete", "--raw", path)


def _bounds(now: float) -> dict[str, float]:
    return {"startsAt": now, "endsAt": now + 1800}


@contextmanager
def _failing_sink() -> Iterator[None]:
    """Every notification is refused, as by a receiver that is down."""
    with forwarded("service/alert-sink", 8080, SINK_NAMESPACE) as base:
        try:
            assert requests.post(f"{base}/fail", json={"count": 1000, "status": 503}, timeout=10).ok
            yield
        finally:
            assert requests.post(f"{base}/fail", json={"count": 0}, timeout=10).ok


def _reload(text: str) -> None:
    """Let Alertmanager load its file once `text` is what the pod sees of it."""
    read = ("exec", "-n", NAMESPACE, POD, "--", "/bin/busybox", "cat", FILE)
    until("the file arrives", lambda: text in kubectl(*read), 60)
    kubectl("exec", "-n", NAMESPACE, POD, "--", "/bin/busybox", "kill", "-HUP", "1")


@pytest.fixture(scope="module")
def silence() -> Iterator[str]:
    """A silence, and a page that has arrived: what Alertmanager must still know after it was killed."""
    with _silence(SILENCED) as number, page(BEFORE):
        until("the page arrives", lambda: _told(BEFORE) == ["P0"], 60)
        yield number


@pytest.fixture(scope="module")
def written(silence: str) -> tuple[float, ...]:
    """How often silences and notifications had been written to disk when both were there."""
    assert silence
    return _maintained()


@pytest.fixture(scope="module")
def rows(written: tuple[float, ...]) -> Rows:
    """The report of smoke while pages of P0 go elsewhere and no receiver takes any. By now both are over."""
    assert written
    before = kubectl("exec", "-n", NAMESPACE, POD, "--", "/bin/busybox", "cat", FILE)
    with _failing_sink(), changed("alertmanager-config", POD, in_text(":8080/P0", f":8080/{ELSEWHERE}")):
        _reload(ELSEWHERE)
        _, checks, _ = smoke("--only", "alertmanager.config", "alerting.delivery", patience=PATIENCE)
    _reload(before)
    return checks


def test_configuration_changed_behind_the_engines_back_is_named(rows: Rows) -> None:
    assert rows["alertmanager.config"]["status"] == "fail"
    assert "alertmanager_config_hash" in rows["alertmanager.config"]["evidence"]


def test_failing_receiver_is_named(rows: Rows) -> None:
    assert rows["alerting.delivery"]["status"] == "fail"
    assert "page of severity P1 at receiver P1: seen 0 notifications firing" in rows["alerting.delivery"]["evidence"]


@pytest.mark.usefixtures("rows")
def test_killed_alertmanager_forgets_no_silence_and_loses_no_page(silence: str, written: tuple[float, ...]) -> None:
    until("both are on disk", lambda: all(n > o for n, o in zip(_maintained(), written, strict=True)), 90)
    _kill()
    with page(DURING, SILENCED):
        until("the container is back", lambda: _restarts() == 1, 60)
        kubectl("wait", "-n", NAMESPACE, "--for=condition=Ready", "--timeout=60s", f"pod/{POD}")
        until("the page arrives", lambda: _told(DURING) == ["P0"], 90)
        (alert,) = json.loads(_alertmanager(f"/api/v2/alerts?filter=proof%3D%22{SILENCED}%22"))
        assert alert["status"]["silencedBy"] == [silence]
        assert _told(SILENCED) == []
        assert _told(BEFORE) == ["P0"]
    _replace()
    (kept,) = (s for s in json.loads(_alertmanager("/api/v2/silences")) if s["id"] == silence)
    assert kept["status"]["state"] == "active"


def _kill() -> None:
    """SIGKILL from the node, so that it writes nothing more."""
    running = {p.pid: p.name for group in remains.pod_cgroups() for p in daemons.in_cgroup(group)}
    (pid,) = (number for number, name in running.items() if name == "alertmanager")
    os.kill(pid, signal.SIGKILL)


def _restarts() -> int:
    statuses = get(f"pod/{POD}", "-n", NAMESPACE)["status"].get("containerStatuses", [])
    return int(statuses[0]["restartCount"]) if statuses else 0


def _replace() -> None:
    """A new pod, whose restarts count from 0."""
    kubectl("delete", "pod", POD, "-n", NAMESPACE)
    until("the new pod is there", lambda: bool(kubectl("get", "pod", POD, "-n", NAMESPACE, check=False)), 60)
    kubectl("wait", "-n", NAMESPACE, "--for=condition=Ready", "--timeout=60s", f"pod/{POD}")


@pytest.mark.usefixtures("rows")
def test_after_the_faults_pages_arrive_again() -> None:
    code, _, output = smoke("--only", "alertmanager.config", "alerting.delivery", "pods.running", "pods.not_restarted")
    assert code == 0, output


def test_xid_of_a_gpu_reaches_the_receiver_of_its_severity_with_its_runbook() -> None:
    """From a register of the GPU to a person: exporter, scrape, class by NVIDIA's table, rule, route, receiver."""
    with exporter() as base:
        incidents.play(base, "xid", gpu=3, code=79)  # the GPU has fallen off the bus
        until("the page arrives", lambda: bool(_pages("GpuXidNode")), 150)
    receivers, alerts = zip(*_pages("GpuXidNode"), strict=True)
    assert set(receivers) == {"P1"}
    labels, annotations = alerts[0]["labels"], alerts[0]["annotations"]
    assert (labels["gpu"], labels["xid"], labels["node"], labels["severity"]) == ("3", "79", NODE_NAME, "P1")
    assert annotations["runbook_url"].endswith("docs/runbooks/gpu-xid.md")
    assert "GPU 3" in annotations["summary"]


def _pages(alert: str) -> list[tuple[str, dict[str, Any]]]:
    """Receiver and alert, for each time that somebody was told that this alert fires."""
    sink = f"/api/v1/namespaces/{SINK_NAMESPACE}/services/alert-sink:8080/proxy/notifications"
    return [
        (received["receiver"], found)
        for received in json.loads(kubectl("get", "--raw", sink))["notifications"]
        for found in received["payload"]["alerts"]
        if found["labels"]["alertname"] == alert and found["status"] == "firing"
    ]
