"""What a line and a record have at the real VictoriaLogs: every text of it, each under a name of its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from components.logs import names as of_logs
from components.otel_collector import texts
from components.otel_collector.args import Backend
from tests.offline.components.logs.program import Logs
from tests.offline.components.logs.test_manifests import ARGS as LOGS_ARGS
from tests.offline.components.otel_collector.node import Node
from tests.offline.components.otel_collector.otlp import logs, record, sent
from tests.offline.components.otel_collector.program import eventually

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
    from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

TRACE, SPAN = "5b8efff798038103d269b633813fc60c", "eee19b7ec3c1b174"
POD: Final = {"k8s.namespace.name": "ns", "k8s.pod.name": "sender-0", "k8s.container.name": "c"}
NO_TEXT: Final = "missing _msg field"
"""How the store begins the text of a record that has none."""
ABSENT: Final = None

LINES: Final[dict[str, tuple[dict[str, Any], dict[str, str | None]]]] = {
    "every key of a text": (
        {"_msg": "first", "message": "second", "msg": "third", "log": "fourth", "event": "fifth"},
        {"_msg": "second", "sent._msg": "first", "msg": "third", "log": "fourth", "event": "fifth", "message": ABSENT},
    ),
    "the same in another order": (
        {"event": "fifth", "log": "fourth", "msg": "third", "message": "second", "_msg": "first"},
        {"_msg": "second", "sent._msg": "first", "msg": "third", "log": "fourth", "event": "fifth"},
    ),
    "an empty message": ({"message": "", "msg": "", "log": "text"}, {"_msg": "text", "log": ABSENT}),
    "an object": ({"message": {"a": "x"}, "msg": "text"}, {"_msg": "text", "message.a": "x", "msg": ABSENT}),
    "an object alone": ({"message": {"a": "x"}}, {"message.a": "x"}),
    "a number": ({"message": 42, "event": "text"}, {"_msg": "text", "message": "42"}),
    "names of the store": (
        {"message": "text", "_time": "t", "_stream": "s", "_stream_id": "i", "severity_text": "high"},
        {"_msg": "text", "sent._time": "t", "sent._stream": "s", "sent._stream_id": "i", "sent.severity_text": "high"},
    ),
    "ids of others": (
        {"message": "text", "trace_id": TRACE, "span_id": SPAN, "event_name": "e"},
        {"trace_id": TRACE, "span_id": SPAN, "event_name": "e"},
    ),
    "names of the runtime": (
        {"message": "text", "log.iostream": "mine", "logtag": "own"},
        {"log.iostream": "stdout", "sent.log.iostream": "mine", "logtag": "F", "sent.logtag": "own"},
    ),
    "its pod": ({"message": "text", "k8s.pod.name": "api-0"}, {"_msg": "text", "k8s.pod.name": "api-0"}),
    "another pod": (
        {"message": "text", "k8s.pod.name": "other", "k8s.event.reason": "x"},
        {"k8s.pod.name": "api-0", "sent.k8s.pod.name": "other", "k8s.event.reason": "x"},
    ),
    "another pod, nested": (
        {"message": "text", "k8s": {"pod": {"name": "other", "ip": "10.0.0.1"}, "container.name": "x"}},
        {
            "k8s.pod.name": "api-0",
            "sent.k8s.pod.name": "other",
            "k8s.pod.ip": "10.0.0.1",
            "k8s.container.name": "c",
            "sent.k8s.container.name": "x",
        },
    ),
    "another pod without a text": (
        {"k8s.pod": {"name": "other"}, "n": 1},
        {"k8s.pod.name": "api-0", "sent.k8s.pod.name": "other", "n": "1"},
    ),
    "a level": ({"message": "text", "level": "error"}, {"severity_text": "ERROR", "level": "error"}),
    "a level that says more": ({"message": "t", "level": "critical"}, {"severity_text": "FATAL", "level": "critical"}),
    "two levels": (
        {"message": "text", "level": "warning", "severity": "high"},
        {"severity_text": "WARN", "severity_number": "13", "level": "warning", "severity": "high"},
    ),
    "a level that is none": ({"message": "t", "level": "odd"}, {"severity_text": "odd", "severity_number": "0"}),
}
"""Of a container: what it prints, what the row has."""


def _record(
    body: Any,  # noqa: ANN401  # AnyValue
    values: Mapping[str, Any] | None = None,
    *,
    severity: int = 9,
    text: str = "",
    ids: bool = False,
    event: str = "",
) -> LogRecord:
    made = record(body, severity=severity, values=values)
    made.severity_text, made.event_name = text, event
    if ids:
        made.trace_id, made.span_id = bytes.fromhex(TRACE), bytes.fromhex(SPAN)
    return made


RECORDS: Final[dict[str, tuple[LogRecord, dict[str, str | None]]]] = {
    "attributes like texts": (
        _record("text", {"message": "a", "msg": "b", "_msg": "c"}),
        {"_msg": "text", "message": "a", "msg": "b", "sent._msg": "c"},
    ),
    "a map": (
        _record({"message": "text", "msg": "b", "_msg": "c", "nested": {"x": 1}}, {"n": 1}),
        {"_msg": "text", "msg": "b", "sent._msg": "c", "nested.x": "1", "n": "1", "message": ABSENT},
    ),
    "a map and attributes of one name": (
        _record({"message": "text", "n": 2, "m": 3}, {"n": 1}),
        {"_msg": "text", "n": "1", "sent.body.n": "2", "sent.body.m": "3"},
    ),
    "a text in both": (
        _record({"msg": "text", "n": 2}, {"message": "a"}),
        {"_msg": "text", "message": "a", "n": "2", "msg": ABSENT},
    ),
    "a map without a text": (_record({"n": 2}, {"m": 1}), {"_msg": '{"n":2}', "n": "2", "m": "1"}),
    "an empty body": (_record("", {"msg": "text", "log": "b"}), {"_msg": "text", "log": "b", "msg": ABSENT}),
    "no body": (_record(None, {"event": "text", "n": 1}), {"_msg": "text", "n": "1", "event": ABSENT}),
    "a list": (_record([1, {"a": 2}], {"msg": "b"}), {"_msg": '[1,{"a":2}]', "msg": "b"}),
    "a number": (_record(42, {"message": "b"}), {"_msg": "42", "message": "b"}),
    "ids and a name twice": (
        _record("text", {"trace_id": "t", "span_id": "s", "event_name": "e"}, ids=True, event="own"),
        {
            "trace_id": TRACE,
            "sent.trace_id": "t",
            "span_id": SPAN,
            "sent.span_id": "s",
            "event_name": "own",
            "sent.event_name": "e",
        },
    ),
    "ids among attributes alone": (_record("text", {"trace_id": "t"}), {"trace_id": "t", "sent.trace_id": ABSENT}),
    "its pod": (_record("text", {"k8s.pod.name": "sender-0"}), {"k8s.pod.name": "sender-0", "_msg": "text"}),
    "another pod": (
        _record("text", {"k8s": {"pod": {"name": "x"}}}),
        {"k8s.pod.name": "sender-0", "sent.k8s.pod.name": "x"},
    ),
    "another pod in the body": (
        _record({"message": "text", "k8s": {"pod": {"name": "x"}}}),
        {"k8s.pod.name": "sender-0", "sent.k8s.pod.name": "x"},
    ),
    "a number of a level alone": (_record("text", severity=17), {"severity_text": "ERROR", "severity_number": "17"}),
    "a spelling": (_record("t", severity=13, text="Warning"), {"severity_text": "WARN", "sent.level": ABSENT}),
    "a level with a digit": (
        _record("text", severity=10, text="INFO2"),
        {"severity_text": "INFO", "severity_number": "10", "sent.level": ABSENT},
    ),
    "a level that says more": (
        _record("text", severity=10, text="NOTICE"),
        {"severity_text": "INFO", "severity_number": "10", "sent.level": "NOTICE"},
    ),
    "a text of another level": (
        _record("text", severity=9, text="error"),
        {"severity_text": "INFO", "sent.level": "error"},
    ),
    "an attribute and a level that says more": (
        _record("text", {"severity_text": "high"}, severity=10, text="NOTICE"),
        {"severity_text": "INFO", "sent.severity_text": "high", "sent.level": "NOTICE"},
    ),
    "the highest level": (_record("text", severity=24, text="FATAL4"), {"severity_text": "FATAL"}),
    "a text without a number": (_record("text", severity=0, text="error"), {"severity_text": "error"}),
    "a secret under a name that moves": (
        _record(
            {"_msg": "password=hunter2", "message": "text"}, {"_time": "password=hunter2"}, text="password=hunter2"
        ),
        {"sent._msg": "****", "sent._time": "****", "sent.level": "****", "_msg": "text"},
    ),
}
"""Sent by OTLP: record, what the row has."""


PODS: Final[dict[str, dict[str, Any]]] = {
    "twice": {"k8s.pod.name": "sender-1"},
    "nested": {"k8s": {"pod": {"name": "sender-2"}, "x": 1}},
    "in part": {"k8s.pod": {"name": "sender-1"}},
}
"""What a resource that names its pod has beside it."""


def _of_two_pods(name: str, said: Mapping[str, Any]) -> ExportLogsServiceRequest:
    request = logs([record("text", values={"case": f"resource {name}"})], POD)
    more = logs([], said)
    request.resource_logs[0].resource.attributes.extend(more.resource_logs[0].resource.attributes)
    return request


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """Rows by their `case`: `line …` of a container, `record …` of OTLP."""
    store = Logs(tmp_path_factory.mktemp("store"))
    to = Backend(protocol="http", endpoint=f"{store.url}{of_logs.INGEST_PATH}", headers=dict(of_logs.INGEST_HEADERS))
    node = Node(tmp_path_factory.mktemp("node"), logs=to)
    for name, (made, _) in RECORDS.items():
        made.attributes.extend(record("", values={"case": f"record {name}"}).attributes)
    with store.running(LOGS_ARGS) as process, node.running():
        node.write([json.dumps({**line, "case": f"line {name}"}) for name, (line, _) in LINES.items()])
        sent(node.agent.http, logs([made for made, _ in RECORDS.values()], POD))
        for name, more in PODS.items():
            sent(node.agent.http, _of_two_pods(name, more))
        wanted = len(LINES) + len(RECORDS) + len(PODS)

        def arrived() -> bool:
            assert process.poll() is None, f"the store has ended: {store.directory.joinpath('log').read_text()[-2000:]}"
            return len(store.found("case:*")) >= wanted

        eventually(arrived, lambda: f"{sorted(row['case'] for row in store.found('*'))}")
        found = store.found("*")
    assert len(found) == wanted
    return {row["case"]: row for row in found}


def _wrong(row: Mapping[str, str], wanted: Mapping[str, str | None]) -> dict[str, str | None]:
    return {name: row.get(name) for name, value in wanted.items() if row.get(name) != value}


@pytest.mark.parametrize("name", LINES)
def test_nothing_of_a_line_is_lost(name: str, rows: dict[str, dict[str, str]]) -> None:
    assert _wrong(rows[f"line {name}"], LINES[name][1]) == {}, rows[f"line {name}"]


@pytest.mark.parametrize("name", RECORDS)
def test_nothing_of_a_record_is_lost(name: str, rows: dict[str, dict[str, str]]) -> None:
    assert _wrong(rows[f"record {name}"], RECORDS[name][1]) == {}, rows[f"record {name}"]


def test_a_line_without_a_text_has_its_json(rows: dict[str, dict[str, str]]) -> None:
    name = "line an object alone"
    assert json.loads(rows[name]["_msg"]) == {"message.a": "x", "case": name}
    assert not any(row["_msg"].startswith(NO_TEXT) for row in rows.values())


@pytest.mark.parametrize("name", PODS)
def test_a_resource_that_names_two_pods_is_of_one(name: str, rows: dict[str, dict[str, str]]) -> None:
    row = rows[f"resource {name}"]
    assert row["k8s.pod.name"] in {"sender-0", "sender-1", "sender-2"}
    assert f'k8s.pod.name="{row["k8s.pod.name"]}"' in row["_stream"]
    assert row["_msg"] == "text"


def test_streams_are_those_that_the_collector_knows() -> None:
    assert texts.STREAM_FIELDS == of_logs.STREAM_FIELDS
