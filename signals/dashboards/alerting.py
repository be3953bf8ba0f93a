"""Alerting: what fires and since when, and whether anybody hears of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals.dashboards.alerting_way import way
from signals.dashboards.firing import alerts, held, number
from signals.dashboards.links import runbook
from signals.dashboards.model import Board, Limits, Panel, Row, Unit
from signals.dashboards.panels import stat, table, timeseries
from signals.dashboards.variables import CLUSTER, ENVIRONMENT, chosen, of_jobs
from signals.rules.gpu_labels import FLEET
from signals.rules.routes import WATCHDOG_ALERT

if TYPE_CHECKING:
    from signals.dashboards.inputs import BoardInputs

UID: Final = "plumbline-alerting"
FIRING: Final = "Firing"
"""Title of the panel that lists them."""
_MEANINGS: Final = {
    "P0": "Answer within five minutes. The installation as a whole, or the way of alerts themselves.",
    "P1": "Answer within a quarter of an hour. Work stands still, or data is in danger.",
    "P2": "Answer within the hour. Something is broken and does not hold up work yet.",
    "P3": "Answer on a working day.",
}


def alerting(inputs: BoardInputs) -> Board:
    """From what fires to the last person who should have heard of it."""
    return Board(
        uid=UID,
        title="Alerting",
        meaning="What fires and since when, and whether alerts reach their receivers.",
        rows=(_firing(inputs), *way(inputs)),
        variables=(CLUSTER, ENVIRONMENT),
    )


def _firing(inputs: BoardInputs) -> Row:
    numbers = tuple(
        stat(f"{severity} that fire", number(f'severity="{severity}"'), meaning, limits=_limits(severity))
        for severity, meaning in _MEANINGS.items()
    )
    watchdogs = (_without_watchdog(inputs),) if inputs.rules.alert_pipeline else ()
    return Row(
        title="What fires",
        panels=(
            *numbers,
            *watchdogs,
            table(
                FIRING,
                held(),
                "For how long its condition has held, the oldest first, which is often the cause of the others. Each "
                "alert's own runbook is in its message and in docs/runbooks.",
                Unit.SECONDS,
                empty="no alert is known to fire",
            ),
            table(
                "About to fire",
                held(state="pending"),
                "Their condition holds, and their wait is not over.",
                Unit.SECONDS,
                empty="no alert is known to be about to fire",
            ),
            timeseries(
                "Firing by severity",
                {"{{severity}}": f"count by (severity) ({alerts()})"},
                "When it began. A gap in everything, with nobody at work: rules were not evaluated.",
                empty="no alert is known to have fired",
            ),
            timeseries(
                "Firing by alert",
                {"{{alertname}}": f"count by (alertname) ({alerts()})"},
                "One that comes and goes wakes people for nothing: its limit or its wait is wrong, or the fault is.",
                empty="no alert is known to have fired",
            ),
        ),
    )


def _limits(severity: str) -> Limits:
    """Red where somebody is woken."""
    return Limits(warn=1, bad=1 if severity in ("P0", "P1") else None)


def _without_watchdog(inputs: BoardInputs) -> Panel:
    """No watchdog is red. Only where nothing is scraped at all is there no number."""
    clusters = f"count(count by ({FLEET}) ({chosen('up', of_jobs(inputs.rules.jobs))}))"
    found = chosen("ALERTS", f'alertstate="firing", alertname="{WATCHDOG_ALERT}"')
    return stat(
        "Clusters without a Watchdog",
        f"{clusters}\n- (count(count by ({FLEET}) ({found})) or vector(0))",
        "The alert that always fires. Without it, no rule is evaluated there or nothing is up. That it still arrives, "
        "only its receiver knows.",
        limits=Limits(warn=1, bad=1),
        links=runbook(inputs, "alerting-watchdog"),
    )
