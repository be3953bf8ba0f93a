"""Alerts about what jobs push. The Pushgateway never forgets: a success that was pushed once stays a success."""

from __future__ import annotations

from typing import TYPE_CHECKING

from signals.pushed_jobs import JOB_PERIOD, JOB_SUCCESS
from signals.rules.expressions import grew
from signals.rules.model import Alert, Group, Severity

if TYPE_CHECKING:
    from signals.rules.inputs import RuleInputs

_GROUP = "cluster, environment, job, instance"
_WHERE = "Job {{ $labels.job }}{{ with $labels.instance }}, instance {{ . }}{{ end }} (cluster {{ $labels.cluster }})"


def pushgateway_groups(inputs: RuleInputs) -> tuple[Group, ...]:
    """Every group of this file."""
    overdue = _overdue(inputs.thresholds.job_overdue_periods)
    return (Group(name="plumbline-pushgateway", rules=(_push_refused(), _requests_refused(), overdue, *_promises())),)


def _push_refused() -> Alert:
    """Compared with the last success of the same group, so that the next good push ends it."""
    return Alert(
        alert="PushgatewayPushRefused",
        expr="push_failure_time_seconds > push_time_seconds",
        wait="1m",
        severity=Severity.P2,
        summary="The last push of job {{ $labels.job }} was refused",
        description=f"{_WHERE}: its last push was refused, so what the Pushgateway shows of it is older. Likely "
        "causes: a metric with a timestamp, one that another group has with another type, the same series twice.",
        runbook="pushgateway-push",
    )


def _requests_refused() -> Alert:
    """A body that cannot be parsed is refused before its group is known."""
    return Alert(
        alert="PushgatewayRequestsRefused",
        expr=grew('pushgateway_http_requests_total{job="pushgateway", code=~"4..|5.."}', "15m"),
        wait="0s",
        severity=Severity.P3,
        summary="The Pushgateway refuses requests ({{ $labels.code }})",
        description="{{ $labels.instance }} (cluster {{ $labels.cluster }}) answered {{ $labels.code }} to requests of "
        "kind {{ $labels.handler }}. Likely causes: a body that is not in Prometheus' text format, a missing line end, "
        "a path without a job, a full volume.",
        runbook="pushgateway-push",
    )


def _overdue(periods: float) -> Alert:
    """0 means never, and is no time in 1970. Both sides are made unique: a group may carry further labels."""
    success = f"max by ({_GROUP}) ({JOB_SUCCESS} > 0)"
    return Alert(
        alert="PushedJobOverdue",
        expr=f"(time() - {success})\n/ max by ({_GROUP}) ({JOB_PERIOD} > 0)\n> {periods}",
        wait="1m",
        severity=Severity.P2,
        summary="Job {{ $labels.job }} has not succeeded for too long",
        description=f"{_WHERE} last succeeded {{{{ $value | humanize }}}} of its own periods ago. Likely causes: it "
        "fails, it is suspended or is no longer started, it succeeds and cannot push.",
        runbook="pushgateway-job",
    )


def _promises() -> tuple[Alert, ...]:
    period = f"max by ({_GROUP}) ({JOB_PERIOD} > 0)"
    return (
        Alert(
            alert="PushedJobWithoutSuccess",
            expr=f"{period}\nunless\nmax by ({_GROUP}) ({JOB_SUCCESS} > 0)",
            wait="1h",
            severity=Severity.P2,
            summary="Job {{ $labels.job }} promises a period and shows no success",
            description=f"{_WHERE} means to succeed every {{{{ $value | humanizeDuration }}}} and shows no success at "
            "all. Likely causes: it has never succeeded, or a later push with PUT replaced the whole group and wiped "
            "the success away (push with POST).",
            runbook="pushgateway-job",
        ),
        Alert(
            alert="PushedJobGone",
            expr=f"max by ({_GROUP}) (max_over_time({JOB_PERIOD}[1d]))\nunless\nmax by ({_GROUP}) ({JOB_PERIOD})",
            wait="15m",
            severity=Severity.P2,
            summary="Job {{ $labels.job }} is no longer known to the Pushgateway",
            description=f"{_WHERE} pushed within the last day, and its group is gone: nothing watches it any more. "
            "Likely causes: the group was deleted, the Pushgateway lost its volume or is down.",
            runbook="pushgateway-job",
        ),
    )
