"""Requests and answers of the sink, without HTTP around them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from sandbox.workloads.alert_sink.inbox import Failing, Query, Received
from sandbox.workloads.alert_sink.metrics import exposition
from sandbox.workloads.alert_sink.payload import PayloadError, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sandbox.workloads.alert_sink.inbox import Inbox

_RECEIVER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
RESERVED: Final = ("notifications", "fail", "healthz", "metrics")
"""Names of pages, which no receiver can have."""
_FILTERS: Final = ("receiver", "fingerprint", "alertname", "since")
_MOST_FAILURES: Final = 1000
_TEXT: Final = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request, read to its end. path: decoded. at: aware time of arrival."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    body: bytes
    at: datetime


@dataclass(frozen=True)
class Answer:
    """What goes back to who asked."""

    status: HTTPStatus | int
    body: str
    content_type: str = "application/json"


class RequestError(Exception):
    """A request that is refused. The message says what is accepted."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        """Keep the status for the answer."""
        super().__init__(message)
        self.status = status


def refused(error: RequestError) -> Answer:
    """The answer to a request that is refused."""
    return Answer(error.status, _json({"error": str(error)}))


def answer(inbox: Inbox, request: Request) -> Answer:
    """The answer to any request that is small enough."""
    page = _PAGES.get((request.method, request.path), _receive if request.method == "POST" else _nothing)
    try:
        return page(inbox, request)
    except RequestError as error:
        return refused(error)


def _nothing(_: Inbox, request: Request) -> Answer:
    raise RequestError(
        HTTPStatus.NOT_FOUND,
        f"{request.method} {request.path} is no page here; pages are POST /<receiver>, GET and DELETE /notifications, "
        "POST /fail, GET /healthz and GET /metrics",
    )


def _healthz(_: Inbox, __: Request) -> Answer:
    return Answer(HTTPStatus.OK, "OK", "text/plain; charset=utf-8")


def _metrics(inbox: Inbox, _: Request) -> Answer:
    return Answer(HTTPStatus.OK, exposition(inbox.counts()), _TEXT)


def _delete(inbox: Inbox, _: Request) -> Answer:
    return Answer(HTTPStatus.OK, _json({"deleted": inbox.clear()}))


def _receive(inbox: Inbox, request: Request) -> Answer:
    receiver = request.path.removeprefix("/")
    if receiver in RESERVED or not _RECEIVER.fullmatch(receiver):
        inbox.refuse("receiver")
        raise RequestError(
            HTTPStatus.NOT_FOUND,
            f"{receiver!r} names no receiver; accepted are up to 63 letters, digits, dots, dashes and underscores, "
            f"and none of {', '.join(RESERVED)}",
        )
    try:
        notification, payload = parse(request.body)
    except PayloadError as error:
        inbox.refuse("payload")
        raise RequestError(HTTPStatus.BAD_REQUEST, str(error)) from error
    failed = inbox.keep(Received(receiver=receiver, at=request.at, notification=notification, payload=payload))
    if failed:
        return Answer(failed, _json({"error": "fails as it was told to by POST /fail"}))
    return Answer(HTTPStatus.OK, _json({"alerts": len(notification.alerts)}))


def _notifications(inbox: Inbox, request: Request) -> Answer:
    unknown = sorted(set(request.query) - set(_FILTERS))
    if unknown:
        raise RequestError(
            HTTPStatus.BAD_REQUEST, f"{', '.join(unknown)} cannot be asked for; accepted are {', '.join(_FILTERS)}"
        )
    values = {name: found[-1] for name, found in request.query.items()}
    since = _since(values.pop("since")) if values.get("since") else None
    found = inbox.find(
        Query(
            receiver=values.get("receiver", ""),
            fingerprint=values.get("fingerprint", ""),
            alertname=values.get("alertname", ""),
            since=since,
        )
    )
    shown = [{"receiver": r.receiver, "receivedAt": r.at.isoformat(), "payload": r.payload} for r in found]
    return Answer(HTTPStatus.OK, _json({"notifications": shown}))


def _since(text: str) -> datetime:
    try:
        found = datetime.fromtimestamp(float(text), UTC) if _is_number(text) else datetime.fromisoformat(text)
    except (ValueError, OverflowError, OSError):
        found = None
    if found is None or found.tzinfo is None:
        raise RequestError(
            HTTPStatus.BAD_REQUEST,
            f"since={text} is no time; accepted are seconds since 1970, or a time as in RFC 3339 with its offset",
        )
    return found


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\d+(?:\.\d+)?", text) is not None


def _fail(inbox: Inbox, request: Request) -> Answer:
    try:
        asked = json.loads(request.body)
    except ValueError:
        asked = None
    count, status = (asked.get("count"), asked.get("status", 500)) if isinstance(asked, dict) else (None, None)
    if not _within(count, 0, _MOST_FAILURES) or not _within(status, 400, 599):
        raise RequestError(
            HTTPStatus.BAD_REQUEST,
            f'accepted is {{"count": 0 to {_MOST_FAILURES}, "status": 400 to 599}}; count 0 ends the failing',
        )
    failing = Failing(int(count or 0), int(status or 0))
    inbox.fail(failing)
    return Answer(HTTPStatus.OK, _json({"count": failing.count, "status": failing.status}))


def _within(number: object, low: int, high: int) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and low <= number <= high


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value) + "\n"


_PAGES: Final[Mapping[tuple[str, str], Callable[[Inbox, Request], Answer]]] = {
    ("GET", "/healthz"): _healthz,
    ("GET", "/metrics"): _metrics,
    ("GET", "/notifications"): _notifications,
    ("DELETE", "/notifications"): _delete,
    ("POST", "/fail"): _fail,
}
