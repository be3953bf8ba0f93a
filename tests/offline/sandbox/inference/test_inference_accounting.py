"""What was made is either taken by the collector, or counted as not taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.offline.sandbox.inference import service as running

if TYPE_CHECKING:
    from pathlib import Path

    from tests.offline.sandbox.inference.service import Service


def test_everything_that_was_made_arrives(service: Service) -> None:
    service.flush()
    spans, records = len(service.receiver.spans), len(service.receiver.records)
    before = service.flush()
    service.ask({"requests": 3, "request": {"simulate": {"logs": "otlp"}}}, "/v1/batch")
    after = service.flush()

    def grew(name: str) -> int:
        return sum(int(after[role][name] - before[role][name]) for role in after)

    assert grew("spans_made") == grew("spans_sent") == len(service.receiver.spans) - spans == 3 * 20
    assert grew("logs_made") == grew("logs_sent") == len(service.receiver.records) - records == 3 * 6
    assert (grew("spans_failed"), grew("logs_failed"), grew("lines_made")) == (0, 0, 0)
    gateway = service.roles["gateway"]
    assert (
        gateway.metric("sandbox_inference_otlp_items_total", signal="spans", outcome="sent")
        == (after["gateway"]["spans_sent"])
    )


def test_what_a_collector_refuses_is_counted(tmp_path: Path) -> None:
    with running.service(tmp_path) as found:
        found.receiver.refuse = 400
        assert found.ask({"simulate": {"logs": "both"}}).status_code == 200
        counts = found.flush()["gateway"]
        assert (counts["spans_made"], counts["spans_sent"], counts["spans_failed"]) == (7, 0, 7)
        assert (counts["logs_made"], counts["logs_sent"], counts["logs_failed"]) == (2, 0, 2)
        assert found.receiver.spans == []


def test_without_a_collector_requests_are_served_and_nothing_is_sent(tmp_path: Path) -> None:
    with running.service(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT="") as found:
        assert found.ask({}).status_code == 200
        counts = found.flush()["gateway"]
        assert (counts["spans_made"], counts["spans_sent"], counts["spans_failed"]) == (7, 0, 0)


def test_metrics_of_requests_can_be_switched_off(tmp_path: Path) -> None:
    with running.service(tmp_path, OTEL_METRICS_EXPORTER="none") as found:
        assert found.ask({}).status_code == 200
        found.flush()
        assert (len(found.receiver.spans), found.receiver.points) == (20, [])


def test_what_waits_is_sent_when_a_role_ends(tmp_path: Path) -> None:
    with running.service(tmp_path) as found:
        answer = found.ask({}).json()
        assert [found.roles[role].end() for role in found.roles] == [0, 0, 0, 0, 0]
        assert len(found.receiver.trace(answer["trace_id"])) == 20
