"""Alerts about the ClickHouse that SwanLab's chart runs: inserts that it refuses, and those that it holds back."""

from __future__ import annotations

from signals.rules.expressions import grew
from signals.rules.model import Alert, Group, Severity

_JOB = '{job="swanlab-clickhouse"}'
_AGE = "ClickHouseAsyncMetrics_Uptime"
_WHERE = "{{ $labels.instance }} (cluster {{ $labels.cluster }})"


def swanlab_clickhouse_groups() -> tuple[Group, ...]:
    """Every group of this file."""
    return (Group(name="plumbline-swanlab-clickhouse", rules=(_rejected(), _failing(), _delayed())),)


def _rejected() -> Alert:
    return Alert(
        alert="SwanlabClickHouseInsertsRejected",
        expr=grew(f"ClickHouseProfileEvents_RejectedInserts{_JOB}", "10m", _AGE),
        wait="0s",
        severity=Severity.P1,
        summary="SwanLab's ClickHouse refuses inserts",
        description=f"{_WHERE} refused inserts because a table has too many parts. Points wait in the delivery buffer "
        "until merges catch up, or until it is full. Likely causes: many small inserts, merges that have no memory, "
        "no processor time or no disk.",
        runbook="swanlab-clickhouse",
    )


def _failing() -> Alert:
    """A batch with a row that cannot be read fails once and is tried in parts; what goes on for long is no such row."""
    return Alert(
        alert="SwanlabClickHouseInsertsFailing",
        expr=grew(f"ClickHouseProfileEvents_FailedInsertQuery{_JOB}", "5m", _AGE),
        wait="10m",
        severity=Severity.P2,
        summary="Inserts into SwanLab's ClickHouse fail",
        description=f"{_WHERE} has failed inserts for 15 minutes. Likely causes: a full or read-only claim, too little "
        "memory, a table that is missing or of another version, rows that cannot be read.",
        runbook="swanlab-clickhouse",
    )


def _delayed() -> Alert:
    return Alert(
        alert="SwanlabClickHouseInsertsDelayed",
        expr=grew(f"ClickHouseProfileEvents_DelayedInserts{_JOB}", "10m", _AGE),
        wait="10m",
        severity=Severity.P2,
        summary="SwanLab's ClickHouse holds inserts back",
        description=f"{_WHERE} has held inserts back for 20 minutes because a table has many parts; next it refuses "
        "them. Likely causes: many small inserts, merges that have no memory, no processor time or no disk.",
        runbook="swanlab-clickhouse",
    )
