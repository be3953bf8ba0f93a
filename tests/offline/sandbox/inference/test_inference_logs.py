"""Log lines: JSON, joined with traces, told apart by component, and without what was said."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from tests.offline.sandbox.inference.test_inference_traces import traced

if TYPE_CHECKING:
    from tests.offline.sandbox.inference.service import Service

COMPONENTS = {
    "inference-gateway": "gateway",
    "inference-router": "scheduler",
    "inference-prefill": "model-server",
    "inference-decode": "model-server",
    "inference-retrieval": "tool",
}


def test_lines_join_with_the_spans_of_their_request(service: Service) -> None:
    answer = service.play(nonce="joined")
    spans = traced(service, answer["trace_id"])
    lines = service.lines(nonce="joined")
    by_id = {span.span_id: span for span in spans}
    assert {line["service"]: line["component"] for line in lines} == COMPONENTS
    for line in lines:
        assert line["trace_id"] == answer["trace_id"]
        assert line["request_id"] == answer["request_id"]
        assert by_id[line["span_id"]].service == line["service"]
        assert (line["team"], line["run_id"]) == ("search", "run-7")
        assert datetime.fromisoformat(line["time"]).utcoffset() is not None
        assert line["level"] in ("DEBUG", "INFO")
        # The default prompt: word0 to word31, 10 words of 5 letters and 22 of 6.
        assert line["input"] == {"messages": 1, "characters": 10 * 5 + 22 * 6, "tokens": 32}
    assert len([line for line in lines if line["message"] == "request served"]) == 1
    assert {line["level"] for line in lines} == {"DEBUG", "INFO"}


def test_lines_hold_no_prompt_and_nothing_of_the_answer(service: Service) -> None:
    service.ask(
        {
            "messages": [{"role": "system", "content": "be a quokka"}, {"role": "user", "content": "say wombat"}],
            "simulate": {"nonce": "quiet"},
        }
    )
    lines = service.lines(nonce="quiet")
    assert lines
    assert {line["input"]["messages"] for line in lines} == {2}
    for word in ("quokka", "wombat", "token0"):
        assert word not in repr(lines)


@pytest.mark.parametrize(("logs", "goes"), [("stdout", {"printed"}), ("otlp", {"sent"}), ("both", {"printed", "sent"})])
def test_request_says_where_its_lines_go(service: Service, logs: str, goes: set[str]) -> None:
    answer = service.play(nonce=f"to-{logs}", logs=logs)
    lines = service.lines(nonce=f"to-{logs}")
    records = [record for record in service.receiver.records if record.trace_id == answer["trace_id"]]
    assert {*(["printed"] if lines else []), *(["sent"] if records else [])} == goes
    if lines and records:
        told = {(line["message"], line["level"], line["span_id"]) for line in lines}
        assert {(record.body, record.severity, record.span_id) for record in records} == told
        assert len(lines) == len(records)


def test_record_has_the_keys_of_the_line(service: Service) -> None:
    answer = service.play(nonce="keys", logs="otlp")
    service.flush()
    records = [record for record in service.receiver.records if record.trace_id == answer["trace_id"]]
    (served,) = [record for record in records if record.body == "request served"]
    assert served.attributes["nonce"] == "keys"
    assert served.attributes["component"] == "gateway"
    assert served.attributes["input.tokens"] == 32
    assert served.attributes["generated_tokens"] == 8
    assert served.resource["k8s.pod.uid"] == "uid-gateway"
