"""Rows of the board of alerting about the way of an alert: rules, Prometheus, Alertmanager, receiver, and its proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals.catalogue.pushgateway import PAGE_PROOF
from signals.dashboards.links import runbook
from signals.dashboards.model import Good, Limits, Row, Unit
from signals.dashboards.panels import stat, table, timeseries
from signals.dashboards.variables import chosen
from signals.rules.gpu_labels import FLEET
from signals.rules.routes import PAGE_PROOF_ALERT, PROOF_LABEL

if TYPE_CHECKING:
    from signals.dashboards.inputs import BoardInputs
    from signals.dashboards.model import Link, Panel

_PROMETHEUS: Final = 'job="prometheus"'
_ALERTMANAGER: Final = 'job="alertmanager"'
_SENDER: Final = f"{FLEET}, alertmanager"
_RECEIVER: Final = f"{FLEET}, integration, receiver_name"


def way(inputs: BoardInputs) -> tuple[Row, ...]:
    """In the order in which an alert goes. Nothing behind the rules where nobody is meant to receive."""
    if not inputs.rules.alert_pipeline:
        return (_rules(inputs),)
    return (_rules(inputs), _sending(inputs), _alertmanager(inputs), _deliveries(inputs), _proof(inputs))


def _grown(metric: str, by: str) -> str:
    """Growth in the board's time. Of two that count the same, the one that counted more; whole events.

    Only while somebody counts: what is dead has not failed since.
    """
    each = f"sum by ({by}, instance) (increase({metric}[$__range]))"
    return f"round(sum(max by ({by}) ({each})))\nand\ncount({metric})"


def _rules(inputs: BoardInputs) -> Row:
    failed = chosen("prometheus_rule_evaluation_failures_total", _PROMETHEUS)
    missed = chosen("prometheus_rule_group_iterations_missed_total", _PROMETHEUS)
    group = f"{FLEET}, rule_group"
    last = chosen("prometheus_rule_group_last_evaluation_timestamp_seconds", _PROMETHEUS)
    links = runbook(inputs, "prometheus-rule-failures")
    return Row(
        title="Rules",
        panels=(
            stat(
                "Failed evaluations",
                _grown(failed, group),
                "In the board's time. An alert that is not evaluated never fires.",
                limits=Limits(warn=1),
                links=links,
            ),
            stat(
                "Evaluations left out",
                _grown(missed, group),
                "The one before took too long. Alerts are late by as many intervals.",
                limits=Limits(warn=1),
                links=links,
            ),
            stat(
                "Longest not evaluated",
                f"max(time() - max by ({group}) ({last}))",
                "Of all groups of rules. More than a few minutes: that group stands still.",
                Unit.SECONDS,
                links=links,
            ),
            table(
                "Groups of rules that fail",
                f"round(max by ({group}) (increase({failed}[$__range]))) > 0",
                "In the board's time. The message is in the log of Prometheus and on its page of rules.",
                links=links,
                empty="no evaluation is known to have failed",
            ),
        ),
        needs=frozenset({"prometheus"}),
    )


def _told(what: str) -> str:
    return chosen(f"prometheus_notifications_{what}", _PROMETHEUS)


def _sending(inputs: BoardInputs) -> Row:
    links = runbook(inputs, "alerting-pipeline")
    return Row(
        title="From Prometheus to Alertmanager",
        panels=(
            stat(
                "Alertmanagers found",
                f"min({_told('alertmanagers_discovered')})",
                "By the Prometheus that finds the fewest. At zero alerts fire and nobody hears of them.",
                limits=Limits(warn=1, bad=1, good=Good.HIGH),
                links=links,
            ),
            stat(
                "Alerts given up",
                _grown(_told("dropped_total"), _SENDER),
                "In the board's time. They fired, and nobody has heard of them.",
                limits=Limits(warn=1, bad=1),
                links=links,
                empty="nothing until an Alertmanager is found",
            ),
            *_under_way(links),
        ),
        needs=frozenset({"prometheus"}),
    )


def _under_way(links: tuple[Link, ...]) -> tuple[Panel, ...]:
    sent, errors = (
        f"max by ({_SENDER}) (sum by ({_SENDER}, instance) (rate({_told(what)}[$__rate_interval])))"
        for what in ("sent_total", "errors_total")
    )
    length, capacity = _told("queue_length"), _told("queue_capacity")
    share = (
        f"max by ({_SENDER}) (\n  max by ({_SENDER}, instance) ({length})\n  / on ({FLEET}, instance) group_left ()\n"
        f"  max by ({FLEET}, instance) ({capacity})\n)"
    )
    return (
        timeseries(
            "Alerts on their way",
            {"sent to {{alertmanager}}": sent, "not taken by {{alertmanager}}": errors},
            "By the Prometheus that sends most. What is sent counts repetitions. Not taken is tried again until the "
            "queue is full.",
            Unit.PER_SECOND,
            links=links,
            empty="nothing until an Alertmanager is found",
        ),
        timeseries(
            "Used share of the queue",
            {"{{alertmanager}}": share},
            "What does not fit is thrown away.",
            Unit.RATIO,
            links=links,
            empty="nothing until an Alertmanager is found",
            high=1,
        ),
    )


def _own(what: str, more: str = "") -> str:
    return chosen(f"alertmanager_{what}", _ALERTMANAGER + (f", {more}" if more else ""))


def _configured(inputs: BoardInputs) -> tuple[Panel, ...]:
    configuration = runbook(inputs, "alertmanager-config")
    return (
        stat(
            "Configuration of Alertmanager in force",
            f"min({_own('config_last_reload_successful')})",
            "No: alerts go to the people of an older one, and a restart would not come up. Grey: it is not seen.",
            Unit.YES_OR_NO,
            Limits(warn=1, good=Good.HIGH),
            links=configuration,
        ),
        stat(
            "Addresses that it tells",
            f"min({_own('integrations')})",
            "By the one that has the fewest. At zero every alert is swallowed.",
            limits=Limits(warn=1, bad=1, good=Good.HIGH),
            links=configuration,
        ),
    )


def _alertmanager(inputs: BoardInputs) -> Row:
    active, suppressed = _own("silences", 'state="active"'), _own("alerts", 'state="suppressed"')
    return Row(
        title="Alertmanager",
        panels=(
            *_configured(inputs),
            stat(
                "Active silences",
                f"sum(max by ({FLEET}) ({active}))",
                "Each keeps alerts from being told. One that nobody remembers hides a fault.",
            ),
            stat(
                "Alerts that are held back",
                f"sum(max by ({FLEET}) ({suppressed}))",
                "By a silence, or by another alert that says the same. They fire, and nobody is told.",
            ),
            stat(
                "Alerts refused as invalid",
                _grown(_own("alerts_invalid_total"), FLEET),
                "In the board's time. Nobody hears of them.",
                limits=Limits(warn=1),
                links=runbook(inputs, "alertmanager-notifications"),
            ),
            timeseries(
                "Alerts in Alertmanager",
                {"{{state}}": f"sum by (state) (max by ({FLEET}, state) ({_own('alerts')}))"},
                "Active ones are told, suppressed ones are not.",
            ),
        ),
        needs=frozenset({"alertmanager"}),
    )


def _deliveries(inputs: BoardInputs) -> Row:
    made, failed = (chosen(f"alertmanager_notifications_{what}", _ALERTMANAGER) for what in ("total", "failed_total"))
    links = runbook(inputs, "alertmanager-notifications")
    growth = "sum by (integration, receiver_name) (increase({0}[5m])) > 0"
    return Row(
        title="From Alertmanager to people",
        panels=(
            stat(
                "Notifications",
                _grown(made, _RECEIVER),
                "Attempted in the board's time, the Watchdog's among them. None in hours: nobody is told anything.",
                links=links,
            ),
            stat(
                "Notifications that failed",
                _grown(failed, f"{_RECEIVER}, reason"),
                "Given up in the board's time. Whoever they were for has not heard.",
                limits=Limits(warn=1, bad=1),
                links=links,
            ),
            timeseries(
                "Notifications by receiver",
                {"{{receiver_name}} {{integration}}": growth.format(made)},
                "Attempted in five minutes. The Watchdog's line never ends; where it does, alerting has.",
                links=links,
                empty="nothing until a notification was attempted",
            ),
            timeseries(
                "Failures by receiver",
                {
                    "{{receiver_name}} {{integration}}: {{reason}}": "sum by (integration, receiver_name, reason) "
                    f"(increase({failed}[5m])) > 0"
                },
                "Given up in five minutes. `clientError`: a token or an address. `serverError`: the receiver.",
                links=links,
                empty="no notification is known to have failed",
            ),
        ),
        needs=frozenset({"alertmanager"}),
    )


def _proof(inputs: BoardInputs) -> Row:
    links = runbook(inputs, "alerting-page-proof")
    proven = chosen("ALERTS", f'alertstate="firing", alertname="{PAGE_PROOF_ALERT}"')
    asked = f"max by ({FLEET}, severity, {PROOF_LABEL}) ({chosen(PAGE_PROOF)}) == 1"
    return Row(
        title="Proof of pages",
        panels=(
            table(
                "Proofs under way",
                asked,
                "Pages that the smoke suite has set off and not taken back. One that stays was left behind by a run "
                "that was killed.",
                Unit.YES_OR_NO,
                links=links,
                empty="nothing until smoke proves a page or the labels of what is pushed",
            ),
            timeseries(
                "Proofs over time",
                {"{{severity}}": f"count by (severity) ({proven})"},
                "When a page of each severity was last set off. Whether it arrived stands in the suite's report.",
                links=links,
                empty="nothing until smoke proves a page",
            ),
        ),
        needs=frozenset({"pushgateway"}),
    )
