"""Requirements of the CNCF Kubernetes AI Conformance programme, and what a run says of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from smoke.model import Status
from smoke.skips import NO_CAPABILITY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smoke.model import Outcome

PROGRAMME: Final = "CNCF Kubernetes AI Conformance"
ACCELERATORS: Final = "accelerator_metrics"
SERVICES: Final = "ai_service_metrics"


class Standing(StrEnum):
    """What a run has shown of a requirement. Nothing but PROVEN says that it is met."""

    PROVEN = "proven"
    ON_STAND_INS = "proven on stand-ins"
    IN_PART = "proven in part"
    FAILED = "failed"
    NOT_PROVEN = "not proven"
    NOT_HERE = "not on this stack"


@dataclass(frozen=True, kw_only=True)
class Requirement:
    """id: the programme's. meaning: what it asks for. open: what of it no check proves, empty if all is proven."""

    id: str
    meaning: str
    open: str = ""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """reason: why it stands so, in words. checks: those behind it that were accounted for."""

    requirement: Requirement
    standing: Standing
    reason: str
    checks: tuple[Outcome, ...]


REQUIREMENTS: Final = (
    Requirement(
        id=ACCELERATORS,
        meaning="Utilization and memory of each accelerator, and its temperature, power and links where it has them, "
        "at an address that programs can read",
    ),
    Requirement(
        id=SERVICES,
        meaning="Monitoring finds the workloads that expose metrics in a standard format, and collects them",
        open="requests, errors and durations of services are counted from their spans; pages of metrics that inference "
        "servers have of their own are not scraped",
    ),
)


def findings(outcomes: Iterable[Outcome]) -> tuple[Finding, ...]:
    """Every requirement of the programme, in its order."""
    known = list(outcomes)
    return tuple(_finding(one, tuple(o for o in known if one.id in o.conformance)) for one in REQUIREMENTS)


def _finding(requirement: Requirement, checks: tuple[Outcome, ...]) -> Finding:
    standing, reason = _standing(requirement, checks)
    return Finding(requirement=requirement, standing=standing, reason=reason, checks=checks)


def _standing(requirement: Requirement, checks: tuple[Outcome, ...]) -> tuple[Standing, str]:
    """A stack that lacks what the requirement is about neither meets it nor fails it."""
    by_status = {status: [check for check in checks if check.status is status] for status in Status}
    skips = by_status[Status.SKIP]
    lacking = [check for check in skips if check.skip_reason.startswith(NO_CAPABILITY)]
    if not checks:
        return Standing.NOT_PROVEN, "no check of this run is behind it"
    if lacking:
        return Standing.NOT_HERE, _told(lacking)
    if by_status[Status.FAIL]:
        return Standing.FAILED, ", ".join(check.id for check in by_status[Status.FAIL])
    if left_out := [*by_status[Status.NOT_RUN], *skips]:
        return Standing.NOT_PROVEN, _told(left_out)
    if stand_ins := sorted({name for check in checks for name in check.stand_ins}):
        return Standing.ON_STAND_INS, "; ".join(filter(None, [f"on {', '.join(stand_ins)}", requirement.open]))
    return (Standing.IN_PART, requirement.open) if requirement.open else (Standing.PROVEN, "")


def _told(checks: list[Outcome]) -> str:
    return "; ".join(f"{check.id}: {check.skip_reason or check.evidence}" for check in checks)
