"""The real Alertmanager with the rendered command line and configuration: what runs is shown, and a restart loses
nothing."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
import requests
import yaml

from components.alertmanager.args import Webhook
from components.alertmanager.config import render
from components.alertmanager.names import CONFIG_PATH, DATA_PATH, NAME, PORT
from components.alertmanager.pod import arguments
from signals.alertmanager_config import CONFIG_FILE, HASH_METRIC, config_hash, differences
from signals.routing import RECEIVERS
from signals.yamltext import dump
from tests.offline.components.alertmanager_examples import ARGS, PEOPLE
from tests.offline.programs import free_port, require, running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_DEADLINE_SECONDS = 60.0
NODE = {"cluster": "c", "environment": "e", "node": "n1"}


@dataclass
class Sink:
    """Keeps what webhooks deliver: receiver, status and alert name of every alert, in the order of arrival."""

    url: str = ""
    seen: list[tuple[str, str, str]] = field(default_factory=list)

    def about(self, alert: str) -> list[tuple[str, str]]:
        """(receiver, status) of every notification about an alert."""
        return [(receiver, status) for receiver, status, name in self.seen if name == alert]


@pytest.fixture
def sink() -> Iterator[Sink]:
    found = Sink()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            for alert in message["alerts"]:
                found.seen.append((message["receiver"], alert["status"], alert["labels"]["alertname"]))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield found
        server.shutdown()


@dataclass(frozen=True)
class Program:
    """Alertmanager as the pod runs it, with its directories here and its port on this machine."""

    directory: Path
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def command(self) -> list[str]:
        places = {CONFIG_PATH: str(self.directory), DATA_PATH: str(self.directory / "data"), f":{PORT}": self.url[7:]}
        flags = [text.partition("=") for text in arguments(ARGS)]
        return [require(NAME), *(f"{flag}={_moved(value, places)}" for flag, _, value in flags)]

    @contextmanager
    def runs(self, text: str) -> Iterator[Program]:
        (self.directory / CONFIG_FILE).write_text(text, encoding="utf-8")
        with running(self.command(), f"{self.url}/-/ready", self.directory / "log"):
            yield self

    def post(self, kind: str, body: object) -> Any:  # noqa: ANN401  # JSON of the API
        answer = requests.post(f"{self.url}/api/v2/{kind}", json=body, timeout=60)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def get(self, path: str) -> Any:  # noqa: ANN401  # JSON of the API
        return requests.get(f"{self.url}/api/v2/{path}", timeout=60).json()

    def suppressed(self) -> list[dict[str, str]]:
        """Labels of the alerts that nobody is told of."""
        return [found["labels"] for found in self.get("alerts") if found["status"]["state"] == "suppressed"]

    def original(self) -> str:
        found: str = self.get("status")["config"]["original"]
        return found


def _moved(value: str, places: dict[str, str]) -> str:
    for old, new in places.items():
        if value == old or value.startswith(f"{old}/"):
            return new + value[len(old) :]
    return value


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path, free_port())


def quick(url: str, extra: str = "") -> str:
    """The rendered configuration, told to one address and within a second instead of minutes."""
    people = tuple(replace(one, webhooks=(Webhook(url=f"{url}/{one.name}{extra}"),)) for one in PEOPLE)
    document = yaml.safe_load(render(replace(ARGS, receivers=people)).files[CONFIG_FILE])
    _hurry(document["route"])
    return dump(document)


def _hurry(route: dict[str, Any]) -> None:
    for key in ("group_wait", "group_interval"):
        route.pop(key, None)
    route |= {"group_wait": "1s", "group_interval": "1s"}
    for below in route.get("routes", ()):
        _hurry(below)


def alert(name: str, severity: str, *, ends: int | None = None, **labels: str) -> dict[str, Any]:
    found: dict[str, Any] = {"labels": {"alertname": name, "severity": severity, **NODE, **labels}}
    if ends is not None:
        found["endsAt"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + ends))
    return found


def eventually(true: Callable[[], bool], what: Callable[[], object]) -> None:
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while not true():
        assert time.monotonic() < deadline, what()
        time.sleep(0.1)


def test_running_configuration_is_shown_as_rendered(program: Program) -> None:
    text = render(ARGS).files[CONFIG_FILE]
    with program.runs(text):
        metrics = requests.get(f"{program.url}/metrics", timeout=60).text
        original = program.original()
    shown = [float(line.split()[1]) for line in metrics.splitlines() if line.startswith(f"{HASH_METRIC} ")]
    assert shown == [config_hash(text)]
    assert differences(original, text) == []
    assert differences(original, quick("https://other.example")) != []


def test_every_severity_is_told_to_its_receiver_and_to_no_other(program: Program, sink: Sink) -> None:
    severities = [name for name in RECEIVERS if name != "watchdog"]
    with program.runs(quick(sink.url)):
        # Different nodes: an inhibition must not hide the alert of another node.
        program.post("alerts", [alert(f"Proof{name}", name, node=name) for name in severities])
        eventually(lambda: len(sink.seen) >= len(severities), lambda: sink.seen)
    assert sorted(sink.seen) == [(name, "firing", f"Proof{name}") for name in severities]


def test_a_lost_node_hides_its_own_consequences_and_no_other_fault(program: Program) -> None:
    lost = alert("NodeNotReady", "P1", node="n1")
    hidden = alert("ScrapeTargetDown", "P2", node="n1")
    seen = (
        alert("ScrapeTargetDown", "P2", node="n2"),
        alert("ScrapeTargetDown", "P2", node="n1", cluster="other"),
        alert("GpuXid", "P1", node="n1"),
    )
    with program.runs(render(ARGS).files[CONFIG_FILE]):
        program.post("alerts", [lost, hidden, *seen])
        eventually(lambda: program.suppressed() != [], lambda: program.get("alerts"))
        assert program.suppressed() == [hidden["labels"]]
        assert len(program.get("alerts")) == 5


def test_restart_with_a_new_configuration_neither_loses_nor_repeats(program: Program, sink: Sink) -> None:
    with program.runs(quick(sink.url)):
        silence = program.post("silences", _silence("Hushed"))["silenceID"]
        program.post("alerts", [alert("Told", "P1")])
        eventually(lambda: sink.about("Told") != [], lambda: sink.seen)
        before = program.original()
    with program.runs(quick(sink.url, "?new=1")):
        assert differences(before, program.original()) == []
        assert [found["id"] for found in program.get("silences")] == [silence]
        # As Prometheus does after a restart: what fires is sent again, and one that began meanwhile for the first time.
        program.post("alerts", [alert("Told", "P1"), alert("Hushed", "P1"), alert("Later", "P1")])
        eventually(lambda: sink.about("Later") != [], lambda: sink.seen)
        # A group that waits as long and begins after the others were due: once it is told, they had their turn.
        program.post("alerts", [alert("Last", "P1")])
        eventually(lambda: sink.about("Last") != [], lambda: sink.seen)
    with program.runs(quick(sink.url, "?new=1")):
        # It ended while nothing ran; nobody but Prometheus knows, and says so.
        program.post("alerts", [alert("Told", "P1", ends=-1)])
        eventually(lambda: ("P1", "resolved") in sink.about("Told"), lambda: sink.seen)
    assert sink.about("Told") == [("P1", "firing"), ("P1", "resolved")]
    assert sink.about("Hushed") == []


def _silence(name: str) -> dict[str, Any]:
    now = time.time()
    begins, ends = (time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at)) for at in (now, now + 3600))
    matcher = {"name": "alertname", "value": name, "isRegex": False, "isEqual": True}
    return {"matchers": [matcher], "startsAt": begins, "endsAt": ends, "createdBy": "test", "comment": "test"}
