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
from tests.offline.components.otel_collector.said import LINES, OF_A_RUN, POD, RECORDS, SAID_TWICE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

NO_TEXT: Final = "missing _msg field"
"""How the store begins the text of a record that has none."""


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
    for kind, cases in {"record": RECORDS, "twice": SAID_TWICE}.items():
        for name, (made, _) in cases.items():
            made.attributes.extend(record("", values={"case": f"{kind} {name}"}).attributes)
    with store.running(LOGS_ARGS) as process, node.running():
        node.write([json.dumps({**line, "case": f"line {name}"}) for name, (line, _) in LINES.items()])
        sent(node.agent.http, logs([made for made, _ in RECORDS.values()], POD))
        sent(node.agent.http, logs([made for made, _ in SAID_TWICE.values()], OF_A_RUN))
        for name, more in PODS.items():
            sent(node.agent.http, _of_two_pods(name, more))
        wanted = len(LINES) + len(RECORDS) + len(SAID_TWICE) + len(PODS)

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


@pytest.mark.parametrize("name", SAID_TWICE)
def test_nothing_is_lost_that_the_resource_says_as_well(name: str, rows: dict[str, dict[str, str]]) -> None:
    assert _wrong(rows[f"twice {name}"], SAID_TWICE[name][1]) == {}, rows[f"twice {name}"]


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
