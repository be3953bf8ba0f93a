"""One trace per request, across five processes, with the right parents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.offline.sandbox.inference.receiver import Span
    from tests.offline.sandbox.inference.service import Service

# From requirement C10: gateway, auth and limit, routing, queue, prefill, KV transfer, decode, tool, stream.
# (service, name, kind, place of the parent in this list). In the order in which the spans begin.
TREE = [
    ("gateway", "POST /v1/chat/completions", "server", None),
    ("gateway", "auth", "internal", 0),
    ("gateway", "rate_limit", "internal", 0),
    ("gateway", "chat demo-llm", "client", 0),
    ("router", "POST /v1/route", "server", 3),
    ("router", "routing", "internal", 4),
    ("router", "queue", "internal", 4),
    ("router", "POST /v1/prefill", "client", 4),
    ("prefill", "POST /v1/prefill", "server", 7),
    ("prefill", "prefill", "internal", 8),
    ("router", "POST /v1/decode", "client", 4),
    ("decode", "POST /v1/decode", "server", 10),
    ("decode", "kv_transfer", "client", 11),
    ("prefill", "POST /v1/kv", "server", 12),
    ("decode", "decode", "internal", 11),
    ("gateway", "execute_tool search_documents", "internal", 0),
    ("gateway", "retrieval documents", "client", 15),
    ("retrieval", "POST /v1/retrieve", "server", 16),
    ("retrieval", "search", "internal", 17),
    ("gateway", "stream", "internal", 0),
]


def tree(spans: list[Span]) -> list[tuple[str, str, str, int | None]]:
    """What a trace is, as TREE has it."""
    places = {span.span_id: place for place, span in enumerate(spans)}
    return [(span.service.removeprefix("inference-"), span.name, span.kind, places.get(span.parent)) for span in spans]


def one(spans: list[Span], name: str, kind: str = "") -> Span:
    """The span of that name, and kind if two have it."""
    (found,) = [span for span in spans if span.name == name and kind in ("", span.kind)]
    return found


def traced(service: Service, trace_id: str) -> list[Span]:
    """All spans of a trace, once they were sent."""
    service.flush()
    return service.receiver.trace(trace_id)


def test_request_is_one_trace_with_every_boundary(service: Service) -> None:
    answer = service.play(nonce="nonce-1")
    spans = traced(service, answer["trace_id"])
    assert tree(spans) == TREE
    assert [span.parent for span in spans if span.parent == ""] == [""]
    assert {span.status for span in spans} == {"unset"}
    assert {(span.attributes["request_id"], span.attributes["nonce"]) for span in spans} == {
        (answer["request_id"], "nonce-1")
    }
    assert all(span.start <= span.end for span in spans)


def test_request_without_the_tool_has_no_spans_of_it(service: Service) -> None:
    spans = traced(service, service.play(retrieval=False)["trace_id"])
    assert [row[:3] for row in tree(spans)] == [row[:3] for row in (*TREE[:15], TREE[19])]


def test_stream_is_the_last_boundary_and_arrives_token_by_token(service: Service) -> None:
    answer = service.ask({"stream": True, "simulate": {"output_tokens": 3}})
    assert answer.headers["Content-Type"] == "text/event-stream"
    events = [line for line in answer.text.split("\n\n") if line]
    assert [event.startswith('data: {"id": "chatcmpl-') for event in events] == [True, True, True, False]
    assert events[3] == "data: [DONE]"
    spans = traced(service, answer.headers["x-trace-id"])
    assert tree(spans) == TREE
    assert one(spans, "stream").attributes["stream.chunks"] == 4
    assert one(spans, "stream").events == [("first_chunk", {})]


def test_callers_trace_is_continued_and_its_state_handed_on(service: Service) -> None:
    trace_id, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    # Flag 00: not sampled by the caller. It is sent all the same.
    answer = service.ask({}, traceparent=f"00-{trace_id}-{parent}-00", tracestate="vendor=opaque")
    assert answer.json()["trace_id"] == trace_id
    assert answer.headers["x-trace-id"] == trace_id
    spans = traced(service, trace_id)
    assert [row[:3] for row in tree(spans)] == [row[:3] for row in TREE]
    assert spans[0].parent == parent
    assert {span.state for span in spans} == {"vendor=opaque"}


def test_batch_is_as_many_traces(service: Service) -> None:
    answer = service.ask({"requests": 5, "parallel": 3, "request": {"simulate": {"nonce": "many"}}}, "/v1/batch").json()
    results = answer["results"]
    assert answer["requests"] == 5
    assert {result["status"] for result in results} == {200}
    assert len({result["trace_id"] for result in results}) == 5
    service.flush()
    for result in results:
        spans = service.receiver.trace(result["trace_id"])
        # Requests wait for each other within a process: only the order of siblings may differ.
        assert sorted(map(str, [row[:3] for row in tree(spans)])) == sorted(map(str, [row[:3] for row in TREE]))
        assert {span.attributes["request_id"] for span in spans} == {result["request_id"]}


def test_batch_refuses_a_trace_of_its_caller(service: Service) -> None:
    traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    answer = service.ask({"requests": 2}, "/v1/batch", traceparent=traceparent)
    assert (answer.status_code, "send them one by one" in answer.json()["error"]) == (400, True)


@pytest.mark.parametrize(
    ("point", "name"),
    [
        ("auth", "auth"),
        ("rate_limit", "rate_limit"),
        ("routing", "routing"),
        ("queue", "queue"),
        ("prefill", "prefill"),
        ("kv_transfer", "kv_transfer"),
        ("decode", "decode"),
        ("retrieval", "search"),
        ("stream", "stream"),
    ],
)
def test_latency_is_in_the_span_of_its_point_and_in_those_above(service: Service, point: str, name: str) -> None:
    spans = traced(service, service.play(latency={point: 0.2})["trace_id"])
    by_id = {span.span_id: span for span in spans}
    at: Span | None = one(spans, name)
    while at is not None:
        assert at.seconds >= 0.2
        at = by_id.get(at.parent)


@pytest.mark.parametrize(("role", "name"), [("gateway", "auth"), ("router", "routing")])
def test_role_means_its_first_point(service: Service, role: str, name: str) -> None:
    answer = service.ask({}, f"/v1/chat/completions?latency.{role}=0.1").json()
    assert one(traced(service, answer["trace_id"]), name).seconds >= 0.1


def test_decode_is_linked_to_what_filled_its_cache(service: Service) -> None:
    spans = traced(service, service.play()["trace_id"])
    filled = one(spans, "POST /v1/prefill", "server")
    assert one(spans, "decode").links == [(filled.trace_id, filled.span_id, {"link.kind": "kv_cache"})]
    assert one(spans, "decode").events == [("first_token", {})]
    assert all(span.links == [] for span in spans if span.name != "decode")


def test_steps_are_spans_below_decode(service: Service) -> None:
    spans = traced(service, service.play(extra_spans=7)["trace_id"])
    steps = [span for span in spans if span.name == "decode_step"]
    assert sorted(span.attributes["step"] for span in steps) == [0, 1, 2, 3, 4, 5, 6]
    assert {span.parent for span in steps} == {one(spans, "decode").span_id}
    assert len(spans) == len(TREE) + 7


def test_spans_speak_the_conventions(service: Service) -> None:
    words = " ".join(f"conventions{number}" for number in range(20))
    body = {"model": "other-llm", "max_tokens": 5, "messages": [{"role": "user", "content": words}]}
    spans = traced(service, service.ask(body).json()["trace_id"])
    root, chat = spans[0], one(spans, "chat other-llm")
    assert root.attributes["http.request.method"] == "POST"
    assert root.attributes["http.route"] == root.attributes["url.path"] == "/v1/chat/completions"
    assert root.attributes["http.response.status_code"] == 200
    assert root.attributes["server.port"] == service.roles["gateway"].port
    router = service.roles["router"]
    assert chat.attributes["url.full"] == f"{router.address}/v1/route"
    assert {name: found for name, found in chat.attributes.items() if name.startswith("gen_ai.")} == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "vllm",
        "gen_ai.request.model": "other-llm",
        "gen_ai.request.max_tokens": 5,
        "gen_ai.request.stream": False,
        "gen_ai.response.id": root.attributes["request_id"],
        "gen_ai.response.model": "other-llm",
        "gen_ai.response.finish_reasons": ["length"],
        "gen_ai.usage.input_tokens": 20,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.usage.cache_read.input_tokens": 0,
    }
    tool = one(spans, "execute_tool search_documents")
    assert tool.attributes["gen_ai.operation.name"] == "execute_tool"
    assert tool.attributes["gen_ai.tool.name"] == "search_documents"
    assert one(spans, "retrieval documents").attributes["gen_ai.operation.name"] == "retrieval"


def test_conventions_know_these_attributes() -> None:
    from opentelemetry.semconv._incubating.attributes import gen_ai_attributes  # noqa: PLC0415  # for this test alone

    known = {value for name, value in vars(gen_ai_attributes).items() if name.isupper()}
    used = {
        *("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "gen_ai.request.max_tokens"),
        *("gen_ai.request.stream", "gen_ai.response.id", "gen_ai.response.model", "gen_ai.response.finish_reasons"),
        *("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "gen_ai.usage.cache_read.input_tokens"),
        *("gen_ai.tool.name", "gen_ai.tool.type", "gen_ai.tool.call.id", "gen_ai.data_source.id"),
    }
    assert used <= known


def test_resource_says_which_pod_and_whose(service: Service) -> None:
    spans = traced(service, service.play()["trace_id"])
    for role in ("gateway", "router", "prefill", "decode", "retrieval"):
        (found,) = {str(sorted(span.resource.items())) for span in spans if span.service == f"inference-{role}"}
        for part in (
            f"('k8s.pod.uid', 'uid-{role}')",
            f"('k8s.pod.name', '{role}-0')",
            "('k8s.namespace.name', 'team-a')",
            "('k8s.node.name', 'node-1')",
            "('service.namespace', 'inference')",
            f"('service.instance.id', 'team-a.{role}-0.inference')",
            "('team', 'search')",
            "('run_id', 'run-7')",
        ):
            assert part in found


def test_no_prompt_is_in_any_span(service: Service) -> None:
    body = {"messages": [{"role": "user", "content": "the prompt says xylophone"}]}
    spans = traced(service, service.ask(body).json()["trace_id"])
    assert len(spans) == len(TREE)
    assert "xylophone" not in repr(spans)
    assert "token0" not in repr(spans)
