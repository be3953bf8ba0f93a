"""From the bodies of the SDKs to the events of the buffer."""

from __future__ import annotations

import http.server
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from sandbox.swanlab_server.house import ingest, program
from sandbox.swanlab_server.house.state import NotAcknowledged
from sandbox.swanlab_server.web import Call, Refusal
from tests.offline.sandbox.swanlab_server.house_fakes import RUN, UID, open_house

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Buffer(http.server.BaseHTTPRequestHandler):
    status = 200
    bodies: list[bytes] = []  # noqa: RUF012  # replaced for each test

    def do_POST(self) -> None:
        self.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(self.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged."""


@pytest.fixture
def buffer() -> Iterator[str]:
    """Address of a buffer that takes everything."""
    _Buffer.status, _Buffer.bodies = 200, []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Buffer)
    threading.Thread(target=server.serve_forever, args=(0.01,)).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def _sent() -> list[dict[str, Any]]:
    return [json.loads(line) for body in _Buffer.bodies for line in body.splitlines()]


def _body(kind: str, *items: object) -> dict[str, Any]:
    return {"type": kind, "projectId": "p", "experimentId": RUN["cuid"], "metrics": list(items)}


@pytest.mark.parametrize(
    ("kind", "item", "event"),
    [
        (  # SDK 0.8 and later
            "scalar",
            {"key": "train/loss", "index": 12, "data": 0.5, "create_time": "2026-01-01T00:00:00.123456Z"},
            {"key": "train/loss", "step": 12, "value": 0.5, "epoch": 0, "time": 1_767_225_600_123},
        ),
        (  # SDK 0.7: with epoch, another spelling of NaN, a zone instead of Z
            "scalar",
            {"key": "k", "index": 0, "epoch": 3, "data": "NaN", "create_time": "2026-01-01T08:00:00+08:00"},
            {"key": "k", "step": 0, "value": "NaN", "epoch": 3, "time": 1_767_225_600_000},
        ),
        (
            "media",
            {"key": "img", "index": 3, "data": ["media/image/003-a.png"], "more": [{"caption": "c"}]},
            {
                "key": "img",
                "step": 3,
                "data": ["media/image/003-a.png"],
                "more": [{"caption": "c"}],
                "epoch": 0,
                "time": None,
            },
        ),
        (
            "log",
            {"level": "INFO", "epoch": 9, "message": "line", "create_time": "yesterday"},
            {"level": "INFO", "epoch": 9, "message": "line", "time": None},
        ),
    ],
)
def test_bodies_of_the_sdks(buffer: str, kind: str, item: dict[str, Any], event: dict[str, Any]) -> None:
    answer = ingest.metrics(open_house(buffer), Call(body=_body(kind, item)))
    assert (answer.status, answer.body) == (200, {})
    assert _sent() == [{"type": kind, "project": RUN["project_cuid"], "uid": UID, **event}]


def test_a_wrong_item_does_not_cost_the_others(buffer: str) -> None:
    ingest.metrics(open_house(buffer), Call(body=_body("scalar", {"key": "k", "index": 1, "data": 1}, "x", None, {})))
    assert [event.get("key") for event in _sent()] == ["k", None, None, None]


@pytest.mark.parametrize("status", [503, 500, 400, 413])
def test_without_the_buffers_word_there_is_no_success(buffer: str, status: int) -> None:
    _Buffer.status = status
    with pytest.raises(NotAcknowledged, match=str(status)):
        ingest.metrics(open_house(buffer), Call(body=_body("scalar", {"key": "k"})))


def test_a_buffer_that_is_away_is_a_store_that_is_down() -> None:
    with pytest.raises(OSError, match="does not answer"):
        ingest.metrics(open_house("http://127.0.0.1:9"), Call(body=_body("scalar", {"key": "k"})))


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (_body("gauge"), 400),
        ({**_body("scalar"), "metrics": {}}, 400),
        ({**_body("scalar"), "experimentId": "nobody"}, 404),
        ({**_body("scalar"), "metrics": [{}] * 100_001}, 413),
        (None, 400),
    ],
)
def test_refusals(buffer: str, body: object, status: int) -> None:
    with pytest.raises(Refusal) as refused:
        ingest.metrics(open_house(buffer), Call(body=body))
    assert refused.value.answer.status == status
    assert _Buffer.bodies == []


def test_health_waits_for_the_tables() -> None:
    house = open_house("http://127.0.0.1:9")
    assert program.health(house, Call()).status == 503
    house.ready.set()
    assert (program.health(house, Call()).status, program.health(house, Call()).text) == (200, "OK")
