"""A secret of the caller is where it was asked for, and nowhere else: else a test of redaction would prove little."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest

from sandbox.workloads.inference.asking import PLACES
from tests.offline.sandbox.inference import service as running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.offline.sandbox.inference.service import Service

# Place → paths in what arrived that have it, as `where` writes them; by hand, from what OTLP calls its fields.
SPAN = {
    "span_name": {"span decode: name"},
    "span_attribute": {"span decode: attributes.note"},
    "span_attribute_list": {"span decode: attributes.labels[1]"},
    "span_attribute_number": {"span decode: attributes.reference"},
    "span_attribute_key": {"span decode: attributes key"},
    "status_message": {"span decode: message"},
    "exception_message": {
        "span decode: events[exception].exception.message",
        "span decode: events[exception].exception.stacktrace",
    },
    "event_name": {"span decode: events name"},
    "event_attribute": {"span decode: events[note].detail"},
    "link_attribute": {"span decode: links.note"},
    "scope_name": {"span decode: scope name"},
    "scope_version": {"span decode: scope version"},
    "scope_attribute": {"span decode: scope.note"},
}
LOGS = {
    "log_body": {"record: body", "line: message"},
    "log_nested": {
        "record: body.detail.request.headers[0].value",
        "line: detail.request.headers[0].value",
    },
    "log_attribute": {"record: attributes.note", "line: note"},
}
METRICS = {
    "metric_attribute": {"point gen_ai.server.request.duration: attributes.tag"},
    "exemplar_attribute": {"point gen_ai.server.time_to_first_token: exemplar.note"},
}
FAILING = {"status_message", "exception_message"}


def paths(found: Any, text: str, at: str = "") -> Iterator[str]:  # noqa: ANN401  # whatever JSON holds
    """Where in a nested value a text is."""
    if isinstance(found, dict):
        for key, inner in found.items():
            if text in str(key):
                yield f"{at} key"
            yield from paths(inner, text, f"{at}.{key}" if at else str(key))
    elif isinstance(found, list):
        for place, inner in enumerate(found):
            yield from paths(inner, text, f"{at}[{place}]")
    elif text in str(found):
        yield at


def where(service: Service, text: str) -> set[str]:
    """Every place of every signal that has the text."""
    found: set[str] = set()
    for span in service.receiver.spans:
        named = "decode" if text in span.name else span.name
        plain = {"name": span.name, "message": span.message, "attributes": span.attributes, "resource": span.resource}
        parts = [*paths(plain, text)]
        for name, about in span.events:
            parts += ["events name"] if text in name else []
            parts += [f"events[{name}].{path}" for path in paths(about, text)]
        for *_, about in span.links:
            parts += [f"links.{path}" for path in paths(about, text)]
        scope_name, scope_version, about = span.scope
        parts += ["scope name"] if text in scope_name else []
        parts += ["scope version"] if text in scope_version else []
        parts += [f"scope.{path}" for path in paths(about, text)]
        found |= {f"span {named}: {part}" for part in parts}
    for record in service.receiver.records:
        found |= {f"record: {path}" for path in paths(asdict(record), text)}
    for point in service.receiver.points:
        about = {
            "attributes": point.attributes,
            "exemplar": dict(pair for _, e in point.exemplars for pair in e.items()),
        }
        found |= {f"point {point.metric}: {path}" for path in paths(about, text)}
    for process in service.roles.values():
        found |= {f"line: {path}" for line in process.lines for path in paths(line, text)}
    return found


def test_every_place_is_tried() -> None:
    assert {*SPAN, *LOGS, *METRICS} == set(PLACES)


@pytest.mark.parametrize("place", [*SPAN, *LOGS, *METRICS])
def test_secret_is_in_its_place_alone(service: Service, place: str) -> None:
    text = str(4000_0000_0000_0000 + len(place)) if place == "span_attribute_number" else f"canary-{place}-"
    fail = {"fail": {"decode": 500}} if place in FAILING else {}
    answer = service.play(secrets={place: text}, logs="both", **fail)
    assert "trace_id" in answer
    service.flush()
    assert where(service, text) == {**SPAN, **LOGS, **METRICS}[place]


def test_number_is_an_integer(service: Service) -> None:
    service.play(secrets={"span_attribute_number": "4111111111111111"})
    service.flush()
    assert 4111111111111111 in [span.attributes.get("reference") for span in service.receiver.spans]


@pytest.mark.parametrize(
    ("point", "name"),
    [
        ("auth", "auth"),
        ("rate_limit", "rate_limit"),
        ("routing", "routing"),
        ("queue", "queue"),
        ("prefill", "prefill"),
        ("kv_transfer", "kv_transfer"),
        ("retrieval", "search"),
        ("stream", "stream"),
    ],
)
def test_secret_is_at_the_point_that_was_asked_for(service: Service, point: str, name: str) -> None:
    text = f"elsewhere-{point}-"
    service.play(secrets={"span_attribute": text, "event_name": text}, secrets_at=point)
    service.flush()
    assert where(service, text) == {f"span {name}: attributes.note", f"span {name}: events name"}


def test_state_of_the_trace_carries_what_the_caller_put_there(service: Service) -> None:
    traceparent = "00-11111111111111111111111111111111-2222222222222222-01"
    service.ask({}, traceparent=traceparent, tracestate="vendor=canary-state")
    service.flush()
    spans = service.receiver.trace("1" * 32)
    assert {span.state for span in spans} == {"vendor=canary-state"}


def test_secret_of_the_resource_comes_by_the_environment(tmp_path_factory: pytest.TempPathFactory) -> None:
    given = "team=search,note=canary-resource"
    with running.service(tmp_path_factory.mktemp("resource"), OTEL_RESOURCE_ATTRIBUTES=given) as found:
        found.play(logs="both")
        found.flush()
        assert {span.resource["note"] for span in found.receiver.spans} == {"canary-resource"}
        assert {record.resource["note"] for record in found.receiver.records} == {"canary-resource"}
        assert {span.service for span in found.receiver.spans} == {
            *("inference-gateway", "inference-router", "inference-prefill"),
            *("inference-decode", "inference-retrieval"),
        }
        assert "canary-resource" not in json.dumps(found.lines())
