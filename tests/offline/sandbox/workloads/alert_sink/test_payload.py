"""The webhook contract: what is read from it, and each way to break it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from sandbox.workloads.alert_sink.payload import PayloadError, parse
from tests.offline.sandbox.workloads.alert_sink.payloads import alert, body, payload


def test_payload_is_read_into_types_and_kept_whole() -> None:
    notification, kept = parse(body(truncatedAlerts=3))
    assert kept == payload(truncatedAlerts=3)
    assert (notification.status, notification.receiver, notification.truncated) == ("firing", "pager", 3)
    assert notification.group_key == '{}:{alertname="GpuLost"}'
    assert notification.group_labels == {"alertname": "GpuLost"}
    assert notification.common_labels == {"alertname": "GpuLost", "severity": "P1"}
    assert (notification.common_annotations, notification.external_url) == ({}, "http://alertmanager:9093")
    (one,) = notification.alerts
    assert (one.name, one.status, one.fingerprint) == ("GpuLost", "firing", "c1c1c1c1c1c1c1c1")
    assert one.annotations == {"summary": "a GPU is gone"}
    assert one.starts_at == datetime(2026, 2, 3, 4, 5, 6, 123456, UTC)
    assert one.ends_at.year == 1
    assert one.generator_url.startswith("http://prometheus/")


def test_alert_without_a_name() -> None:
    notification, _ = parse(body(alerts=[alert(labels={})]))
    assert notification.alerts[0].name == ""


def test_fields_of_older_releases_suffice() -> None:
    old = payload()
    del old["notification_reason"], old["truncatedAlerts"]
    assert parse(json.dumps(old).encode())[0].truncated == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the body is no JSON"),
        (b"\xff", "the body is no JSON"),
        (b"[]", "the body is an empty list; accepted is a JSON object"),
    ],
)
def test_body_that_is_no_object(content: bytes, message: str) -> None:
    with pytest.raises(PayloadError, match=message):
        parse(content)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"version": "3"}, "version is '3'; accepted is '4'"),
        ({"version": 4}, "version is 4; accepted is '4'"),
        ({"status": "suppressed"}, "status is 'suppressed'; accepted are firing and resolved"),
        ({"receiver": ""}, "receiver is an empty string; accepted is a string, not empty"),
        ({"groupKey": None}, "groupKey is missing or null; accepted is a string, not empty"),
        ({"groupLabels": None}, "groupLabels is missing or null; accepted is an object of strings"),
        ({"commonLabels": {"a": 1}}, "commonLabels is an object; accepted is an object of strings"),
        ({"commonAnnotations": []}, "commonAnnotations is an empty list"),
        ({"externalURL": 7}, "externalURL is a number; accepted is a string$"),
        ({"truncatedAlerts": -1}, "truncatedAlerts is -1; accepted is a number from 0"),
        ({"truncatedAlerts": True}, "truncatedAlerts is True"),
        ({"alerts": None}, "alerts is missing or null; accepted is a list of at least one alert"),
        ({"alerts": []}, "alerts is an empty list"),
        ({"alerts": ["x"]}, r"alerts\[0\] is a string; accepted is an object"),
        ({"alerts": [alert(), alert(status="x")]}, r"alerts\[1\].status is 'x'"),
        ({"alerts": [alert(labels=None)]}, r"alerts\[0\].labels is missing or null"),
        ({"alerts": [alert(annotations={"a": None})]}, r"alerts\[0\].annotations is an object"),
        ({"alerts": [alert(startsAt="today")]}, r"alerts\[0\].startsAt is 'today'; accepted is a time as in RFC 3339"),
        ({"alerts": [alert(endsAt="2026-02-03T04:05:06")]}, r"alerts\[0\].endsAt is .*with its offset"),
        ({"alerts": [alert(fingerprint=None)]}, r"alerts\[0\].fingerprint is missing or null"),
    ],
)
def test_broken_contract_is_refused_with_the_place(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(PayloadError, match=message):
        parse(body(**fields))
