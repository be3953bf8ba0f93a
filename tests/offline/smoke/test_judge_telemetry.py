"""Judges of telemetry: what arrived, what was counted, what runs; each is seen to fail."""

from __future__ import annotations

from typing import Any

import pytest

from smoke.access.exposition import Sample
from smoke.access.otlp import Span
from smoke.judge import outlived, telemetry
from smoke.judge.leaks import Canary, arrived, leaks
from stacks.contract import LogStore

Json = dict[str, Any]
TRACE = "ab" * 16
ROOT = Span(trace_id=TRACE, span_id="aa" * 8, name="root", start=1.0, end=2.0, attributes={"k": "v"})
LEAF = Span(trace_id=TRACE, span_id="bb" * 8, parent="aa" * 8, name="leaf", start=1.0, end=2.0, error="boom")


def _found() -> Json:
    """The trace of ROOT and LEAF as Jaeger has it."""
    failed = [{"key": "otel.status_code", "value": "ERROR"}, {"key": "otel.status_description", "value": "boom"}]
    return {
        "traceID": TRACE,
        "spans": [
            {
                **{"spanID": "aa" * 8, "operationName": "root", "references": [], "processID": "p1"},
                "tags": [{"key": "k", "value": "v"}],
            },
            {
                **{"spanID": "bb" * 8, "operationName": "leaf", "processID": "p1", "tags": failed},
                "references": [{"refType": "CHILD_OF", "spanID": "aa" * 8}],
            },
        ],
        "processes": {"p1": {"serviceName": "s", "tags": [{"key": "k8s.node.name", "value": "node-a"}]}},
    }


def _words(problems: list[Any]) -> str:
    return "\n".join(map(str, problems))


def test_trace_as_it_was_sent() -> None:
    expected = {"service.name": "s", "k8s.node.name": "node-a"}
    assert telemetry.whole(_found(), [ROOT, LEAF], expected) == []
    assert telemetry.on_node(_found(), {"node-a"}) == []


def test_what_is_wrong_with_a_trace_is_named() -> None:
    assert "not found; expected found with 2 spans" in _words(telemetry.whole(None, [ROOT, LEAF], {}))
    half = _found()
    half["spans"].pop()
    assert "without leaf; expected all 2 spans" in _words(telemetry.whole(half, [ROOT, LEAF], {}))
    twice = _found()
    twice["spans"].append(twice["spans"][0])
    assert "3 spans; expected 2 spans" in _words(telemetry.whole(twice, [ROOT, LEAF], {}))
    changed = _found()
    changed["spans"][0] |= {"operationName": "****", "tags": []}
    changed["spans"][1] |= {"references": [], "tags": []}
    told = _words(telemetry.whole(changed, [ROOT, LEAF], {"team": "a"}))
    for words in (
        "span 'root': seen ****; expected root",
        "k of span 'root': seen missing; expected v",
        "span 'leaf', parent: seen []",
        "otel.status_code of span 'leaf': seen missing; expected ERROR",
        f"team of resource of trace {TRACE}: seen missing; expected a",
    ):
        assert words in told
    assert "seen node-a; expected one of node-b" in _words(telemetry.on_node(_found(), {"node-b"}))


def test_traces_that_must_be_kept_are_kept_whole() -> None:
    assert telemetry.complete([_found()], {TRACE: 2}, "failed") == []
    told = _words(telemetry.complete([_found()], {TRACE: 3, "cd" * 16: 1}, "failed"))
    assert "1 of 2 are not there" in told
    assert f"1 of 2 lack spans: {TRACE} has 2 of 3" in told


def test_line_is_found_once_with_its_fields() -> None:
    row = {"_msg": "it is ready", "run_id": "r"}
    assert telemetry.line([row, {"_msg": "another"}], "ready", {"run_id": "r"}) == []
    assert "not found, nothing of its pod" in _words(telemetry.line([], "ready", {}))
    assert "not found, 1 others of its pod" in _words(telemetry.line([{"_msg": "x"}], "ready", {}))
    told = _words(telemetry.line([row, row], "ready", {"run_id": "s", "trace_id": "t"}))
    assert "found 2 times" in told
    assert "field run_id of the line: seen r; expected s" in told
    assert "field trace_id of the line: seen missing; expected t" in told


def test_calls_are_the_spans_that_were_sent() -> None:
    series = [{"metric": {"span_name": "a", "status_code": "U"}, "value": [0, "3"]}]
    assert telemetry.counted(series, {("a", "U"): 3}) == []
    assert "span 'a', U: seen 3; expected 4" in _words(telemetry.counted(series, {("a", "U"): 4}))
    assert "span 'b', U: seen no series; expected 1" in _words(telemetry.counted([], {("b", "U"): 1}))
    assert "span 'a', U: seen 3; expected 0" in _words(telemetry.counted(series, {}))


def test_every_pod_shows_the_revision() -> None:
    samples = [Sample("target_info", {"plumbline_revision": "one"}, 1.0), Sample("target_info", {}, 1.0)]
    assert telemetry.shown_revisions(samples) == ["one"]
    assert telemetry.configured("agent", ["a"], {"a": ["one"]}, "one") == []
    assert "agent: seen no pods" in _words(telemetry.configured("agent", [], {}, "one"))
    told = _words(telemetry.configured("agent", ["a", "b"], {"a": ["two"]}, "one"))
    assert "agent, pod a: seen revision two; expected revision one" in told
    assert "agent, pod b: seen revision not shown" in told


@pytest.mark.parametrize(
    ("flags", "size"), [({}, [1.0]), ({"retentionPeriod": "1"}, [1.0]), ({"retentionPeriod": "7d"}, [])]
)
def test_logs_are_kept_as_promised(flags: dict[str, str], size: list[float]) -> None:
    promised = LogStore(retention_seconds=7 * 86400, retention_bytes=1)
    own = [Sample("vl_max_disk_space_usage_bytes", {"path": "/data"}, number) for number in size]
    assert len(telemetry.logs_kept(flags, own, promised)) == 1
    right = [Sample("vl_max_disk_space_usage_bytes", {"path": "/data"}, 1.0)]
    assert telemetry.logs_kept({"retentionPeriod": "1w"}, right, promised) == []


def test_traces_are_kept_as_promised() -> None:
    def file(ttl: object) -> dict[str, str]:
        return {
            "jaeger.yaml": f"extensions: {{jaeger_storage: {{backends: {{b: {{badger: {{ttl: {{spans: {ttl}}}}}}}}}}}}}"
        }

    assert telemetry.traces_kept(file("48h"), 172800) == []
    assert telemetry.traces_kept(file("47h60m0s"), 172800) == []
    assert "seen 24h; expected 172800 s" in _words(telemetry.traces_kept(file("24h"), 172800))
    assert "seen 2d" in _words(telemetry.traces_kept(file("2d"), 172800))
    assert "no ttl in jaeger.yaml" in _words(telemetry.traces_kept({"jaeger.yaml": "extensions: {}"}, 172800))
    assert "no ttl in jaeger.yaml" in _words(telemetry.traces_kept({"jaeger.yaml": "{"}, 172800))
    assert "no ttl in no file" in _words(telemetry.traces_kept({}, 172800))


def test_canary_is_named_with_its_field_and_its_store() -> None:
    canaries = [Canary("spans", "name", ("abcx001q",)), Canary("log records", "body", ("4123", "4.123"))]
    assert leaks(canaries, {"Jaeger": "nothing", "VictoriaLogs": ""}) == []
    found = leaks(canaries, {"Jaeger": "GET ABCX001Q", "VictoriaLogs": "4.123e+15"})
    assert [str(problem).partition(";")[0] for problem in found] == [
        "name of spans: seen its canary is in Jaeger",
        "body of log records: seen its canary is in VictoriaLogs",
    ]
    assert all(problem.terminal for problem in found)


def test_store_that_is_silent_proves_nothing() -> None:
    assert arrived({"Jaeger": {"word": 2}}, {"Jaeger": "word word"}) == []
    assert "seen 1 times; expected at least 2 times" in _words(arrived({"Jaeger": {"word": 2}}, {"Jaeger": "word"}))
    assert "beside the canaries in Jaeger: seen 0 times" in _words(arrived({"Jaeger": {"word": 1}}, {}))


def test_killed_gateway_may_lose_what_waited_and_nothing_else() -> None:
    sent = {"early": 1.0, "waiting": 95.0, "late": 120.0}
    allowed = outlived.window(100.0, 10.0, 5.0)
    assert (allowed.begin, allowed.end) == (85.0, 105.0)
    assert outlived.bounded_loss(sent, ["early", "late"], allowed, "traces") == []
    told = _words(outlived.bounded_loss(sent, ["late"], allowed, "traces"))
    assert "2 of 3 lost, 1 of them did not wait for a decision: early; expected at most the 1 that waited" in told
    assert outlived.none_lost(sent, sent, "log records") == []
    assert "1 of 3 lost: waiting" in _words(outlived.none_lost(sent, ["early", "late"], "log records"))
    assert outlived.tried(sent, 100.0, "traces") == []
    assert "traces before the kill: seen none" in _words(outlived.tried(sent, 0.5, "traces"))
    assert "traces after the kill: seen none" in _words(outlived.tried(sent, 200.0, "traces"))
    told = outlived.told(sent, ["early", "late", "late"], allowed, "traces")
    assert told == "traces: 3 sent, 2 found, 1 lost, 1 stored twice; the bound is 1, all that waited for a decision"
