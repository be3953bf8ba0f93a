"""What a role refuses, and how it says so: played within one process, with the limits at nothing."""

from __future__ import annotations

import io
import json
import logging
import sys
import threading
from typing import TYPE_CHECKING

import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from sandbox.workloads.inference import gateway, serving
from sandbox.workloads.inference.asking import asked
from sandbox.workloads.inference.boundary import Boundaries, Failure
from sandbox.workloads.inference.engine import Engine
from sandbox.workloads.inference.journal import Format, Journal
from sandbox.workloads.inference.telemetry import ENDPOINT, Telemetry
from sandbox.workloads.inference.web import Asked, Route, answered, call, server_span

if TYPE_CHECKING:
    from sandbox.workloads.inference.asking import Job

JOB = asked(b"{}", {}, "chatcmpl-0123456789abcdef")


@pytest.fixture
def out() -> io.StringIO:
    """What is written to standard output."""
    return io.StringIO()


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch, out: io.StringIO) -> Boundaries:
    """Boundaries that send nothing."""
    monkeypatch.delenv(ENDPOINT, raising=False)
    monkeypatch.delenv("OTEL_RESOURCE_ATTRIBUTES", raising=False)
    telemetry = Telemetry("inference-test", metrics=False)
    return Boundaries(telemetry, Journal(telemetry, "router", "stdout", out))


@pytest.fixture
def spans(at: Boundaries) -> InMemorySpanExporter:
    """What ended."""
    found = InMemorySpanExporter()
    at.telemetry.tracers.add_span_processor(SimpleSpanProcessor(found))
    return found


def body(job: Job = JOB) -> Asked:
    """A job as another role sends it."""
    return Asked({}, {}, job.text())


def test_router_that_is_full_says_so(at: Boundaries, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "MOST_WAITING", 0)
    router = serving.Router(at, ["http://127.0.0.1:1"], ["http://127.0.0.1:1"], 1)
    for _ in range(2):  # and nobody is left waiting: the second would count the first
        with pytest.raises(Failure) as refused:
            router.route(body())
        assert (refused.value.status, refused.value.kind) == (503, "QueueFull")


def test_router_that_has_no_turn_for_long_says_so(at: Boundaries, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "LONGEST_WAIT", 0.01)
    router = serving.Router(at, ["http://127.0.0.1:1"], ["http://127.0.0.1:1"], 0)
    with pytest.raises(Failure) as refused:
        router.route(body())
    assert (refused.value.status, refused.value.kind) == (503, "QueueTimeout")


def test_router_gives_a_turn_back_when_a_request_fails(at: Boundaries, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "LONGEST_WAIT", 1.0)
    router = serving.Router(at, ["http://127.0.0.1:1"], ["http://127.0.0.1:1"], 1)
    for _ in range(3):
        with pytest.raises(Failure) as failed:
            router.route(body())
        assert (failed.value.status, failed.value.kind) == (502, "ConnectionRefusedError")


def test_gateway_that_is_full_says_so(at: Boundaries, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway, "MOST_AT_ONCE", 0)
    entry = gateway.Gateway(at, "http://127.0.0.1:1", "http://127.0.0.1:1")
    with pytest.raises(Failure) as refused:
        entry.complete(Asked({}, {}, b"{}"))
    assert (refused.value.status, refused.value.kind) == (429, "RateLimited")
    assert refused.value.request_id.startswith("chatcmpl-")


def test_cache_that_is_gone_is_reported_by_whoever_wanted_it(
    at: Boundaries, spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch, out: io.StringIO
) -> None:
    prefill = serving.Prefill(at, Engine("m"), "http://127.0.0.1:1")
    route = Route("POST", "/v1/kv", prefill.fetched)
    with server_span(at, route, body(), {}) as span:
        answer = answered(span, route, body())
    found = json.loads(answer.body)
    assert (answer.status, found["type"], found["reported"]) == (404, "KVCacheGone", False)
    monkeypatch.setattr("sandbox.workloads.inference.web._ask", lambda *_: (answer.status, found))
    with pytest.raises(Failure):
        call(at, "kv_transfer", JOB, "POST", "http://127.0.0.1:1/v1/kv", name="kv_transfer")
    (transfer,) = [span for span in spans.get_finished_spans() if span.name == "kv_transfer"]
    assert [event.name for event in transfer.events] == ["exception"]
    (line,) = [json.loads(text) for text in out.getvalue().splitlines()]
    assert (line["level"], line["error_class"], line["component"]) == ("ERROR", "KVCacheGone", "scheduler")


def test_fault_of_ours_is_a_500_with_its_exception(at: Boundaries, spans: InMemorySpanExporter) -> None:
    def broken(_: Asked) -> None:
        raise KeyError("secret of the caller")

    route = Route("POST", "/v1/broken", broken)  # type: ignore[arg-type]  # it never answers
    with server_span(at, route, body(), {}) as span:
        answer = answered(span, route, body())
    assert (answer.status, "secret" in answer.body.decode()) == (500, False)
    (ended,) = spans.get_finished_spans()
    assert ended.status.status_code.name == "ERROR"
    assert [event.name for event in ended.events] == ["exception"]


def test_decode_links_to_those_that_run_beside_it(
    at: Boundaries, spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine("m")
    decode = serving.Decode(at, engine)
    kv = {"blocks": 2, "bytes": 1}
    monkeypatch.setattr("sandbox.workloads.inference.web._ask", lambda *_: (200, kv))
    beside = at.telemetry.tracer().start_span("beside").get_span_context()
    filled = {"cached_tokens": 0, "kv": "http://127.0.0.1:1", "span": {"trace_id": "1" * 32, "span_id": "2" * 16}}
    with engine.admit(asked(b"{}", {}, "other"), beside, 1):
        assert decode.decode(Asked({}, {}, JOB.text(prefill=filled))).status == 200
    (span,) = [span for span in spans.get_finished_spans() if span.name == "decode"]
    assert [(link.context.span_id, dict(link.attributes or {})) for link in span.links] == [
        (0x2222222222222222, {"link.kind": "kv_cache"}),
        (beside.span_id, {"link.kind": "batch"}),
    ]
    assert dict(span.attributes or {})["batch.size"] == 2


def test_lines_of_libraries_are_json_too() -> None:
    try:
        int("broken")
    except ValueError:
        record = logging.LogRecord("opentelemetry", logging.WARNING, "f", 1, "lost %d", (3,), sys.exc_info())
    line = json.loads(Format("decode").format(record))
    assert (line["level"], line["message"], line["logger"]) == ("WARNING", "lost 3", "opentelemetry")
    assert (line["service"], line["component"]) == ("inference-decode", "model-server")
    assert "ValueError: invalid literal" in line["exception"]
    assert line["time"].endswith("Z")


def test_lines_of_many_threads_are_whole(at: Boundaries, out: io.StringIO) -> None:
    def write() -> None:
        for _ in range(50):
            at.journal.write("INFO", "x" * 500, JOB)

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = [json.loads(text) for text in out.getvalue().splitlines()]
    assert len(lines) == 400 == at.telemetry.ledger.counts()["lines", "made"]
