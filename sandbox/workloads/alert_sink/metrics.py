"""The totals of the sink in Prometheus' text format."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sandbox.workloads.alert_sink.inbox import Counts


def exposition(counts: Counts) -> str:
    """The page; a family without a series yet is left out."""
    return "".join(
        [
            _family(
                "alert_sink_notifications_total",
                "counter",
                "Notifications kept, by receiver and status of the group.",
                {_labels(receiver=r, status=s): n for (r, s), n in counts.notifications.items()},
            ),
            _family(
                "alert_sink_alerts_total",
                "counter",
                "Alerts in kept notifications, by receiver and status of the alert.",
                {_labels(receiver=r, status=s): n for (r, s), n in counts.alerts.items()},
            ),
            _family(
                "alert_sink_refused_total",
                "counter",
                "Requests refused, by what was wrong with them.",
                {_labels(reason=reason): n for reason, n in counts.refused.items()},
            ),
            _family(
                "alert_sink_failed_total",
                "counter",
                "Notifications failed because a test asked for it, by status.",
                {_labels(status=status): n for status, n in counts.failed.items()},
            ),
            _family(
                "alert_sink_last_notification_timestamp_seconds",
                "gauge",
                "Arrival of the latest kept notification, by receiver, since 1970.",
                {_labels(receiver=r): at.timestamp() for r, at in counts.last.items()},
            ),
            _family("alert_sink_notifications_held", "gauge", "Notifications in memory.", {"": counts.held}),
            _family(
                "alert_sink_notifications_dropped_total",
                "counter",
                "Notifications that made room for newer ones.",
                {"": counts.dropped},
            ),
        ]
    )


def _labels(**labels: str) -> str:
    """Values are receivers, statuses and words of ours: none needs escaping."""
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels.items()) + "}"


def _family(name: str, kind: str, text: str, samples: Mapping[str, float]) -> str:
    rows = "".join(f"{name}{labels} {value!r}\n" for labels, value in sorted(samples.items()))
    return f"# HELP {name} {text}\n# TYPE {name} {kind}\n{rows}" if rows else ""
