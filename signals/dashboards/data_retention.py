"""How long what is kept still fits: claims, Prometheus' own history, logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals.dashboards.links import runbook
from signals.dashboards.model import Good, Kind, Limits, Panel, Query, Row, Unit
from signals.dashboards.panels import stat, timeseries
from signals.dashboards.room import MOUNTED, NONE, STACK, claims_free
from signals.dashboards.variables import chosen
from signals.rules.prometheus import STORED

if TYPE_CHECKING:
    from signals.dashboards.inputs import BoardInputs
    from signals.dashboards.model import Link

_DAY: Final = 86_400
_FEW: Final = 15
"""Bars that a person looks at."""
_PROMETHEUS: Final = 'job="prometheus"'
_LOGS: Final = 'job="victoria-logs"'


def claims(inputs: BoardInputs) -> Row:
    """Of every namespace: a claim of a team that runs full loses its checkpoints."""
    free = claims_free()
    limits = Limits(warn=inputs.rules.thresholds.volume_free_low, good=Good.HIGH)
    links = runbook(inputs, "kubernetes-storage")
    return Row(
        title="Claims",
        panels=(
            stat(
                "Fullest claim: free",
                f"min({free})",
                "Which: beside this. A full claim stops what writes to it.",
                Unit.RATIO,
                limits,
                links=links,
                empty=MOUNTED,
            ),
            Panel(
                title="Claims with the least room",
                kind=Kind.BARS,
                unit=Unit.RATIO,
                meaning="Their free share. Delete what nobody needs, or grow the claim.",
                queries=(
                    Query(
                        expr=f"bottomk({_FEW}, {free})",
                        legend="{{cluster}} {{namespace}}/{{persistentvolumeclaim}}",
                        instant=True,
                    ),
                ),
                limits=limits,
                links=links,
                empty=MOUNTED,
                width=12,
                high=1,
            ),
        ),
        needs=frozenset({"kubelet"}),
    )


def prometheus(inputs: BoardInputs) -> Row:
    """Retention by size deletes at the limit: to be near it is normal, to pass it is not."""
    used = f"({' + '.join(chosen(metric, _PROMETHEUS) for metric in STORED)})"
    limit, time = (chosen(f"prometheus_tsdb_retention_limit_{of}", _PROMETHEUS) for of in ("bytes", "seconds"))
    cut = chosen("prometheus_tsdb_size_retentions_total", _PROMETHEUS)
    share = f"{used}\n/\n({limit} > 0)"
    return Row(
        title="Metrics",
        panels=(
            stat(
                "Metrics are kept for",
                f"min({time})",
                "Retention by time that is in force, the shortest. What is older is gone.",
                Unit.SECONDS,
                links=runbook(inputs, "prometheus-history-cut-by-size"),
            ),
            stat(
                "Metrics: retention by size in use",
                f"max({share})",
                "Near the whole, history is cut short; beyond, the claim runs full and nothing is recorded.",
                Unit.RATIO,
                Limits(warn=1.0, bad=1.1),
                links=runbook(inputs, "prometheus-storage"),
            ),
            stat(
                "Metrics: blocks cut by size",
                f"sum(max by ({STACK}) (increase({cut}[1d])))",
                "Within a day. History is shorter than promised: fewer series, or a larger claim.",
                Unit.COUNT,
                NONE,
                links=runbook(inputs, "prometheus-history-cut-by-size"),
            ),
            timeseries(
                "Storage of metrics",
                {"{{cluster}} {{instance}}": f"max by (cluster, instance) ({share})"},
                "Of the retention by size.",
                Unit.RATIO,
                Limits(warn=1.0, bad=1.1),
                links=runbook(inputs, "prometheus-storage"),
                high=1,
            ),
        ),
        needs=frozenset({"prometheus"}),
    )


def logs(inputs: BoardInputs) -> Row:
    """Of the stack's own store. How long they fit is told where a time was promised."""
    plans = inputs.rules.telemetry
    promised = None if plans is None else plans.logs_retention_seconds
    free, size = (chosen(f"vl_{kind}_disk_space_bytes", _LOGS) for kind in ("free", "total"))
    room = f"min by ({STACK}) ({free})\n/\nmax by ({STACK}) ({size} > 0)"
    links = runbook(inputs, "logs-store")
    room_left = stat(
        "Logs: free",
        f"min({room})",
        "Of the disk. At 5 % nothing is taken any more.",
        Unit.RATIO,
        Limits(warn=inputs.rules.thresholds.volume_free_low, good=Good.HIGH),
        links=links,
    )
    panels = (room_left,) if promised is None else (_days(promised, links), room_left)
    return Row(title="Logs", panels=panels, needs=frozenset({"victoria-logs"}))


def _days(promised: int, links: tuple[Link, ...]) -> Panel:
    return stat(
        "Days of logs that fit",
        f"min({_fitting()})",
        "At the pace of the days that are kept. Fewer than promised: the oldest go before their time.",
        Unit.DAYS,
        Limits(warn=promised / _DAY, good=Good.HIGH),
        links=links,
        empty="logs of a second day",
    )


def _fitting() -> str:
    """One store for each stack, whoever scrapes it."""
    data = f"sum by ({STACK}) (max by ({STACK}, type) ({chosen('vl_data_size_bytes', _LOGS)}))"
    days = f"max by ({STACK}) ({chosen('vl_partitions', _LOGS)} > 1)"
    most = f"max by ({STACK}) ({chosen('vl_max_disk_space_usage_bytes', _LOGS)} > 0)"
    return f"sum by ({STACK}) ({most}\n/\n({data} / {days}))"
