"""A request that fails says where: one exception, errors all the way up, the code at the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.offline.sandbox.inference.test_inference_traces import one, traced

if TYPE_CHECKING:
    from tests.offline.sandbox.inference.service import Service

# Point → spans that have status error when it answers 503: itself, and every one above it. Kinds where two have a name.
SERVER, ROOT = "server", ("POST /v1/chat/completions", "server")
CHAT = [ROOT, ("chat demo-llm", "client")]
ROUTE = [*CHAT, ("POST /v1/route", "server")]
DECODE = [*ROUTE, ("POST /v1/decode", "client"), ("POST /v1/decode", "server")]
TOOL = [ROOT, ("execute_tool search_documents", "internal"), ("retrieval documents", "client")]
ABOVE = {
    "auth": [ROOT, ("auth", "internal")],
    "rate_limit": [ROOT, ("rate_limit", "internal")],
    "routing": [*ROUTE, ("routing", "internal")],
    "queue": [*ROUTE, ("queue", "internal")],
    "prefill": [*ROUTE, ("POST /v1/prefill", "client"), ("POST /v1/prefill", "server"), ("prefill", "internal")],
    "kv_transfer": [*DECODE, ("kv_transfer", "client")],
    "decode": [*DECODE, ("decode", "internal")],
    "retrieval": [*TOOL, ("POST /v1/retrieve", "server"), ("search", "internal")],
    "stream": [ROOT, ("stream", "internal")],
}


@pytest.mark.parametrize("point", ABOVE)
def test_failure_is_seen_where_it_is_and_above(service: Service, point: str) -> None:
    nonce = f"fails-{point}"
    response = service.ask({"simulate": {"fail": {point: 503}, "nonce": nonce}})
    assert response.status_code == 503
    answer = response.json()
    assert (answer["type"], answer["error"]) == ("SimulatedError", f"{point}: Service Unavailable")
    spans = traced(service, answer["trace_id"])
    found = {(span.name, span.kind) for span in spans if span.status == "error"}
    assert found == set(ABOVE[point])
    exceptions = [(span.name, name, about) for span in spans for name, about in span.events if name == "exception"]
    (exception,) = exceptions
    assert exception[0] == ABOVE[point][-1][0]
    assert exception[2]["exception.type"].endswith("SimulatedError")
    assert exception[2]["exception.message"] == f"{point}: Service Unavailable"
    where = one(spans, *ABOVE[point][-1])
    assert (where.message, where.attributes["error.type"]) == (f"{point}: Service Unavailable", "SimulatedError")
    assert spans[0].attributes["http.response.status_code"] == 503
    assert spans[0].attributes["error.type"] == "503"
    assert answer["reported"] is True
    (line,) = service.lines(nonce=nonce, level="ERROR")
    assert (line["error_class"], line["status"], line["trace_id"]) == ("SimulatedError", 503, answer["trace_id"])
    assert line["span_id"] == where.span_id
    assert answer["request_id"] == response.headers["x-request-id"] == where.attributes["request_id"]


def test_refusal_is_no_error_of_the_server(service: Service) -> None:
    """By the conventions for HTTP: 4xx leaves the span of who is asked as it is, and is an error for who asks."""
    response = service.ask({"simulate": {"fail": {"queue": 429}}})
    assert response.status_code == 429
    spans = traced(service, response.json()["trace_id"])
    assert {(span.name, span.kind) for span in spans if span.status == "error"} == {
        ("chat demo-llm", "client"),
        ("queue", "internal"),
    }


def test_caller_that_goes_away_is_no_error_within(service: Service) -> None:
    response = service.ask({"simulate": {"cancel": True}})
    assert (response.status_code, response.json()["type"]) == (499, "cancelled")
    spans = traced(service, response.json()["trace_id"])
    assert {span.status for span in spans} == {"unset"}
    assert ("cancelled", {}) in one(spans, "decode").events
    assert "exception" not in repr([span.events for span in spans])


def test_failure_within_a_stream_ends_it(service: Service) -> None:
    response = service.ask({"stream": True, "simulate": {"fail": {"stream": 500}}})
    assert (response.status_code, response.text) == (200, "")
    spans = traced(service, response.headers["x-trace-id"])
    assert {span.name for span in spans if span.status == "error"} == {"POST /v1/chat/completions", "stream"}


def test_role_that_cannot_be_reached_is_an_error_with_its_address(tmp_path_factory: pytest.TempPathFactory) -> None:
    from tests.offline.sandbox.inference import service as running  # noqa: PLC0415  # its own service, for this test

    with running.service(tmp_path_factory.mktemp("alone")) as alone:
        gone = alone.roles["retrieval"]
        assert gone.end() == 0
        response = alone.ask({})
        assert (response.status_code, response.json()["type"]) == (502, "ConnectionRefusedError")
        alone.roles["gateway"].flush()
        spans = alone.receiver.trace(response.json()["trace_id"])
        (exception,) = [about for span in spans for name, about in span.events if name == "exception"]
        assert f"127.0.0.1:{gone.port} did not answer" in exception["exception.message"]


def test_batch_counts_its_failures(service: Service) -> None:
    body = {"requests": 3, "request": {"simulate": {"fail": {"decode": 500}}}}
    results = service.ask(body, "/v1/batch").json()["results"]
    assert [result["status"] for result in results] == [500, 500, 500]
    service.flush()
    for result in results:
        assert service.receiver.trace(result["trace_id"])[0].status == "error"
