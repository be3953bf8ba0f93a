"""Alerts about SwanLab as its gate sees it: parts that do not answer, routes that are open, the licence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from signals.rules.model import Alert, Group, Severity

if TYPE_CHECKING:
    from signals.rules.inputs import RuleInputs

_PART = "cluster, environment, part"
_STATE = "cluster, environment, state"
_INSTALLATION = "cluster, environment"
_VITAL = "server|house|gateway|gateway-api|vector|postgres|redis|clickhouse|s3"
"""Without one of these runs cannot be logged."""
INTERNAL = "gateway-internal|gateway-house-internal"
"""What the gateway must refuse: up is a refusal."""
_UP = "plumbline_swanlab_up"
_WHERE = "SwanLab (cluster {{ $labels.cluster }})"


def swanlab_groups(inputs: RuleInputs) -> tuple[Group, ...]:
    """Every group of this file."""
    parts = (_down(), _pages_down(), _open(), _blind())
    licence = (_expires(inputs.thresholds.swanlab_licence_days_low), _inactive(), _unknown())
    return (Group(name="plumbline-swanlab", rules=parts), Group(name="plumbline-swanlab-licence", rules=licence))


def _share(parts: str, *, among: bool = True) -> str:
    """Of the last five minutes, the share in which a part answered, whichever pod of the gate asked.

    A part that answers only every other time is seen, and a gate that was just replaced begins with no. parts:
    regular expression of names. among: false for every other part.
    """
    return f'avg by ({_PART}) (avg_over_time({_UP}{{part{"=~" if among else "!~"}"{parts}"}}[5m]))'


def _down() -> Alert:
    return Alert(
        alert="SwanlabPartDown",
        expr=f"{_share(_VITAL)}\n< 0.5",
        wait="2m",
        severity=Severity.P1,
        summary="SwanLab's {{ $labels.part }} does not answer",
        description=f"{_WHERE}: its {{{{ $labels.part }}}} answered {{{{ $value | humanizePercentage }}}} of the "
        "gate's questions of the last 5 minutes. Runs cannot begin or end, or what they log waits in their memory. "
        "Likely causes: its pod is down or still starting, a store that it needs is, a claim is full, a password "
        "was changed on one side, a network policy is in the way.",
        runbook="swanlab-part-down",
    )


def _pages_down() -> Alert:
    return Alert(
        alert="SwanlabPagesDown",
        expr=f"{_share(f'{_VITAL}|{INTERNAL}', among=False)}\n< 0.5",
        wait="2m",
        severity=Severity.P2,
        summary="SwanLab's {{ $labels.part }} does not answer",
        description=f"{_WHERE}: its {{{{ $labels.part }}}} answered {{{{ $value | humanizePercentage }}}} of the "
        "gate's questions of the last 5 minutes. Runs are logged; people cannot log in or see them. Likely causes: "
        "its pod is down or still starting, Redis does not answer it.",
        runbook="swanlab-part-down",
    )


def _open() -> Alert:
    """Only while the gateway answers at all: one that is down refuses nothing, and lets nobody in."""
    gateway = f'max by ({_INSTALLATION}) (max_over_time({_UP}{{part="gateway-api"}}[5m])) == 1'
    return Alert(
        alert="SwanlabInternalRouteOpen",
        expr=f"{_share(INTERNAL)}\n< 0.5\nand on ({_INSTALLATION})\n{gateway}",
        wait="2m",
        severity=Severity.P1,
        summary="SwanLab's gateway does not refuse {{ $labels.part }}",
        description=f"{_WHERE}: a route that only its servers may ask among themselves is not refused by the gateway "
        "({{ $labels.part }}). Whoever reaches the gateway may act for the servers. Likely causes: the gateway's "
        "routes were changed or are those of another version.",
        runbook="swanlab-part-down",
    )


def _blind() -> Alert:
    """`absent` keeps no label of the series; `cluster` and `environment` come from the external labels."""
    return Alert(
        alert="SwanlabGateAbsent",
        expr=f"absent({_UP})",
        wait="10m",
        severity=Severity.P2,
        summary="Nobody knows how SwanLab is",
        description="The gate that asks SwanLab's parts has told nothing for 10 minutes: neither a part that is down "
        "nor a licence that ends would be noticed. Likely causes: its pod is gone or not scraped, its image cannot be "
        "pulled, the namespace of SwanLab was deleted.",
        runbook="swanlab-gate",
    )


def _expires(days: float) -> Alert:
    left = f"min by ({_INSTALLATION}) (min_over_time(plumbline_swanlab_licence_days_left[5m]))"
    return Alert(
        alert="SwanlabLicenceExpires",
        expr=f"{left}\n< {days}",
        wait="5m",
        severity=Severity.P2,
        summary="SwanLab's licence ends soon",
        description=f"{_WHERE}: the licence ends in {{{{ $value | humanize }}}} days. Then nobody can log in and "
        "no run begins. Likely causes: it was not renewed, the renewal was not entered.",
        runbook="swanlab-licence",
    )


def _state(states: str) -> str:
    return f'max by ({_STATE}) (max_over_time(plumbline_swanlab_licence_state{{state=~"{states}"}}[5m])) == 1'


def _inactive() -> Alert:
    return Alert(
        alert="SwanlabLicenceInactive",
        expr=_state("inactive|expired"),
        wait="10m",
        severity=Severity.P1,
        summary="SwanLab's licence is {{ $labels.state }}",
        description=f"{_WHERE}: the licence is {{{{ $labels.state }}}}. Nobody can log in and no run begins. Likely "
        "causes: it has ended, the installation was never activated, its database was replaced.",
        runbook="swanlab-licence",
    )


def _unknown() -> Alert:
    return Alert(
        alert="SwanlabLicenceUnknown",
        expr=f'min by ({_INSTALLATION}) (min_over_time(plumbline_swanlab_licence_state{{state="unknown"}}[5m])) == 1',
        wait="1h",
        severity=Severity.P3,
        summary="SwanLab does not tell its licence",
        description=f"{_WHERE}: for an hour nobody knew whether the licence is valid. Likely causes: the server is "
        "down, the API key of the checks is missing or was revoked, the answer has another form in this version.",
        runbook="swanlab-licence",
    )
