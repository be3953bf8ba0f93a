"""Alerts as boards ask for them: those that name no cluster too, and no zero that nobody has judged."""

from __future__ import annotations

from typing import Final

from signals.dashboards.variables import chosen
from signals.rules.routes import PAGE_PROOF_ALERT, WATCHDOG_ALERT

TOLD: Final = 'cluster=~"$cluster|", environment=~"$environment|"'
"""Matchers of alerts. One that something is absent has no label of a cluster in Prometheus, whichever is chosen."""
JUDGED: Final = f"0 * sum({chosen('job:up:avg')})"
"""Zero while rules are evaluated over what is scraped; nothing where no rule has looked."""
PAGES: Final = 'severity=~"P0|P1"'
_REAL: Final = f'alertname!~"{WATCHDOG_ALERT}|{PAGE_PROOF_ALERT}"'
"""Without the two that say that alerting works."""
_SHOWN: Final = "severity, alertname, cluster, namespace, node, pod, job, instance"


def alerts(more: str = "", state: str = "firing") -> str:
    """The series of alerts in a state, without those that prove alerting. more: further matchers."""
    return f'ALERTS{{{TOLD}, alertstate="{state}", {_REAL}{", " + more if more else ""}}}'


def number(more: str = "") -> str:
    """How many fire: 0 for none, and nothing where nobody knows."""
    return f"count({alerts(more)})\nor\n{JUDGED}"


def held(more: str = "", state: str = "firing") -> str:
    """Each of them with the seconds for which its condition has held, the oldest first."""
    began = f"ALERTS_FOR_STATE{{{TOLD}}}\n    and ignoring (alertstate)\n    {alerts(more, state)}"
    return f"sort_desc(\n  time() - min by ({_SHOWN}) (\n    {began}\n  )\n)"
