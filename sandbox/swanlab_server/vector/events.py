"""Events as house sends them, and the rows of ClickHouse that they become.

An event is a JSON object: `type` (scalar, media or log), `project`, `uid`, `epoch`, `time` (milliseconds since 1970,
may be absent), and `key`, `step`, `value` of a scalar, `key`, `step`, `data`, `more` of media, `level`, `message` of
a log line. Fields are not judged here: what does not fit into its column is for ClickHouse to refuse, and where it
would take null for a value, a text goes instead, which it does not take.
"""

from __future__ import annotations

import json
import math
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sandbox.swanlab_server import tables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sandbox.swanlab_server.tables import Table

Event = dict[str, Any]
NUMBER: Final = "number"
"""Column `kind` of a scalar; for NaN and infinities it holds the text that came instead."""
_LATEST: Final = 9_999_999_999_999
"""Milliseconds since 1970: ClickHouse reads a text of ten digits as seconds."""
_INT64: Final = range(-(2**63), 2**63)
_UINT64: Final = range(2**64)
_INFINITE: Final = {"inf": "inf", "+inf": "inf", "-inf": "-inf", "infinity": "inf", "-infinity": "-inf"}


class NoEvents(ValueError):  # what it says
    """The body is not what a sender of events may send."""


@dataclass(frozen=True)
class Routed:
    """rows: type → rows of its table. unmatched: events that no route takes. received: all of them."""

    rows: Mapping[str, list[bytes]]
    unmatched: int
    received: int


class Clock:
    """Times of arrival in nanoseconds since 1970, each later than the one before. Safe to use from several threads."""

    def __init__(self) -> None:
        """Start with now."""
        self._lock = threading.Lock()
        self._last = 0

    def take(self, count: int) -> int:
        """The first of `count` times that follow each other by one."""
        with self._lock:
            first = max(time.time_ns(), self._last + 1)
            self._last = first + count - 1
            return first


def parse(body: bytes) -> list[Any]:
    """Events of a body: a JSON array, or objects on lines of their own. Raises NoEvents."""
    text = body.strip()
    try:
        if text.startswith(b"["):
            return list(json.loads(text))
        return list(json.loads(b"[" + b",".join(line for line in text.splitlines() if line.strip()) + b"]"))
    except ValueError as error:
        raise NoEvents(f"the body is neither a JSON array nor JSON objects on lines of their own: {error}") from error


def route(events: list[Any], clock: Clock) -> Routed:
    """Rows by type. The order of arrival decides which of two rows with the same identity stays."""
    arrival = clock.take(max(1, len(events)))
    now = arrival // 1_000_000
    rows: dict[str, list[bytes]] = {name: [] for name in _ROWS}
    unmatched = 0
    for number, event in enumerate(events):
        kind = event.get("type") if isinstance(event, dict) else None
        if not isinstance(kind, str) or kind not in _ROWS:
            unmatched += 1
            continue
        precedence = tables.PRECEDENCE_OF_ZERO - arrival - number
        row = [*_ROWS[kind](event), _timestamp(event.get("time"), now), precedence]
        # Half of a surrogate pair is valid JSON and no UTF-8: it becomes `?`, and the row is not lost.
        rows[kind].append(json.dumps(row, separators=(",", ":"), ensure_ascii=False).encode(errors="replace"))
    return Routed(rows, unmatched, len(events))


def _scalar(event: Event) -> list[Any]:
    value, kind = _value(event.get("value"))
    return [*_common(event, "key"), _whole(event.get("step"), _INT64), value, kind]


def _media(event: Event) -> list[Any]:
    more = json.dumps(event.get("more"), separators=(",", ":"))
    return [*_common(event, "key"), _whole(event.get("step"), _INT64), event.get("data"), more]


def _log(event: Event) -> list[Any]:
    project, uid, message, epoch = _common(event, "message")
    return [project, uid, epoch, event.get("level") or "INFO", message]


def _common(event: Event, third: str) -> list[Any]:
    # ClickHouse reads null, and a field of another type, as a text or as 0. A text in place of the epoch it refuses.
    texts = [event.get(name) for name in ("project", "uid", third)]
    whole = all(isinstance(text, str) for text in texts)
    return [*texts, _whole(event.get("epoch"), _UINT64) if whole else f"project, uid or {third} is no text"]


def _whole(value: object, numbers: range) -> object:
    """The number, or a text that is refused: one beyond its column ClickHouse would wrap to that of another row."""
    if not isinstance(value, int) or isinstance(value, bool):
        return json.dumps(value)
    return value if value in numbers else f"{value} does not fit"


def _value(value: object) -> tuple[object, str]:
    if isinstance(value, str):
        text = value.strip().lower()
        special = "nan" if text == "nan" else _INFINITE.get(text)
        return (value, NUMBER) if special is None else (special, value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value), str(value)
    if isinstance(value, int | float):
        return value, NUMBER
    return json.dumps(value), NUMBER  # ClickHouse would read null as NaN; as a text it refuses it


def _timestamp(value: object, now: int) -> str:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _LATEST:
        value = now
    seconds, thousandths = divmod(value, 1000)
    return f"{seconds:010d}.{thousandths:03d}"


_ROWS: Final[dict[str, Callable[[Event], list[Any]]]] = {"scalar": _scalar, "media": _media, "log": _log}
TABLES: Final[dict[str, Table]] = {"scalar": tables.SCALAR, "media": tables.MEDIA, "log": tables.LOG}
"""Type of event → where its rows go; the columns of a table are in the order of a row."""
