"""Clients of the programs around alerts, against the programs as they are: the sandbox's sink, files, an exec."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import requests

from sandbox.workloads.alert_sink.inbox import Inbox
from sandbox.workloads.alert_sink.server import Server
from smoke.access import runbooks
from smoke.access.alertmanager import Alertmanager
from smoke.access.errors import NoShellError, UnreachableError
from smoke.access.inside import look
from smoke.access.pushgateway import Pushgateway
from smoke.access.sink import Sink
from smoke.judge import paging

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from smoke.access.http import Client

Json = dict[str, Any]
TIME = "2026-01-01T00:00:00Z"


@pytest.fixture
def sink() -> Iterator[str]:
    """The sandbox's sink on loopback; its address."""
    server = Server("127.0.0.1", 0, Inbox())
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def _webhook(status: str, **labels: str) -> Json:
    own = {"alertname": "PlumblinePageProof", "proof": "n", "severity": "P0", **labels}
    alert = {
        "status": status,
        "labels": own,
        "annotations": {"summary": "s", "runbook_url": "README.md"},
        "startsAt": TIME,
        "endsAt": TIME,
        "fingerprint": "f",
        "generatorURL": "",
    }
    return {
        "version": "4",
        "groupKey": "{}",
        "status": status,
        "receiver": own["severity"],
        "groupLabels": {},
        "commonLabels": own,
        "commonAnnotations": {},
        "externalURL": "",
        "truncatedAlerts": 0,
        "alerts": [alert],
    }


def test_what_the_sandbox_s_sink_received_is_judged(sink: str) -> None:
    for severity in paging.SEVERITIES:
        assert requests.post(f"{sink}/{severity}", json=_webhook("firing", severity=severity), timeout=60).ok
    found = Sink("sink", lambda: sink, lambda: None).notifications(0.0, "PlumblinePageProof")
    boxes = {severity: {severity} for severity in paging.SEVERITIES}
    assert paging.arrived(found, "n", "firing", boxes, boxes) == []
    assert paging.complete(found, "n") == []
    assert Sink("sink", lambda: sink, lambda: None).notifications(0.0, "Watchdog") == []
    assert Sink("sink", lambda: sink, lambda: None).notifications(4e9) == []


@pytest.mark.parametrize(
    ("client", "ask"),
    [
        (Sink, lambda client: client.notifications()),
        (Alertmanager, lambda client: client.configuration()),
        (Pushgateway, lambda client: client.groups()),
        (Pushgateway, lambda client: client.flags()),
    ],
)
def test_answer_of_another_program_is_no_answer(
    client: type[Client],
    ask: Callable[[Any], object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client, "json", lambda *_: [])
    with pytest.raises(UnreachableError, match="not its JSON"):
        ask(client("it", lambda: "", lambda: None))


def test_runbook_is_a_file_of_this_checkout_or_an_address_that_answers(sink: str) -> None:
    assert runbooks.missing("docs/runbooks/scrape-target-down.md") == ""
    assert runbooks.missing("docs/runbooks/gone.md") == "no file docs/runbooks/gone.md in this checkout"
    assert "no file" in runbooks.missing("../../etc/passwd")
    assert runbooks.missing("") == "no address"
    assert runbooks.missing(f"{sink}/healthz") == ""
    assert runbooks.missing(f"{sink}/gone").endswith("gives HTTP 404")
    assert "gives no answer (ConnectionError)" in runbooks.missing("http://127.0.0.1:1/x")


@pytest.mark.parametrize(
    "words",
    [
        'OCI runtime exec failed: exec failed: exec: "/bin/sh": executable file not found in $PATH',
        'OCI runtime exec failed: exec failed: exec: "/bin/sh": stat /bin/sh: no such file or directory',
    ],
)
def test_container_without_a_shell_is_told_apart_from_one_that_does_not_answer(words: str) -> None:
    def host(stderr: str) -> Any:  # noqa: ANN401  # as testinfra's Host
        return SimpleNamespace(run=lambda *_: SimpleNamespace(rc=1, stdout="", stderr=stderr))

    with pytest.raises(NoShellError):
        look(host(words), [])
    with pytest.raises(UnreachableError):
        look(host("error: unable to upgrade connection"), [])
