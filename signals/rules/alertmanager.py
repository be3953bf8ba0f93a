"""Alerts about the way from an alert to a person: from Prometheus to Alertmanager, and from there to the receiver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from signals.rules.expressions import grew
from signals.rules.model import Alert, Group, Severity

if TYPE_CHECKING:
    from signals.rules.inputs import RuleInputs

_SELF = '{job="alertmanager"}'
_PROMETHEUS = '{job="prometheus"}'
_CLUSTER = "cluster, environment"
_WHERE = "{{ $labels.instance }} (cluster {{ $labels.cluster }})"
_RECEIVER = "{{ $labels.integration }}{{ with $labels.receiver_name }} of receiver {{ . }}{{ end }}"


def pipeline_groups(inputs: RuleInputs) -> tuple[Group, ...]:
    """From Prometheus to Alertmanager; nothing where nobody is meant to receive."""
    if not inputs.alert_pipeline:
        return ()
    return (Group(name="plumbline-alerting", rules=(_nobody(), _dropped(), _errors(), _queue())),)


def alertmanager_groups(_: RuleInputs) -> tuple[Group, ...]:
    """Alertmanager itself."""
    state = (_not_saved("nflog", "which notifications were sent"), _not_saved("silences", "the silences"))
    return (
        Group(
            name="plumbline-alertmanager",
            rules=(_reload_failed(), _swallowing(), _failing(), _invalid(), *state),
        ),
    )


def _nobody() -> Alert:
    return Alert(
        alert="AlertingWithoutAlertmanager",
        expr=f"max_over_time(prometheus_notifications_alertmanagers_discovered{_PROMETHEUS}[5m]) < 1",
        wait="5m",
        severity=Severity.P0,
        summary="{{ $labels.instance }} knows no Alertmanager",
        description=f"{_WHERE} has found no Alertmanager for 5 minutes: alerts fire and nobody hears of them. This one "
        "is seen on dashboards, and as the silence of the Watchdog. Likely causes: Alertmanager is down, its Service "
        "or labels were changed, a permission of the discovery is gone.",
        runbook="alerting-pipeline",
    )


def _dropped() -> Alert:
    return Alert(
        alert="AlertingNotificationsDropped",
        expr=grew(f"prometheus_notifications_dropped_total{_PROMETHEUS}", "10m"),
        wait="5m",
        severity=Severity.P1,
        summary="Alerts of {{ $labels.instance }} do not reach Alertmanager",
        description=f"{_WHERE} gave up alerts for {{{{ $labels.alertmanager }}}}. Likely causes: Alertmanager is down "
        "or refuses them, a queue that is full because of a burst of alerts, a network policy in the way.",
        runbook="alerting-pipeline",
    )


def _errors() -> Alert:
    by = f"{_CLUSTER}, instance, alertmanager"
    return Alert(
        alert="AlertingNotificationErrors",
        expr=f"sum by ({by}) (rate(prometheus_notifications_errors_total{_PROMETHEUS}[10m]))\n"
        f"/ sum by ({by}) (rate(prometheus_notifications_sent_total{_PROMETHEUS}[10m]))\n> 0.05",
        wait="10m",
        severity=Severity.P2,
        summary="{{ $labels.alertmanager }} does not take every alert",
        description=f"{_WHERE}: {{{{ $value | humanizePercentage }}}} of the alerts for {{{{ $labels.alertmanager }}}} "
        "fail. Likely causes: it is overloaded or is being restarted, a network policy or certificate in the way.",
        runbook="alerting-pipeline",
    )


def _queue() -> Alert:
    on = f"{_CLUSTER}, job, instance"
    return Alert(
        alert="AlertingQueueNearlyFull",
        expr=f"prometheus_notifications_queue_length{_PROMETHEUS}\n"
        f"/ on ({on}) group_left () prometheus_notifications_queue_capacity{_PROMETHEUS}\n> 0.8",
        wait="5m",
        severity=Severity.P2,
        summary="The queue for {{ $labels.alertmanager }} is nearly full",
        description=f"{_WHERE}: the queue of alerts for {{{{ $labels.alertmanager }}}} is at "
        "{{ $value | humanizePercentage }}. What does not fit is dropped. Likely causes: a burst of alerts, "
        "Alertmanager is slow.",
        runbook="alerting-pipeline",
    )


def _reload_failed() -> Alert:
    return Alert(
        alert="AlertmanagerConfigReloadFailed",
        expr=f"max_over_time(alertmanager_config_last_reload_successful{_SELF}[5m]) == 0",
        wait="5m",
        severity=Severity.P1,
        summary="{{ $labels.instance }} refuses its new configuration",
        description=f"{_WHERE} has run on an older configuration for 10 minutes: alerts may go to people who are no "
        "longer on call. A restart would not come up. Likely causes: a mistake in the routes, a file with an address "
        "or a token that is missing.",
        runbook="alertmanager-config",
    )


def _swallowing() -> Alert:
    return Alert(
        alert="AlertmanagerWithoutReceivers",
        expr=f"max_over_time(alertmanager_integrations{_SELF}[5m]) < 1",
        wait="5m",
        severity=Severity.P0,
        summary="{{ $labels.instance }} tells nobody",
        description=f"{_WHERE} runs on a configuration without a single address: every alert is swallowed. Likely "
        "causes: a fallback configuration because the real one is missing, a Secret that was deleted.",
        runbook="alertmanager-config",
    )


def _failing() -> Alert:
    return Alert(
        alert="AlertmanagerNotificationsFailing",
        expr=grew(f"alertmanager_notifications_failed_total{_SELF}", "10m"),
        wait="5m",
        severity=Severity.P1,
        summary=f"Notifications through {_RECEIVER} fail",
        description=f"{_WHERE} gave up notifications through {_RECEIVER}: {{{{ $labels.reason }}}}. Whoever they were "
        "for has not heard. Likely causes: the receiver is down or not reached, its token or address has changed, a "
        "network policy.",
        runbook="alertmanager-notifications",
    )


def _invalid() -> Alert:
    return Alert(
        alert="AlertmanagerAlertsInvalid",
        expr=grew(f"alertmanager_alerts_invalid_total{_SELF}", "15m"),
        wait="0s",
        severity=Severity.P2,
        summary="{{ $labels.instance }} refuses alerts",
        description=f"{_WHERE} refused alerts that it received; nobody hears of them. Likely causes: a rule whose "
        "labels come out empty or invalid, a sender that is not Prometheus.",
        runbook="alertmanager-notifications",
    )


def _not_saved(what: str, meaning: str) -> Alert:
    return Alert(
        alert="AlertmanagerStateNotSaved",
        expr=grew(f"alertmanager_{what}_maintenance_errors_total{_SELF}", "1h"),
        wait="0s",
        severity=Severity.P3,
        labels={"state": what},
        summary=f"{{{{ $labels.instance }}}} cannot write down {meaning}",
        description=f"{_WHERE} could not write {meaning} to its volume; a restart would forget it. Likely causes: the "
        "volume is full or read-only.",
        runbook="alertmanager-state",
    )
