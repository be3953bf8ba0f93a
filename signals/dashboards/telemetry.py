"""Telemetry pipeline: what came in, what became of it, what was lost, and what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals.catalogue.otel_collector import GATEWAY, ITEMS
from signals.dashboards.links import log_lines, runbook
from signals.dashboards.model import Board, Good, Limits, Row, Unit
from signals.dashboards.panels import stat, table, timeseries
from signals.dashboards.telemetry_losses import COLLECTORS, PARTS, lost, lost_in_store, lost_on_the_way
from signals.dashboards.telemetry_room import room, volume
from signals.dashboards.telemetry_sampling import sampling
from signals.dashboards.telemetry_stores import log_store, services
from signals.dashboards.variables import CLUSTER, ENVIRONMENT, FLEET_CHOICE, chosen
from signals.rules.telemetry_records import INSTANCE, UNACCOUNTED, WITHHELD

if TYPE_CHECKING:
    from signals.dashboards.inputs import BoardInputs
    from signals.dashboards.model import Panel

_FIRST: Final = "the first of that signal"
_NAMES: Final[dict[str, str]] = {"traces": "Spans", "logs": "Log records", "metrics": "Metric points"}
"""Signal → what is counted of it, for people."""
_ALERTS: Final = "Telemetry.+|Traces.+|Logs.+|Sampling.+|SpanMetrics.+"


def telemetry(inputs: BoardInputs) -> Board:
    """From losses to their causes. No rows where a stack has no collectors. Colours change where alerts do."""
    plans, limits = inputs.rules.telemetry, inputs.rules.thresholds
    rows: tuple[Row, ...] = ()
    if plans is not None:
        rows = (
            _now(inputs),
            _alerts(inputs),
            _flow(inputs),
            sampling(inputs, plans),
            room(inputs, plans),
            volume(inputs, plans, limits),
            log_store(inputs, plans),
            services(inputs),
        )
    return Board(
        uid="plumbline-telemetry",
        title="Telemetry pipeline",
        meaning="Traces, logs and metrics on their way through the collectors: is anything lost, what does not get "
        "on, is there room, and how do the services fare that send them.",
        rows=rows,
        variables=(CLUSTER, ENVIRONMENT),
        needs=frozenset({GATEWAY.job}),
    )


def _now(inputs: BoardInputs) -> Row:
    return Row(
        title="Is anything lost",
        panels=(_answers(inputs), *(_lost(inputs, signal) for signal in ITEMS), _fullest(inputs), _withheld(inputs)),
    )


def _answers(inputs: BoardInputs) -> Panel:
    """A job without a target counts as a target that does not answer."""
    jobs = [job for job in PARTS if job in inputs.rules.jobs]
    there = chosen("up", f'job=~"{"|".join(jobs)}"')
    gone = "\n  or ".join(f"absent({chosen('up', f'job={chr(34)}{job}{chr(34)}')})" for job in jobs)
    return stat(
        "Parts that answer",
        f"sum({there})\n/ (count({there}) + (count({gone}) or 0 * count({there})))",
        "Of collectors and stores. Below one, something is not there or does not answer, and what this board says of "
        "it is old.",
        Unit.RATIO,
        Limits(warn=1.0, good=Good.HIGH),
        links=runbook(inputs, "scrape-target-down"),
    )


def _lost(inputs: BoardInputs, signal: str) -> Panel:
    return stat(
        f"{_NAMES[signal]} lost",
        lost_on_the_way(signal, "$__range", inputs.rules.jobs),
        "In the board's time: could not be read, did not fit a queue, or were refused for ever, also by the stack's "
        "own store. Nobody else has them. Where and since when: below.",
        Unit.COUNT,
        Limits(warn=1.0),
        links=runbook(inputs, "telemetry-loss"),
    )


def _fullest(inputs: BoardInputs) -> Panel:
    size, most = (
        f"max_over_time({chosen(f'otelcol_exporter_queue_{what}', COLLECTORS)}[5m])" for what in ("size", "capacity")
    )
    return stat(
        "Fullest queue",
        f"max({size} / {most})",
        "When it is full, things are thrown away. It fills while a backend is down, slow or read-only.",
        Unit.RATIO,
        Limits(warn=inputs.rules.thresholds.telemetry_queue_high),
        links=runbook(inputs, "telemetry-loss"),
    )


def _withheld(inputs: BoardInputs) -> Panel:
    """Both counts are read one after the other, so a moment may show any difference; minutes do not."""
    withheld = chosen(WITHHELD)
    return stat(
        "Withheld by redaction",
        f"sum(min_over_time({withheld}[3m]) > 0)\nor\n0 * count({withheld})",
        "Since each collector was started: what redaction failed on, and so refused. Nothing goes on unredacted.",
        Unit.COUNT,
        Limits(warn=1.0),
        links=runbook(inputs, "telemetry-redaction"),
        empty=_FIRST,
    )


def _alerts(inputs: BoardInputs) -> Row:
    firing = f'ALERTS{{{FLEET_CHOICE}, alertstate="firing", alertname=~"{_ALERTS}"}}'
    return Row(
        title="Alerts",
        panels=(
            table(
                "Alerts about telemetry",
                f"count by (severity, alertname, signal, cluster) ({firing})",
                "What fires now. Begin with the lowest number of P.",
                empty="no alert about telemetry fires",
                links=runbook(inputs, "README"),
                width=24,
            ),
        ),
    )


def _flow(inputs: BoardInputs) -> Row:
    return Row(
        title="What became of what came in",
        panels=(*(_stages(inputs, signal) for signal in ITEMS), _losses(inputs), _unaccounted(inputs)),
    )


def _stages(inputs: BoardInputs, signal: str) -> Panel:
    rates = chosen("job:telemetry_items:rate5m", f'signal="{signal}"')
    return timeseries(
        f"{_NAMES[signal]} by stage",
        {"{{cluster}} {{job}} {{stage}}": f"sum by (cluster, job, stage) ({rates})"},
        "Agents pass on to the gateway, the gateway to its backends: each exporter and each way in counts. `refused` "
        "waits with whoever sent it, for a while; `filtered` was dropped on purpose; `failed` and `lost` are gone.",
        Unit.PER_SECOND,
        links=runbook(inputs, "telemetry-collector"),
        empty=_FIRST,
        width=8,
    )


def _losses(inputs: BoardInputs) -> Panel:
    by = " by (cluster, job)"
    own = {f"{{{{cluster}}}} {{{{job}}}} {signal}": lost(signal, "5m", by) for signal in ITEMS}
    stores = {
        f"{{{{cluster}}}} {job} {signal}": expr
        for signal in ITEMS
        for job, expr in lost_in_store(signal, "5m", inputs.rules.jobs, by).items()
    }
    return timeseries(
        "Lost within five minutes",
        {**own, **stores},
        "Since when, and by which part. `jaeger` and `victoria-logs` had answered for what they threw away.",
        Unit.COUNT,
        Limits(warn=1.0),
        links=(
            *runbook(inputs, "telemetry-loss"),
            *log_lines(inputs, '"k8s.container.name":="${__field.labels.job}"'),
        ),
    )


def _unaccounted(inputs: BoardInputs) -> Panel:
    """As the alert has it: where queues are empty, everything that was taken must be somewhere."""
    books = chosen(UNACCOUNTED)
    taken = f"increase({chosen('instance:telemetry_taken:items')}[1h])"
    held = f"max_over_time({chosen('otelcol_exporter_queue_size', COLLECTORS)}[15m])"
    empty = f'max by ({INSTANCE}, signal) (label_join({held}, "signal", "", "data_type")) == 0'
    vanished = f"(min_over_time({books}[15m]) - max_over_time({books}[15m] offset 1h))\n/ ({taken} > 0)"
    settled = f"{vanished}\nand on ({INSTANCE}, signal)\n{empty}"
    return timeseries(
        "In nobody's books",
        {"{{cluster}} {{job}} {{signal}}": f"max by (cluster, job, signal) (\n{settled}\n)"},
        "Of what a collector took within the hour: neither sent, nor dropped on purpose, nor counted as lost. Told "
        "while queues are empty, an hour after a start.",
        Unit.RATIO,
        Limits(warn=inputs.rules.thresholds.telemetry_unaccounted_high),
        links=runbook(inputs, "telemetry-loss"),
        empty=_FIRST,
    )
