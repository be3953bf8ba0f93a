"""SwanLab's way of a point: into a buffer on disk, where it is acknowledged, and from there into ClickHouse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals.dashboards.links import runbook
from signals.dashboards.model import Limits, Panel, Row, Unit
from signals.dashboards.panels import stat, timeseries
from signals.dashboards.room import NONE, STACK, grown
from signals.dashboards.variables import chosen

if TYPE_CHECKING:
    from signals.dashboards.inputs import BoardInputs

_VECTOR: Final = 'job="swanlab-vector"'
_DISK: Final = f'{_VECTOR}, buffer_type="disk"'
_BUFFER: Final = f"{STACK}, instance, component_id"
_FIRST: Final = "its first event after a start"
_CLICKHOUSE: Final = 'job="swanlab-clickhouse"'


def buffer(inputs: BoardInputs) -> Row:
    """What was acknowledged to runs and is nowhere else."""
    links = runbook(inputs, "swanlab-buffer")
    events = {what: chosen(f"vector_buffer_{what}_events_total", _DISK) for what in ("received", "sent")}
    rates = ((f"sum by (cluster) (rate({series}[$__rate_interval]))", what) for what, series in events.items())
    high = inputs.rules.thresholds.swanlab_buffer_high
    return Row(
        title="Delivery buffer",
        panels=(
            *_held(inputs),
            timeseries(
                "Fill of each buffer",
                {"{{cluster}} {{instance}} {{component_id}}": _fill()},
                "A line that rises is what ClickHouse does not take. At the top, SwanLab accepts no more points.",
                Unit.RATIO,
                Limits(warn=high),
                links=links,
                empty=_FIRST,
                high=1,
            ),
            timeseries(
                "Events into and out of the buffers",
                {f"{{{{cluster}}}} {what}": expr for expr, what in rates},
                "What runs log, and what was handed to ClickHouse. Received above sent for long: the buffer fills.",
                Unit.PER_SECOND,
                links=links,
                empty=_FIRST,
            ),
        ),
        needs=frozenset({"swanlab-vector"}),
    )


def _fill() -> str:
    held, most = (
        f"max by ({_BUFFER}) ({chosen(f'vector_buffer_{name}', _DISK)})" for name in ("byte_size", "max_byte_size")
    )
    return f"{held}\n/\n({most} > 0)"


def _held(inputs: BoardInputs) -> tuple[Panel, ...]:
    high = inputs.rules.thresholds.swanlab_buffer_high
    links, loss = runbook(inputs, "swanlab-buffer"), runbook(inputs, "swanlab-points-lost")
    held = f"max by ({_BUFFER}) (min_over_time({chosen('vector_buffer_events', _DISK)}[5m]))"
    sends = f"max by ({_BUFFER}) (increase({chosen('vector_buffer_sent_events_total', _DISK)}[5m])) > 0"
    dropped = chosen("vector_component_discarded_events_total", f'{_VECTOR}, intentional="false"')
    return (
        stat(
            "Fullest buffer",
            f"max({_fill()})",
            "Full, SwanLab accepts nothing more, and runs that end lose what is in their memory.",
            Unit.RATIO,
            Limits(warn=high / 2, bad=high),
            links=links,
            empty=_FIRST,
        ),
        stat(
            "Events that wait",
            f"sum(max by ({_BUFFER}) ({chosen('vector_buffer_events', _DISK)}))",
            "Acknowledged to runs, and in no store yet.",
            links=links,
            empty=_FIRST,
        ),
        stat(
            "Buffers that do not empty",
            f"sum((({held}) > bool 0 unless on ({_BUFFER}) {sends})\nor\n0 * {held})",
            "They hold events, and sent none for five minutes. See ClickHouse below.",
            Unit.COUNT,
            NONE,
            links=links,
            empty=_FIRST,
        ),
        stat(
            "Points lost",
            f"sum({grown(dropped, 'swanlab-vector')})",
            "Acknowledged events that were dropped in the board's time. The runs do not know: tell their owners.",
            Unit.COUNT,
            NONE,
            links=loss,
        ),
        stat(
            "Damaged places of buffers",
            f"sum({grown(chosen('vector_buffer_errors_total', _VECTOR), 'swanlab-vector')})",
            "What was there is lost. A disk fails, or two processes had the claim open.",
            Unit.COUNT,
            NONE,
            links=loss,
        ),
    )


def clickhouse(inputs: BoardInputs) -> Row:
    """Where points end. One server for each stack, whoever scrapes it."""
    links = runbook(inputs, "swanlab-clickhouse")

    def gauge(name: str) -> str:
        return f"max by (cluster) ({chosen(f'ClickHouseMetrics_{name}', _CLICKHOUSE)})"

    def rate(name: str) -> str:
        return f"max by (cluster) (rate({chosen(f'ClickHouseProfileEvents_{name}', _CLICKHOUSE)}[$__rate_interval]))"

    return Row(
        title="ClickHouse",
        panels=(
            *_inserts(inputs),
            timeseries(
                "Statements",
                {
                    f"{{{{cluster}}}} {name}": rate(name)
                    for name in ("Query", "FailedQuery", "InsertQuery", "FailedInsertQuery")
                },
                "Failed ones beside all: a failed insert is tried again from the buffer.",
                Unit.PER_SECOND,
                links=links,
            ),
            timeseries(
                "Parts",
                {"{{cluster}}": gauge("PartsActive")},
                "Of all tables. A line that only rises: merges do not keep up, and inserts will be held back.",
                links=links,
            ),
            timeseries(
                "Merges and statements that run",
                {f"{{{{cluster}}}} {name}": gauge(name) for name in ("Merge", "Query", "DelayedInserts")},
                "Statements that pile up wait for memory, processor time or disk, as merges do.",
                links=links,
            ),
            timeseries(
                "Memory of ClickHouse",
                {"{{cluster}}": gauge("MemoryTracking")},
                "What it asked for itself. Near the limit of its container statements fail, then it is killed.",
                Unit.BYTES,
                links=links,
            ),
        ),
        needs=frozenset({"swanlab-clickhouse"}),
    )


def _inserts(inputs: BoardInputs) -> tuple[Panel, ...]:
    links = runbook(inputs, "swanlab-clickhouse")
    told = (
        (
            "Inserts refused",
            "RejectedInserts",
            "A table has too many parts. Points wait in the buffer until it is full.",
        ),
        ("Inserts held back", "DelayedInserts", "A table has many parts; next they are refused. Let merges catch up."),
        (
            "Inserts that failed",
            "FailedInsertQuery",
            "One may be a row that cannot be read; many are a fault of the store.",
        ),
    )
    return tuple(
        stat(
            title,
            f"sum({grown(chosen(f'ClickHouseProfileEvents_{name}', _CLICKHOUSE), 'swanlab-clickhouse')})",
            f"In the board's time. {meaning}",
            Unit.COUNT,
            NONE,
            links=links,
        )
        for title, name, meaning in told
    )
