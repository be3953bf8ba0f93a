"""Payloads as Alertmanager sends them."""

from __future__ import annotations

import json
from typing import Any


def alert(**fields: Any) -> dict[str, Any]:  # noqa: ANN401  # JSON
    """A firing alert."""
    return {
        "status": "firing",
        "labels": {"alertname": "GpuLost", "severity": "P1"},
        "annotations": {"summary": "a GPU is gone"},
        "startsAt": "2026-02-03T04:05:06.123456789Z",
        "endsAt": "0001-01-01T00:00:00Z",
        "generatorURL": "http://prometheus/graph?g0.expr=x",
        "fingerprint": "c1c1c1c1c1c1c1c1",
        **fields,
    }


def payload(**fields: Any) -> dict[str, Any]:  # noqa: ANN401  # JSON
    """A notification with one firing alert."""
    return {
        "version": "4",
        "groupKey": '{}:{alertname="GpuLost"}',
        "truncatedAlerts": 0,
        "status": "firing",
        "receiver": "pager",
        "groupLabels": {"alertname": "GpuLost"},
        "commonLabels": {"alertname": "GpuLost", "severity": "P1"},
        "commonAnnotations": {},
        "externalURL": "http://alertmanager:9093",
        "notification_reason": "new group",
        "alerts": [alert()],
        **fields,
    }


def body(**fields: Any) -> bytes:  # noqa: ANN401  # JSON
    """The same as bytes."""
    return json.dumps(payload(**fields)).encode()
