"""The pages of the sink: receiving, asking, deleting, failing, counting."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sandbox.workloads.alert_sink.inbox import CAPACITY, Inbox
from sandbox.workloads.alert_sink.pages import Answer, Request, answer
from tests.offline.sandbox.workloads.alert_sink.payloads import alert, body, payload

NOON = datetime(2026, 2, 3, 12, tzinfo=UTC)


class Sink:
    """An inbox and a clock that moves one second per request."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        """Noon, and nothing received."""
        self.inbox, self.clock = Inbox(capacity), NOON

    def ask(self, method: str, path: str, content: bytes = b"", query: dict[str, str] | None = None) -> Answer:
        """One request."""
        lists = {name: [value] for name, value in (query or {}).items()}
        found = answer(self.inbox, Request(method=method, path=path, query=lists, body=content, at=self.clock))
        self.clock += timedelta(seconds=1)
        return found

    def receivers(self, **query: str) -> list[str]:
        """Receivers of the notifications that are found."""
        found = self.ask("GET", "/notifications", query=query)
        assert found.status == 200, found.body
        return [notification["receiver"] for notification in json.loads(found.body)["notifications"]]

    def metrics(self) -> list[str]:
        """Series of the metrics page."""
        return [line for line in self.ask("GET", "/metrics").body.splitlines() if not line.startswith("#")]


def error(found: Answer) -> str:
    """The reason that an answer gives."""
    return str(json.loads(found.body)["error"])


def test_notification_is_kept_with_receiver_and_time() -> None:
    sink = Sink()
    assert sink.ask("POST", "/pager", body()) == Answer(200, '{"alerts": 1}\n')
    assert json.loads(sink.ask("GET", "/notifications").body) == {
        "notifications": [{"receiver": "pager", "receivedAt": "2026-02-03T12:00:00+00:00", "payload": payload()}]
    }


def test_only_the_newest_are_kept() -> None:
    sink = Sink(capacity=2)
    for receiver in ("a", "b", "c"):
        sink.ask("POST", f"/{receiver}", body())
    assert sink.receivers() == ["b", "c"]
    assert {"alert_sink_notifications_held 2", "alert_sink_notifications_dropped_total 1"} <= set(sink.metrics())


@pytest.mark.parametrize(
    ("query", "receivers"),
    [
        ({}, ["p0", "p1", "p0"]),
        ({"receiver": "p0"}, ["p0", "p0"]),
        ({"receiver": "p"}, []),
        ({"fingerprint": "f2"}, ["p1"]),
        ({"alertname": "Hot"}, ["p1", "p0"]),
        ({"alertname": "Hot", "fingerprint": "f3"}, ["p0"]),
        ({"alertname": "GpuLost", "fingerprint": "f2"}, []),  # both are in that notification, on different alerts
        ({"since": "2026-02-03T12:00:01Z"}, ["p1", "p0"]),
        ({"since": "2026-02-03T13:00:02+01:00"}, ["p0"]),
        ({"since": str(NOON.timestamp() + 2)}, ["p0"]),
        ({"since": "", "receiver": ""}, ["p0", "p1", "p0"]),
    ],
)
def test_notifications_are_found_by(query: dict[str, str], receivers: list[str]) -> None:
    sink = Sink()
    hot = {"alertname": "Hot"}
    sink.ask("POST", "/p0", body(alerts=[alert(fingerprint="f1")]))
    sink.ask("POST", "/p1", body(alerts=[alert(fingerprint="f1"), alert(fingerprint="f2", labels=hot)]))
    sink.ask("POST", "/p0", body(alerts=[alert(fingerprint="f3", labels=hot)]))
    assert sink.receivers(**query) == receivers


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"name": "x"}, "name cannot be asked for; accepted are receiver, fingerprint, alertname, since"),
        ({"since": "noon"}, "since=noon is no time; accepted are seconds since 1970, or a time as in RFC 3339"),
        ({"since": "2026-02-03T12:00:00"}, "is no time"),
        ({"since": "9" * 30}, "is no time"),
    ],
)
def test_question_that_is_not_understood(query: dict[str, str], message: str) -> None:
    found = Sink().ask("GET", "/notifications", query=query)
    assert found.status == 400
    assert message in error(found)


def test_deleting_forgets_notifications_and_no_totals() -> None:
    sink = Sink()
    sink.ask("POST", "/pager", body())
    assert sink.ask("DELETE", "/notifications").body == '{"deleted": 1}\n'
    assert sink.receivers() == []
    assert 'alert_sink_notifications_total{receiver="pager",status="firing"} 1' in sink.metrics()


def test_wrong_payload_is_refused_with_its_reason_and_counted() -> None:
    sink = Sink()
    found = sink.ask("POST", "/pager", body(version="3"))
    assert (found.status, error(found)) == (400, "version is '3'; accepted is '4'")
    assert sink.receivers() == []
    assert 'alert_sink_refused_total{reason="payload"} 1' in sink.metrics()


@pytest.mark.parametrize("path", ["/", "/a/b", "/notifications", "/metrics", "/healthz", "/-a", "/" + "a" * 64, "/a b"])
def test_receivers_have_plain_names(path: str) -> None:
    sink = Sink()
    found = sink.ask("POST", path, body())
    assert found.status == 404
    assert "names no receiver; accepted are up to 63 letters" in error(found)
    assert 'alert_sink_refused_total{reason="receiver"} 1' in sink.metrics()


def test_it_fails_as_often_as_it_is_told_to() -> None:
    sink = Sink()
    assert sink.ask("POST", "/fail", b'{"count": 2, "status": 503}').body == '{"count": 2, "status": 503}\n'
    assert [sink.ask("POST", "/pager", body()).status for _ in range(3)] == [503, 503, 200]
    assert sink.receivers() == ["pager"]
    assert 'alert_sink_failed_total{status="503"} 2' in sink.metrics()


def test_failing_ends_when_it_is_told_to() -> None:
    sink = Sink()
    sink.ask("POST", "/fail", b'{"count": 5}')
    assert sink.ask("POST", "/pager", body()).status == 500
    sink.ask("POST", "/fail", b'{"count": 0}')
    assert sink.ask("POST", "/pager", body()).status == 200


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b'{"count": -1}', b'{"count": true}', b'{"count": 1001}', b'{"count": 1, "status": 200}'],
)
def test_order_to_fail_that_is_not_understood(content: bytes) -> None:
    sink = Sink()
    found = sink.ask("POST", "/fail", content)
    assert found.status == 400
    assert error(found).startswith('accepted is {"count": 0 to 1000, "status": 400 to 599}')
    assert sink.ask("POST", "/pager", body()).status == 200


def test_totals() -> None:
    sink = Sink()
    sink.ask("POST", "/pager", body(alerts=[alert(), alert(status="resolved")]))
    sink.ask("POST", "/pager", body(status="resolved", alerts=[alert(status="resolved")]))
    assert sink.metrics() == [
        'alert_sink_notifications_total{receiver="pager",status="firing"} 1',
        'alert_sink_notifications_total{receiver="pager",status="resolved"} 1',
        'alert_sink_alerts_total{receiver="pager",status="firing"} 1',
        'alert_sink_alerts_total{receiver="pager",status="resolved"} 2',
        'alert_sink_last_notification_timestamp_seconds{receiver="pager"} 1770120001.0',
        "alert_sink_notifications_held 2",
        "alert_sink_notifications_dropped_total 0",
    ]
    assert "# TYPE alert_sink_alerts_total counter\n" in sink.ask("GET", "/metrics").body


def test_health() -> None:
    assert Sink().ask("GET", "/healthz").body == "OK"


@pytest.mark.parametrize(("method", "path"), [("GET", "/pager"), ("DELETE", "/pager"), ("GET", "/fail")])
def test_page_that_is_not_there(method: str, path: str) -> None:
    found: Any = Sink().ask(method, path)
    assert found.status == 404
    assert "is no page here; pages are POST /<receiver>, GET and DELETE /notifications" in error(found)
