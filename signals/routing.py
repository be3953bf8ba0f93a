"""Who is told, how soon and how often: Alertmanager's tree of routes and its inhibition rules, as data.

Spelt as Alertmanager 0.31 reads it. One branch per severity, each to a receiver of its own; a branch for the Watchdog;
and below each severity one for the proof of its page, which differs in timing alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from signals.rules.model import Severity
from signals.rules.routes import PAGE_PROOF_ALERT, PROOF_LABEL, ROUTE_LABEL, WATCHDOG_LABELS

if TYPE_CHECKING:
    from collections.abc import Mapping

Json = dict[str, Any]

WATCHDOG = WATCHDOG_LABELS[ROUTE_LABEL]
RECEIVERS: tuple[str, ...] = (*(severity.value for severity in Severity), WATCHDOG)
"""Keys that `route` needs a receiver for."""

UNKNOWN = Severity.P1
"""Branch for an alert without a known severity: it must page somebody, and a person then finds out how bad it is."""

GROUP_BY: tuple[str, ...] = ("alertname", "cluster", "namespace", "node")

CONSEQUENCES_OF_A_LOST_NODE: tuple[str, ...] = (
    "GpuNodeWithoutSeries",
    "NodeUnderPressure",
    "ScrapeTargetDown",
)
"""Alerts that say nothing which `NodeNotReady` or `NodeGone` of the same node does not say. What may be the cause of a
lost node (a GPU error, a full disk, a link) is not among them, and never may be."""


@dataclass(frozen=True, kw_only=True)
class Rhythm:
    """Times of one branch, as Alertmanager defines them. All are Prometheus durations.

    wait: from the first alert of a group until it is told. interval: until alerts that joined the group are told.
    repeat: until a group that has not changed is told again.
    """

    wait: str
    interval: str
    repeat: str

    def render(self) -> Json:
        """Keys of a route."""
        return {"group_wait": self.wait, "group_interval": self.interval, "repeat_interval": self.repeat}


RHYTHMS: dict[Severity, Rhythm] = {
    Severity.P0: Rhythm(wait="5s", interval="1m", repeat="15m"),
    Severity.P1: Rhythm(wait="30s", interval="5m", repeat="1h"),
    Severity.P2: Rhythm(wait="2m", interval="15m", repeat="8h"),
    Severity.P3: Rhythm(wait="10m", interval="1h", repeat="3d"),
}
"""Waiting takes at most a thirtieth of the time to respond (5 min, 15 min, 1 h, a working day). What still fires is
told again when a response is well overdue: P0 after three times its own, the others later, P3 within the week."""

_PROOF = Rhythm(wait="1s", interval="5s", repeat="1h")
_WATCHDOG = Rhythm(wait="0s", interval="1m", repeat="1m")


def route(receivers: Mapping[str, str]) -> Json:
    """The whole tree. receivers: each of RECEIVERS → name of a receiver. Raises ValueError if one is missing.

    The root catches what no branch takes, so an alert with a severity that is misspelt or missing still pages.
    """
    missing = [name for name in RECEIVERS if not receivers.get(name)]
    if missing:
        raise ValueError(
            f"no receiver for {', '.join(missing)}; needed is one for each of {', '.join(RECEIVERS)}: "
            "an alert that nobody receives is worse than none"
        )
    return {
        "receiver": receivers[UNKNOWN.value],
        "group_by": list(GROUP_BY),
        **RHYTHMS[UNKNOWN].render(),
        "routes": [_watchdog(receivers[WATCHDOG]), *(_branch(severity, receivers) for severity in Severity)],
    }


def _watchdog(receiver: str) -> Json:
    return {
        "receiver": receiver,
        "matchers": [f'{ROUTE_LABEL}="{WATCHDOG}"'],
        "group_by": ["alertname", "cluster"],
        **_WATCHDOG.render(),
    }


def _branch(severity: Severity, receivers: Mapping[str, str]) -> Json:
    receiver = receivers[severity.value]
    proof = {
        "receiver": receiver,
        "matchers": [f'alertname="{PAGE_PROOF_ALERT}"'],
        "group_by": ["cluster", PROOF_LABEL],
        **_PROOF.render(),
    }
    return {
        "receiver": receiver,
        "matchers": [f'severity="{severity.value}"'],
        "group_by": list(GROUP_BY),
        **RHYTHMS[severity].render(),
        "routes": [proof],
    }


def inhibit_rules() -> list[Json]:
    """Which alerts are not told while another one fires.

    Targets are named one by one and share every label that says what they are about, so that no rule hides a fault of
    another object. A rule "P0 hides P1 of the same alert and node" is left out on purpose: it would hide a second GPU.
    """
    return [
        _rule('alertname=~"NodeNotReady|NodeGone"', "|".join(CONSEQUENCES_OF_A_LOST_NODE), ("cluster", "node")),
        _rule('alertname="ScrapeJobAbsent"', "ScrapeTargetDown", ("cluster", "environment", "job")),
        _rule(
            'alertname="NodeFilesystemNearlyFull"',
            "NodeFilesystemFillingUp",
            ("cluster", "node", "device", "mountpoint"),
        ),
        _rule('alertname="NodeRdmaLinkDown"', "NodeRdmaErrors|NodeRdmaTimeouts", ("cluster", "node", "device", "port")),
        _rule('alertname="SeriesBudgetExceeded"', "SeriesBudgetNearlySpent", ("cluster", "environment", "job")),
        _rule(
            'alertname="AlertingNotificationsDropped"',
            "AlertingNotificationErrors|AlertingQueueNearlyFull",
            ("cluster", "instance", "alertmanager"),
        ),
    ]


def _rule(source: str, targets: str, equal: tuple[str, ...]) -> Json:
    """One rule. The source must carry the labels: one that is missing on both sides would count as equal."""
    present = [f'{label}!=""' for label in equal if label not in ("cluster", "environment")]
    return {
        "source_matchers": [source, *present],
        "target_matchers": [f'alertname=~"{targets}"'],
        "equal": list(equal),
    }
