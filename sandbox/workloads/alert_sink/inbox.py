"""What was received, and what shall fail: all in memory, all behind one lock."""

from __future__ import annotations

import threading
from collections import Counter, deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sandbox.workloads.alert_sink.payload import Notification

CAPACITY: Final = 1000
"""Notifications that are kept; an older one makes room for a newer one."""


@dataclass(frozen=True, kw_only=True)
class Received:
    """One accepted notification. receiver: last part of the URL it was posted to. at: aware arrival time."""

    receiver: str
    at: datetime
    notification: Notification
    payload: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Query:
    """Which notifications are wanted; an empty field wants all. One alert must have both fingerprint and name."""

    receiver: str = ""
    fingerprint: str = ""
    alertname: str = ""
    since: datetime | None = None

    def wants(self, received: Received) -> bool:
        """Whether this notification is wanted."""
        return (
            self.receiver in {"", received.receiver}
            and (self.since is None or received.at >= self.since)
            and any(
                self.fingerprint in {"", alert.fingerprint} and self.alertname in {"", alert.name}
                for alert in received.notification.alerts
            )
        )


@dataclass(frozen=True)
class Failing:
    """The next `count` notifications are answered with `status` and not kept."""

    count: int = 0
    status: int = 500


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Totals since the start, untouched by deletion. last: receiver → time of its latest notification."""

    notifications: Mapping[tuple[str, str], int] = field(default_factory=dict)
    alerts: Mapping[tuple[str, str], int] = field(default_factory=dict)
    refused: Mapping[str, int] = field(default_factory=dict)
    failed: Mapping[str, int] = field(default_factory=dict)
    last: Mapping[str, datetime] = field(default_factory=dict)
    held: int = 0
    dropped: int = 0


class Inbox:
    """Keeps notifications and totals. Safe to use from several threads."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        """Empty, and failing nothing."""
        self._lock = threading.Lock()
        self._held: deque[Received] = deque(maxlen=capacity)
        self._failing = Failing()
        self._notifications: Counter[tuple[str, str]] = Counter()
        self._alerts: Counter[tuple[str, str]] = Counter()
        self._refused: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._last: dict[str, datetime] = {}
        self._dropped = 0

    def keep(self, received: Received) -> int:
        """Keep a notification and return 0, or return the status with which it shall fail instead."""
        with self._lock:
            if self._failing.count:
                self._failing = replace(self._failing, count=self._failing.count - 1)
                self._failed[str(self._failing.status)] += 1
                return self._failing.status
            self._dropped += len(self._held) == self._held.maxlen
            self._held.append(received)
            self._notifications[received.receiver, received.notification.status] += 1
            for alert in received.notification.alerts:
                self._alerts[received.receiver, alert.status] += 1
            self._last[received.receiver] = received.at
            return 0

    def refuse(self, reason: str) -> None:
        """Count a request that was refused. reason: a word."""
        with self._lock:
            self._refused[reason] += 1

    def fail(self, failing: Failing) -> None:
        """Let the next notifications fail; this replaces what was asked before."""
        with self._lock:
            self._failing = failing

    def find(self, query: Query) -> list[Received]:
        """The kept notifications that are wanted, the oldest first."""
        with self._lock:
            held = list(self._held)
        return [received for received in held if query.wants(received)]

    def clear(self) -> int:
        """Forget all notifications; how many there were."""
        with self._lock:
            count = len(self._held)
            self._held.clear()
            return count

    def counts(self) -> Counts:
        """The totals as they are now."""
        with self._lock:
            return Counts(
                notifications=dict(self._notifications),
                alerts=dict(self._alerts),
                refused=dict(self._refused),
                failed=dict(self._failed),
                last=dict(self._last),
                held=len(self._held),
                dropped=self._dropped,
            )
