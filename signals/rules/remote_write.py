"""Alerts about the stores that receive every sample as well. Without a store their metrics are absent: silent."""

from __future__ import annotations

from signals.rules.expressions import grew
from signals.rules.model import Alert, Group, Severity

_WHERE = "{{ $labels.instance }} (cluster {{ $labels.cluster }})"
_LOST = (
    ("refused", 'prometheus_remote_storage_samples_failed_total{job="prometheus"}'),
    # Relabelling leaves series out on purpose.
    ("given up", 'prometheus_remote_storage_samples_dropped_total{job="prometheus", reason!="dropped_series"}'),
)


def remote_write_alerts() -> Group:
    """A store that refuses samples, and one that does not answer: neither shows in anything else."""
    return Group(name="plumbline-remote-write", rules=(*(_failing(how, lost) for how, lost in _LOST), _behind()))


def _failing(how: str, selector: str) -> Alert:
    return Alert(
        alert="PrometheusRemoteWriteFailing",
        expr=grew(selector, "15m"),
        wait="5m",
        severity=Severity.P2,
        labels={"loss": how},
        summary=f"Samples for store {{{{ $labels.remote_name }}}} are {how}",
        description=f"Samples of {_WHERE} for store {{{{ $labels.remote_name }}}} were {how} and are not sent again: "
        "the store has a gap. Likely causes: wrong credentials, a limit or a rule of the store, samples too old for "
        "it.",
        runbook="prometheus-remote-write",
    )


def _behind() -> Alert:
    """Compared with the clock: what is enqueued stands still too while a full queue waits for a dead store.

    Five minutes, because the value itself is as old as the last scrape, and that is up to two.
    """
    sent = 'prometheus_remote_storage_queue_highest_sent_timestamp_seconds{job="prometheus"}'
    return Alert(
        alert="PrometheusRemoteWriteBehind",
        expr=f"time() - {sent} > 300",
        wait="10m",
        severity=Severity.P2,
        summary="Store {{ $labels.remote_name }} does not keep up",
        description=f"Nothing newer than five minutes has reached store {{{{ $labels.remote_name }}}} from {_WHERE} "
        "for 10 minutes. Prometheus tries on; what is older than its write-ahead log, about two hours, is lost to the "
        "store. Likely causes: the store is down or slow, its address does not resolve, a network policy or a "
        "certificate is in the way.",
        runbook="prometheus-remote-write",
    )
