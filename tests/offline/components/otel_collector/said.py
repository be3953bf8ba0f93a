"""What senders say in which one name is meant twice, or none is given: and what the row of the store must have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tests.offline.components.otel_collector.otlp import record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

TRACE, SPAN = "5b8efff798038103d269b633813fc60c", "eee19b7ec3c1b174"
POD: Final = {"k8s.namespace.name": "ns", "k8s.pod.name": "sender-0", "k8s.container.name": "c"}
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
    "a level with a digit": (
        {"message": "t", "level": "warn3"},
        {"severity_text": "WARN", "severity_number": "15", "level": "warn3"},
    ),
    "large numbers": ({"n": 2**63 - 1, "m": 2**64 - 1}, {"n": "9223372036854775807", "m": "18446744073709552000"}),
    "no level": ({"message": "t"}, {"severity_text": "Unspecified", "severity_number": "0", "level": ABSENT}),
    "names of ours": (
        {"_msg": "a", "sent._msg": "b", "logtag": "own", "sent.logtag": "x", "sent.sent.logtag": "y", "message": "t"},
        {
            "_msg": "t",
            "sent._msg": "a",
            "sent.sent._msg": "b",
            "logtag": "F",
            "sent.logtag": "own",
            "sent.sent.logtag": "x",
            "sent.sent.sent.logtag": "y",
        },
    ),
    "a name like ours": ({"message": "t", "sent.bytes": 7}, {"sent.bytes": "7", "sent.sent.bytes": ABSENT}),
    "an equals sign in a name": (
        {"message": "password=hunter2", "a=b": "kept", "c": {"d=e": "kept"}},
        {"_msg": "****", "a=b": "kept", "c.d=e": "kept"},
    ),
    "names of the collector": (
        {"message": "t", "k8s.cluster.name": "mine", "k8s.node.name": "node-7"},
        {"k8s.cluster.name": "here", "sent.k8s.cluster.name": "mine", "k8s.node.name": "node-7"},
    ),
    "names of a scope": ({"message": "t", "scope.name": "mine"}, {"sent.scope.name": "mine"}),
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
    "a level in a map": (
        _record({"message": "text", "level": "error"}, severity=0),
        {"_msg": "text", "severity_text": "ERROR", "severity_number": "17", "level": "error", "sent.level": ABSENT},
    ),
    "a level beside no body": (
        _record(None, {"msg": "text", "levelname": "Critical"}, severity=0),
        {"_msg": "text", "severity_text": "FATAL", "severity_number": "21", "levelname": "Critical"},
    ),
    "a level beside an empty body": (
        _record("", {"msg": "text", "lvl": "dbg"}, severity=0),
        {"severity_text": "DEBUG", "severity_number": "5", "lvl": "dbg"},
    ),
    "two levels": (
        _record({"message": "text", "level": 3, "severity": "warning", "lvl": "error"}, severity=0),
        {"severity_text": "WARN", "severity_number": "13", "level": "3", "severity": "warning", "lvl": "error"},
    ),
    "a level in both": (
        _record({"message": "text", "level": "info"}, {"level": "error", "n": 1}, severity=0),
        {"severity_text": "INFO", "severity_number": "9", "level": "error", "sent.body.level": "info"},
    ),
    "a level with a digit in a map": (
        _record({"message": "text", "level": "WARN3"}, severity=0),
        {"severity_text": "WARN", "severity_number": "15"},
    ),
    "a level in a map that is none": (
        _record({"message": "text", "level": "odd"}, severity=0),
        {"severity_text": "odd", "severity_number": "0", "level": "odd"},
    ),
    "a level in a map and one of the record": (
        _record({"message": "text", "level": "error"}, severity=9),
        {"severity_text": "INFO", "severity_number": "9", "level": "error"},
    ),
    "a level in a map and a text of the record": (
        _record({"message": "text", "level": "error"}, severity=0, text="high"),
        {"severity_text": "ERROR", "severity_number": "17", "sent.level": "high"},
    ),
    "a level beside a text": (
        _record("text", {"level": "error"}, severity=0),
        {"severity_text": "Unspecified", "severity_number": "0", "level": "error"},
    ),
    "names of ours": (
        _record(
            "text",
            {"sent.level": "a", "_msg": "b", "sent._msg": "c", "sent.sent._msg": "d", "sent.other": "e"},
            severity=10,
            text="NOTICE",
        ),
        {
            "sent.level": "NOTICE",
            "sent.sent.level": "a",
            "sent._msg": "b",
            "sent.sent._msg": "c",
            "sent.sent.sent._msg": "d",
            "sent.sent.other": "e",
        },
    ),
    "names of ours of a body": (
        _record({"message": "text", "n": 2}, {"n": 1, "sent.body.n": 3, "sent.k8s.pod.name": "x", "k8s.pod.name": "y"}),
        {
            "n": "1",
            "sent.body.n": "2",
            "sent.sent.body.n": "3",
            "sent.k8s.pod.name": "y",
            "sent.sent.k8s.pod.name": "x",
        },
    ),
    "names of a scope": (
        _record("text", {"scope.name": "a", "scope.version": "b"}),
        {"sent.scope.name": "a", "sent.scope.version": "b"},
    ),
    "an equals sign in a name": (
        _record({"a=b": 1, "message": "to jane.doe@leak.example"}, {"c=d": "kept"}),
        {"a=b": "1", "c=d": "kept", "_msg": "to ****"},
    ),
}
"""Sent by OTLP: record, what the row has."""


OF_A_RUN: Final = {**POD, "run_id": "r-42", "service.name": "s", "a.b": "dotted", "a+b": "signs", "n": 7}
"""A resource with names that records have as well."""
SAID_TWICE: Final[dict[str, tuple[LogRecord, dict[str, str | None]]]] = {
    "another value": (
        _record("text", {"run_id": "r-43", "own": "x"}),
        {"run_id": "r-42", "sent.run_id": "r-43", "own": "x", "sent.own": ABSENT, "sent.service.name": ABSENT},
    ),
    "another value in a map": (
        _record({"message": "text", "run_id": "r-43", "own": "x"}),
        {"run_id": "r-42", "sent.run_id": "r-43", "own": "x", "_msg": "text"},
    ),
    "another value, nested": (
        _record("text", {"a": {"b": "nested"}, "own": {"run_id": "x"}}),
        {"a.b": "dotted", "sent.a.b": "nested", "own.run_id": "x", "run_id": "r-42"},
    ),
    "the same": (_record("text", {"run_id": "r-42"}), {"run_id": "r-42", "sent.run_id": ABSENT}),
    "one the same, one another": (
        _record("text", {"run_id": "r-42", "service.name": "t"}),
        {"run_id": "r-42", "service.name": "s", "sent.service.name": "t", "sent.run_id": ABSENT},
    ),
    "names with signs": (
        _record("text", {"a+b": "x", "aab": "y", "axb": "z", "n": 8}),
        {"a+b": "signs", "sent.a+b": "x", "aab": "y", "axb": "z", "n": "7", "sent.n": "8"},
    ),
    "a name of ours": (
        _record("text", {"run_id": "r-43", "sent.run_id": "r-44", "sent.sent.run_id": "r-45"}),
        {"run_id": "r-42", "sent.run_id": "r-43", "sent.sent.run_id": "r-44", "sent.sent.sent.run_id": "r-45"},
    ),
    "another cluster": (
        _record("text", {"k8s.cluster.name": "mine"}),
        {"k8s.cluster.name": "here", "sent.k8s.cluster.name": "mine"},
    ),
}
"""Sent by OTLP for such a resource: record, what the row has."""
