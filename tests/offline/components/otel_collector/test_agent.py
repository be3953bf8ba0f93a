"""The real agent beside a real gateway: lines of containers, levels, windows of debugging, and kills."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pytest

from components.otel_collector.debug import Window, fragment
from components.otel_collector.names import AGENT, DEBUG_FILE, GATEWAY
from tests.offline.components.otel_collector.examples import ARGS, MIB, args
from tests.offline.components.otel_collector.node import Node
from tests.offline.components.otel_collector.otlp import logs, record, sent
from tests.offline.components.otel_collector.program import eventually

if TYPE_CHECKING:
    from pathlib import Path


TRACE, SPAN = "5b8efff798038103d269b633813fc60c", "eee19b7ec3c1b174"
TRACEBACK: Final = ["Traceback (most recent call last):", '  File "/app/a.py", line 1, in f', "ValueError: no"]


@pytest.fixture(scope="module")
def arrived(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Records by a mark that each has in its body or its attribute `mark`."""
    node = Node(tmp_path_factory.mktemp("node"))
    known = {"time": "2026-11-30T11:00:00Z", "job": "j", "rank": 3, "step": 12, "component": "trainer", "run_id": "r-1"}
    structured = {
        **known,
        "level": "WARNING",
        "message": "hello",
        "mark": "json",
        "trace_id": TRACE,
        "span_id": SPAN,
        "error_class": "OOM",
        "big": 2**53 + 1,
        "nested": {"a": [1, {"b": 2}]},
    }
    lines = [
        json.dumps(structured),
        json.dumps({"msg": "by msg", "mark": "msg", "severity": "critical"}),
        json.dumps({"mark": "no-message", "level": 30}),
        json.dumps({"message": "m", "mark": "bad-ids", "trace_id": "nope", "span_id": SPAN}),
        json.dumps({"message": "m", "mark": "trace-alone", "trace_id": TRACE}),
        json.dumps({"message": "m", "mark": "bad-span", "trace_id": TRACE, "span_id": "nope"}),
        json.dumps({"message": "fine", "level": "debug", "mark": "dropped"}),
        '{"broken": ',
        "plain text",
        "[1, 2]",
        "{}",
        *TRACEBACK,
    ]
    with node.running():
        node.write(lines)
        for own in (f"obs-node_{AGENT}-x1", f"obs_{GATEWAY}-0"):
            node.write(["own line"], own)
        node.write(["x" * 16_000] * 150, "ns_api-1", flags="P")
        node.write(["end"], "ns_api-1")
        sent(node.agent.http, logs([record("otlp", values={"mark": "otlp"})], {"service.name": "s"}))
        sent(node.agent.http, logs([record("low", severity=5), record("unset", severity=0)], {"service.name": "s"}))
        # All of the first but one below the lowest level, three pieces of the long line, two of OTLP.
        records = node.arrives(len(lines) - 1 + 3 + 2)
    found = {str(one["attributes"].get("mark") or one["body"]): one for one in records}
    found["long"] = {"bodies": [one["body"] for one in records if one["resource"].get("k8s.pod.name") == "api-1"]}
    return found


def test_a_json_line_becomes_a_record(arrived: dict[str, dict[str, Any]]) -> None:
    one = arrived["json"]
    assert (one["body"], one["severity"], one["severity_text"]) == ("hello", 13, "WARN")
    assert one["attributes"]["level"] == "WARNING"
    assert (one["trace_id"], one["span_id"]) == (TRACE, SPAN)
    wanted = {"job": "j", "rank": 3, "step": 12, "component": "trainer", "run_id": "r-1", "error_class": "OOM"}
    assert {key: one["attributes"][key] for key in wanted} == wanted
    assert one["attributes"]["time"] == "2026-11-30T11:00:00Z"
    assert one["attributes"]["big"] == 2**53 + 1
    assert one["attributes"]["nested.a.1.b"] == 2
    assert not {"message", "trace_id", "span_id"} & set(one["attributes"])


def test_whose_it_is(arrived: dict[str, dict[str, Any]]) -> None:
    wanted = {
        "k8s.namespace.name": "ns",
        "k8s.pod.name": "api-0",
        "k8s.container.name": "c",
        "k8s.node.name": "node-7",
        "k8s.cluster.name": "here",
        "deployment.environment.name": "testing",
    }
    assert {key: arrived["json"]["resource"].get(key) for key in wanted} == wanted
    assert arrived["otlp"]["resource"]["k8s.node.name"] == "node-7"


def test_what_is_no_json_arrives_as_it_is(arrived: dict[str, dict[str, Any]]) -> None:
    for text in ('{"broken": ', "plain text", "[1, 2]", "{}", *TRACEBACK):
        assert arrived[text]["body"] == text
    assert arrived["msg"]["body"] == "by msg"
    assert arrived["msg"]["severity"] == 21
    silent = {"mark": "no-message", "level": 30}
    assert json.loads(arrived["no-message"]["body"]) == silent
    assert {key: arrived["no-message"]["attributes"].get(key) for key in silent} == silent
    assert arrived["bad-ids"]["attributes"]["trace_id"] == "nope"
    assert arrived["bad-ids"]["attributes"]["span_id"] == SPAN
    assert arrived["bad-ids"]["trace_id"] == arrived["bad-ids"]["span_id"] == ""
    for mark in ("trace-alone", "bad-span"):
        assert (arrived[mark]["trace_id"], arrived[mark]["span_id"]) == (TRACE, "")
        assert "trace_id" not in arrived[mark]["attributes"]
    assert arrived["bad-span"]["attributes"]["span_id"] == "nope"


def test_a_long_line_arrives_in_pieces(arrived: dict[str, dict[str, Any]]) -> None:
    # They travel in several requests at a time, and no order among these is promised.
    pieces = sorted(arrived["long"]["bodies"], key=lambda body: body.endswith("end"))
    assert "".join(pieces) == "x" * 16_000 * 150 + "end"
    assert max(len(body) for body in arrived["long"]["bodies"]) <= MIB + 16_000


def test_low_levels_and_own_lines_do_not_arrive(arrived: dict[str, dict[str, Any]]) -> None:
    assert not {"dropped", "low", "own line"} & set(arrived)
    assert "unset" in arrived


def test_a_window_of_debugging_ends_by_itself(tmp_path: Path) -> None:
    node = Node(tmp_path)

    def debug_lines(mark: str) -> None:
        line = json.dumps({"message": mark, "level": "debug"})
        for pod in ("ns_api-7d9f8b6c4-x2zqk", "ns_api-server-0", "other_api-0", "ns_old-0"):
            node.write([line], pod)
        node.write([json.dumps({"message": f"end {mark}", "level": "info"})], "ns_end-0")

    with node.backend.up(), node.gateway.running():
        until = int(time.time()) + 12
        windows = (
            Window(namespace="ns", workload="api", until=until),
            Window(namespace="ns", workload="old", until=int(time.time()) - 60),
        )
        node.agent.files[DEBUG_FILE] = fragment("INFO", windows)
        debug_lines("early")
        with node.agent.running():
            eventually(
                lambda: {"end early", "early"} <= set(node.bodies()), lambda: f"{node.bodies()} at {time.time()}"
            )
            time.sleep(max(0.0, until + 1 - time.time()))
            debug_lines("late")
            eventually(lambda: "end late" in node.bodies(), lambda: str(node.bodies()))
    pods = [one["resource"]["k8s.pod.name"] for one in node.backend.records() if one["body"] == "early"]
    assert pods == ["api-7d9f8b6c4-x2zqk"]
    assert "late" not in node.bodies()


def test_no_line_is_lost_when_the_agent_is_killed_and_the_gateway_away(tmp_path: Path) -> None:
    small = replace(ARGS.agent, queue_bytes=256 * 1024)
    node = Node(tmp_path, args(agent=small))
    numbers = [f"line {number} {'y' * 200}" for number in range(6000)]
    with node.backend.up():
        with node.agent.running():
            node.write(numbers[:3000])
            eventually(
                lambda: node.agent.total("otelcol_exporter_queue_size", data_type="logs") > 0, node.agent.exposed
            )
            node.agent.kill()
        node.write(numbers[3000:])
        with node.gateway.running(), node.agent.running():
            eventually(
                lambda: set(numbers) <= set(map(str, node.bodies())),
                lambda: f"{len(set(numbers) - set(map(str, node.bodies())))} of {len(numbers)} missing",
            )
