"""What VictoriaLogs would drop without a word is in it: names too long, too many of them, too many bytes."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final

import pytest
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope

from components.logs import names as of_logs
from components.otel_collector.args import Backend
from components.otel_collector.fitting import CUT, MOST
from tests.offline.components.logs.program import Logs
from tests.offline.components.logs.test_manifests import ARGS as LOGS_ARGS
from tests.offline.components.otel_collector.node import Node
from tests.offline.components.otel_collector.otlp import attributes, logs, record, sent
from tests.offline.components.otel_collector.program import eventually

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

POD: Final = {"k8s.namespace.name": "ns", "k8s.pod.name": "sender-0", "k8s.container.name": "c"}
MIB: Final = 2**20
LIMIT: Final = 128
"""Bytes that a name may have: the store's `maxFieldNameSize`."""
NUMBERED: Final = {f"n{number:04}": f"v{number}" for number in range(1500)}
LONG, OTHER = "a" * LIMIT + "b", "a" * LIMIT + "c"
DEEP: Final = {"outer" * 10: {"middle" * 10: {"inner" * 10: "deep"}}}
"""Joined, its name has 162 bytes; none of its parts is too long."""
REST: Final = "sent.attributes"

LINES: Final[dict[str, dict[str, Any]]] = {
    "long names": {"message": "text", LONG: "x", OTHER: "y", "own": "z"},
    "a name that is just not too long": {"message": "text", LONG[:LIMIT]: "x"},
    "names of wide letters": {"message": "text", "键" * 42: "126 bytes", "键" * 43: "129 bytes", "ж" * 64: "128 bytes"},
    "many": {"message": "text", **NUMBERED},
    "as many as may be": {"message": "text", **dict(list(NUMBERED.items())[: MOST - 20])},
    "a secret under a long name": {"message": "text", LONG: "password=hunter2"},
    "a secret in many": {"message": "text", **NUMBERED, "credentials": "password=hunter2"},
}
"""Of a container."""

RECORDS: Final[dict[str, tuple[Any, dict[str, Any]]]] = {
    "a large body": ("b" * 3 * MIB, {"own": "z"}),
    "a large body of wide letters": ("键" * MIB, {}),
    "a large list": (["b" * 1000] * 3000, {"own": "z"}),
    "a large value": ("text", {"large": "v" * 3 * MIB, "own": "z"}),
    "many large values": ("text", {f"v{number}": "v" * 8000 for number in range(400)}),
    "all at once": ("b" * 2 * MIB, {**{f"{LONG}{number}": "v" * 2000 for number in range(1000)}, "own": "z"}),
    "as large as may be": ("b" * (MIB + MIB // 2), {"own": "z"}),
    "a long joined name": ("text", {**DEEP, "own": {"x": 1}}),
    "a name that is too long for its prefix": ({"message": "text", LONG[:LIMIT]: "x", "own": "other"}, {"own": "z"}),
    "many in maps": ("text", {"maps": NUMBERED, "own": "z"}),
    "a number that JSON does not have": ("text", {LONG: math.nan, "own": "z"}),
    "a name of ours": ("text", {LONG: "x", REST: "mine"}),
    "names of ours": ("text", {"sent.marked": True, "sent.log.bytes": 3}),
}
"""Sent by OTLP: body, attributes."""


def _named(case: str, body: Any, own: Mapping[str, Any], resource: Mapping[str, Any]) -> ExportLogsServiceRequest:  # noqa: ANN401  # AnyValue
    made = record(body, values=own)
    made.event_name = case
    return logs([made], {**POD, **resource})


def _scoped(
    case: str, resource: Mapping[str, Any], scope: Mapping[str, Any], name: str = "s"
) -> ExportLogsServiceRequest:
    request = _named(case, "text", {}, resource)
    request.resource_logs[0].scope_logs[0].scope.CopyFrom(
        InstrumentationScope(name=name, attributes=attributes(dict(scope)))
    )
    return request


def _requests() -> list[ExportLogsServiceRequest]:
    """One for each of what is sent by OTLP."""
    return [
        *(_named(case, body, own, {}) for case, (body, own) in RECORDS.items()),
        _scoped("resource, long names", {LONG: "x", "service.name": "s"}, {}),
        _scoped("resource, many", NUMBERED, {}),
        _scoped("resource, large", {"large": "v" * 3 * MIB}, {}),
        _scoped("scope, long names", {}, {"s" * 112: "x", "t" * 111: "y"}),
        _scoped("scope, many", {}, NUMBERED),
        _scoped("scope, large", {}, {"large": "v" * 3 * MIB}, name="n" * 3 * MIB),
    ]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """Rows by their case: the name of an event, or what a line says."""
    store = Logs(tmp_path_factory.mktemp("store"))
    to = Backend(protocol="http", endpoint=f"{store.url}{of_logs.INGEST_PATH}", headers=dict(of_logs.INGEST_HEADERS))
    node = Node(tmp_path_factory.mktemp("node"), logs=to)
    requests = _requests()
    wanted = len(LINES) + len(requests)
    with store.running(LOGS_ARGS), node.running():
        node.write([json.dumps({**line, "case": case}, ensure_ascii=False) for case, line in LINES.items()])
        for request in requests:
            sent(node.agent.http, request)
        eventually(
            lambda: len(store.found("*")) >= wanted, lambda: f"{sorted(map(_case, store.found('*')))} of {wanted}"
        )
        found = {_case(row): row for row in store.found("*")}
    failed = [line for line in node.gateway.log.read_text(encoding="utf-8").splitlines() if "failed to execute" in line]
    assert [line for line in failed if "unsupported value: NaN" not in line] == []
    assert len(found) == wanted
    return found


def _case(row: Mapping[str, str]) -> str:
    said = row.get("event_name") or row.get("case")
    return said or str(json.loads(row[REST])["case"])


def _wrong(row: Mapping[str, str], wanted: Mapping[str, str | None]) -> dict[str, str | None]:
    return {name: (row.get(name) or "")[:200] for name, value in wanted.items() if row.get(name) != value}


def test_long_names_are_in_json(rows: dict[str, dict[str, str]]) -> None:
    row = rows["long names"]
    assert json.loads(row[REST]) == {LONG: "x", OTHER: "y"}
    assert _wrong(row, {"_msg": "text", "own": "z", "logtag": "F"}) == {}
    assert _wrong(rows["a name that is just not too long"], {LONG[:LIMIT]: "x", REST: None}) == {}


def test_length_of_a_name_is_in_bytes(rows: dict[str, dict[str, str]]) -> None:
    row = rows["names of wide letters"]
    assert _wrong(row, {"键" * 42: "126 bytes", "ж" * 64: "128 bytes"}) == {}
    assert json.loads(row[REST]) == {"键" * 43: "129 bytes"}


def test_joined_names_count(rows: dict[str, dict[str, str]]) -> None:
    row = rows["a long joined name"]
    assert json.loads(row[REST]) == {".".join(word * 10 for word in ("outer", "middle", "inner")): "deep"}
    assert _wrong(row, {"own.x": "1", "_msg": "text"}) == {}
    clash = rows["a name that is too long for its prefix"]
    assert json.loads(clash[REST]) == {f"sent.body.{LONG[:LIMIT]}": "x"}
    assert _wrong(clash, {"own": "z", "sent.body.own": "other", "_msg": "text"}) == {}


def test_many_names_are_in_json(rows: dict[str, dict[str, str]]) -> None:
    row = rows["many"]
    assert NUMBERED.items() <= json.loads(row[REST]).items()
    assert _wrong(row, {"_msg": "text", "n0000": None, "k8s.pod.name": "api-0"}) == {}
    nested = {f"maps.{name}": value for name, value in NUMBERED.items()}
    assert {**nested, "own": "z"}.items() <= json.loads(rows["many in maps"][REST]).items()
    assert _wrong(rows["as many as may be"], {"n0000": "v0", REST: None}) == {}


@pytest.mark.parametrize("case", ["a secret under a long name", "a secret in many"])
def test_what_is_json_has_been_cleaned(case: str, rows: dict[str, dict[str, str]]) -> None:
    text = json.dumps(rows[case])
    assert "****" in text
    assert "hunter2" not in text


def test_what_is_large_is_cut_and_says_so(rows: dict[str, dict[str, str]]) -> None:
    body = rows["a large body"]
    assert body["_msg"] == "b" * (MIB - len(CUT.encode())) + CUT
    # Each attribute is its name, its value, and two bytes between and around them.
    assert 3 * MIB < int(body["sent.log.bytes"]) < 3 * MIB + 1000
    assert body["own"] == "z"
    wide = rows["a large body of wide letters"]["_msg"]
    assert wide.endswith(f"键{CUT}")
    assert MIB - 3 <= len(wide.encode()) <= MIB
    assert rows["a large list"]["_msg"].startswith('["bbb')
    assert rows["a large list"]["_msg"].endswith(f"b{CUT}")
    value = rows["a large value"]
    assert _wrong(value, {"_msg": "text", "own": "z"}) == {}
    assert value["large"].startswith("v" * MIB)
    assert value["large"].endswith(f"v{CUT}")


def test_many_large_values_are_each_cut(rows: dict[str, dict[str, str]]) -> None:
    row = rows["many large values"]
    values = [row[f"v{number}"] for number in range(400)]
    assert {value[-len(CUT) :] for value in values} == {CUT}
    assert int(row["sent.log.bytes"]) > 400 * 8000
    assert "sent.log.bytes" in rows["all at once"]


def test_what_fits_stays_whole(rows: dict[str, dict[str, str]]) -> None:
    row = rows["as large as may be"]
    assert row["_msg"] == "b" * (MIB + MIB // 2)
    assert _wrong(row, {"own": "z", REST: None, "sent.log.bytes": None, "sent.marked": None}) == {}


def test_odd_values_and_names_are_kept(rows: dict[str, dict[str, str]]) -> None:
    row = rows["a number that JSON does not have"]
    assert set(json.loads(row[REST])) == {LONG}
    assert "nan" in json.loads(row[REST])[LONG].lower()
    assert json.loads(rows["a name of ours"][REST]) == {LONG: "x", REST: "mine"}
    moved = {"sent.sent.marked": "true", "sent.sent.log.bytes": "3", "sent.marked": None}
    assert _wrong(rows["names of ours"], moved) == {}


def test_resources_and_scopes_fit_too(rows: dict[str, dict[str, str]]) -> None:
    named = rows["resource, long names"]
    assert json.loads(named["sent.resource"]) == {LONG: "x"}
    assert _wrong(named, {"service.name": "s", "k8s.pod.name": "sender-0"}) == {}
    many = rows["resource, many"]
    assert NUMBERED.items() <= json.loads(many["sent.resource"]).items()
    assert _wrong(many, {**POD, "n0000": None}) == {}
    large = rows["resource, large"]
    assert large["large"].endswith(f"v{CUT}")
    assert int(large["sent.resource.bytes"]) > 3 * MIB
    scope = rows["scope, long names"]
    assert json.loads(scope["scope.attributes.sent.scope"]) == {"s" * 112: "x"}
    assert scope[f"scope.attributes.{'t' * 111}"] == "y"
    assert json.loads(rows["scope, many"]["scope.attributes.sent.scope"]) == NUMBERED
    assert rows["scope, large"]["scope.name"] == "n" * 1024 + CUT
