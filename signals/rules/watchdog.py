"""An alert that always fires. Whoever receives it knows that alerting works, and is alarmed when it stops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from signals.rules.model import Alert, Group, Severity
from signals.rules.routes import WATCHDOG_ALERT, WATCHDOG_LABELS

if TYPE_CHECKING:
    from signals.rules.inputs import RuleInputs


def watchdog_groups(inputs: RuleInputs) -> tuple[Group, ...]:
    """Nothing where nobody is meant to receive.

    It fires while anything is scraped, not always: a Prometheus that records nothing must fall silent too. The
    severity is the mildest, for an Alertmanager that does not know its label for routing.
    """
    if not inputs.alert_pipeline:
        return ()
    alert = Alert(
        alert=WATCHDOG_ALERT,
        expr="count by (cluster, environment) (up == 1) > 0",
        wait="0s",
        severity=Severity.P3,
        labels=WATCHDOG_LABELS,
        summary="Alerting of cluster {{ $labels.cluster }} works",
        description="This alert fires always. The receiver must alarm when it stops coming: then Prometheus, "
        "Alertmanager or the way between them is broken (cluster {{ $labels.cluster }}). Likely causes: none, this is "
        "as it should be.",
        runbook="alerting-watchdog",
    )
    return (Group(name="plumbline-watchdog", rules=(alert,)),)
