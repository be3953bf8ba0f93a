"""Alertmanager's webhook payload, version 4: typed, and refused with a reason where it is not what it should be."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION: Final = "4"
"""The only version that Alertmanager has sent since its first stable releases."""
_STATUSES: Final = ("firing", "resolved")


class PayloadError(Exception):
    """A payload that breaks the contract. The message says where, what is accepted and what was there."""


@dataclass(frozen=True, kw_only=True)
class Alert:
    """One alert of a notification. starts_at, ends_at: aware times; an open end is year 1, as Go writes no time."""

    status: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    starts_at: datetime
    ends_at: datetime
    fingerprint: str
    generator_url: str

    @property
    def name(self) -> str:
        """The alert's name, empty for an alert without one."""
        return self.labels.get("alertname", "")


@dataclass(frozen=True, kw_only=True)
class Notification:
    """One call of the webhook. truncated: alerts that Alertmanager left out because of `max_alerts`."""

    status: str
    receiver: str
    group_key: str
    group_labels: Mapping[str, str]
    common_labels: Mapping[str, str]
    common_annotations: Mapping[str, str]
    external_url: str
    truncated: int
    alerts: tuple[Alert, ...]


def parse(body: bytes) -> tuple[Notification, dict[str, Any]]:
    """The notification, and the payload as it came, with the fields of newer releases too. Raises PayloadError."""
    try:
        payload = json.loads(body)
    except ValueError as error:
        raise PayloadError(f"the body is no JSON ({error}); send what Alertmanager's webhook_config sends") from error
    if not isinstance(payload, dict):
        raise PayloadError(f"the body is {_kind(payload)}; accepted is a JSON object")
    if payload.get("version") != VERSION:
        raise PayloadError(f"version is {payload.get('version')!r}; accepted is {VERSION!r}")
    alerts = payload.get("alerts")
    if not isinstance(alerts, list) or not alerts:
        raise PayloadError(f"alerts is {_kind(alerts)}; accepted is a list of at least one alert")
    notification = Notification(
        status=_status(payload, ""),
        receiver=_text(payload, "receiver"),
        group_key=_text(payload, "groupKey"),
        group_labels=_pairs(payload, "groupLabels"),
        common_labels=_pairs(payload, "commonLabels"),
        common_annotations=_pairs(payload, "commonAnnotations"),
        external_url=_text(payload, "externalURL", empty=True),
        truncated=_count(payload, "truncatedAlerts"),
        alerts=tuple(_alert(alert, f"alerts[{at}]") for at, alert in enumerate(alerts)),
    )
    return notification, payload


def _alert(alert: object, where: str) -> Alert:
    if not isinstance(alert, dict):
        raise PayloadError(f"{where} is {_kind(alert)}; accepted is an object")
    return Alert(
        status=_status(alert, where),
        labels=_pairs(alert, "labels", where),
        annotations=_pairs(alert, "annotations", where),
        starts_at=_time(alert, "startsAt", where),
        ends_at=_time(alert, "endsAt", where),
        fingerprint=_text(alert, "fingerprint", where),
        generator_url=_text(alert, "generatorURL", where, empty=True),
    )


def _at(where: str, field: str) -> str:
    return f"{where}.{field}" if where else field


def _text(part: dict[str, Any], field: str, where: str = "", *, empty: bool = False) -> str:
    found = part.get(field)
    if not isinstance(found, str) or not (found or empty):
        raise PayloadError(
            f"{_at(where, field)} is {_kind(found)}; accepted is a string{'' if empty else ', not empty'}"
        )
    return found


def _status(part: dict[str, Any], where: str) -> str:
    found = part.get("status")
    if found not in _STATUSES:
        raise PayloadError(f"{_at(where, 'status')} is {found!r}; accepted are {' and '.join(_STATUSES)}")
    return str(found)


def _pairs(part: dict[str, Any], field: str, where: str = "") -> dict[str, str]:
    found = part.get(field)
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise PayloadError(f"{_at(where, field)} is {_kind(found)}; accepted is an object of strings")
    return found


def _count(part: dict[str, Any], field: str) -> int:
    found = part.get(field, 0)
    if not isinstance(found, int) or isinstance(found, bool) or found < 0:
        raise PayloadError(f"{field} is {found!r}; accepted is a number from 0")
    return found


def _time(part: dict[str, Any], field: str, where: str) -> datetime:
    found = part.get(field)
    try:
        time = datetime.fromisoformat(found) if isinstance(found, str) else None
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise PayloadError(f"{_at(where, field)} is {found!r}; accepted is a time as in RFC 3339, with its offset")
    return time


def _kind(found: object) -> str:
    """What was there, in the words of JSON."""
    if found is None:
        return "missing or null"
    names = {
        dict: "an object",
        list: "a list",
        str: "a string",
        bool: "a truth value",
        int: "a number",
        float: "a number",
    }
    name = names.get(type(found), "of another type")
    return f"an empty {name.split()[-1]}" if found in ({}, [], "") else name
