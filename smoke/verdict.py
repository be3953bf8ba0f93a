"""From what pytest said and what was counted to one verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smoke.model import Impact, Outcome, Status
from smoke.redact import bounded
from smoke.skips import reason_to_skip

if TYPE_CHECKING:
    from collections.abc import Collection

    from smoke.model import Check
    from smoke.plugin import Accounting
    from stacks.contract import Contract

OK, TESTS_FAILED, INTERRUPTED, INTERNAL, USAGE, NOTHING_COLLECTED = range(6)
MEANING = {
    INTERRUPTED: "interrupted",
    INTERNAL: "an internal error",
    USAGE: "a usage error",
    NOTHING_COLLECTED: "no checks collected",
}
SIMULATED = "simulated"
NOT_SELECTED = "not selected by --only"


def outcomes(accounting: Accounting, contract: Contract, only: Collection[str]) -> list[Outcome]:
    """One outcome for every check that ran, was expected or was collected, in the registry's order."""
    seen = dict.fromkeys([*accounting.results, *accounting.collected, *required(accounting, contract)])
    ordered = [known for known in accounting.registry if known in seen]
    unknown = [known for known in seen if known not in accounting.registry]
    return [_outcome(check_id, accounting, contract, only) for check_id in [*ordered, *unknown]]


def faults(accounting: Accounting, contract: Contract, found: list[Outcome], exit_code: int) -> list[str]:
    """Why the run itself cannot be trusted. Empty for a run that can."""
    lines = list(accounting.faults)
    failed = any(outcome.status is Status.FAIL for outcome in found)
    if exit_code not in (OK, TESTS_FAILED) and not accounting.interrupted:
        lines.append(f"pytest ended with exit code {exit_code}: {MEANING.get(exit_code, 'unknown')}")
    if exit_code == TESTS_FAILED and not failed:
        lines.append("pytest reports a failure that no check accounts for")
    if exit_code == OK and failed:
        lines.append("pytest reports success although a check failed")
    if not accounting.collected:
        lines.append("zero checks were collected")
    elif not any(outcome.status is Status.PASS for outcome in found):
        lines.append("no check passed")
    lines += _expected(accounting, contract, found)
    return lines


def required(accounting: Accounting, contract: Contract) -> list[str]:
    """Ids that must run: those of the contract, and the disruptive ones when they were asked for and are possible."""
    asked = [
        check.id
        for check in accounting.registry.values()
        if check.impact is Impact.DISRUPTIVE and reason_to_skip(check, contract.capabilities, accounting.impact) is None
    ]
    return list(dict.fromkeys([*contract.expected_checks, *asked]))


def _expected(accounting: Accounting, contract: Contract, found: list[Outcome]) -> list[str]:
    """Expected checks that did not run. One whose impact was not allowed this time is no fault."""
    status = {outcome.id: outcome for outcome in found}
    lines = [] if contract.expected_checks else ["the contract expects no checks at all"]
    missing = []
    for check_id in required(accounting, contract):
        check = accounting.registry.get(check_id)
        if check is None:
            lines.append(f"expected check {check_id} is unknown to this smoke suite")
        elif status[check_id].status is Status.NOT_RUN:
            missing.append(check_id)
        elif status[check_id].status is Status.SKIP and _contradicts(check, contract, accounting.impact):
            lines.append(f"expected check {check_id} was skipped: {status[check_id].skip_reason}")
    return [*lines, f"expected checks did not run: {', '.join(missing)}"] if missing else lines


def _contradicts(check: Check, contract: Contract, impact: Impact) -> bool:
    """A contract that expects a check and withholds its capability: one of the two is wrong, so neither is believed."""
    return not check.impact.exceeds(impact) and any(need not in contract.capabilities for need in check.needs)


def _outcome(check_id: str, accounting: Accounting, contract: Contract, only: Collection[str]) -> Outcome:
    check = accounting.registry.get(check_id)
    status, seconds, told = accounting.results.get(check_id) or _left_out(check_id, check, accounting, only)
    skipped = status is Status.SKIP
    return Outcome(
        id=check_id,
        requirement=check.requirement if check else "unknown",
        claim=check.claim if check else "unknown to this smoke suite",
        tier=_tier(check, contract),
        stand_ins=_stand_ins(check, contract),
        component=(check.component or "") if check else "",
        conformance=check.conformance if check else (),
        impact=check.impact if check else "unknown",
        status=status,
        seconds=round(seconds, 3),
        evidence="" if skipped else bounded(told),
        remedy=check.remedy if check else "use the smoke suite of the version that wrote the contract",
        skip_reason=bounded(told) if skipped else "",
    )


def _left_out(
    check_id: str, check: Check | None, accounting: Accounting, only: Collection[str]
) -> tuple[Status, float, str]:
    if check and only and check_id not in only:
        return Status.SKIP, 0.0, NOT_SELECTED
    if check_id not in accounting.collected:
        return Status.NOT_RUN, 0.0, "no test of the suite carries this id"
    return Status.NOT_RUN, 0.0, "the run ended before it"


def _tier(check: Check | None, contract: Contract) -> str:
    if check is None:
        return "unknown"
    component = contract.components.get(check.component) if check.component else None
    return component.tier if component else check.tier


def _stand_ins(check: Check | None, contract: Contract) -> tuple[str, ...]:
    """Components of tier simulated that the claim rests on."""
    if check is None:
        return ()
    simulated = sorted(name for name, component in contract.components.items() if component.tier == SIMULATED)
    return tuple(name for name in simulated if check.spans or name == check.component)
