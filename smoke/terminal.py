"""What a person sees while and after smoke runs."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

from smoke.model import Status, Tier
from smoke.redact import redact

if TYPE_CHECKING:
    from pathlib import Path

    from smoke.model import Check, Outcome, Run

WIDTH = 32


def ended(check_id: str, status: Status, seconds: float, told: str) -> None:
    """One line for a check that has just ended."""
    note = f"  ({told})" if status is Status.SKIP else ""
    say(f"{status:<8} {check_id:<{WIDTH}} {seconds:6.1f} s{note}")


def summary(run: Run, report: Path) -> None:
    """Failures with what to do, faults of the run, the verdict, and where the report is."""
    for outcome in run.outcomes:
        if outcome.status is Status.FAIL:
            _failure(outcome)
    for fault in run.faults:
        say(f"\nfault of the run: {redact(fault)}")
    if run.interrupted:
        say("\ninterrupted")
    say(f"\n{headline(run)}")
    say(f"report: {report}")


def headline(run: Run) -> str:
    """The verdict in one line, with the number of claims that were proven only on a stand-in."""
    count = {status: sum(1 for o in run.outcomes if o.status is status) for status in Status}
    partly = " (a selection of the checks)" if run.selected else ""
    return (
        f"{run.verdict}{partly}: {count[Status.PASS]} passed, {count[Status.FAIL]} failed, "
        f"{count[Status.NOT_RUN]} not run, {count[Status.SKIP]} skipped as declared; {_stand_ins(run)}"
    )


def _stand_ins(run: Run) -> str:
    """Passed claims that were proven only on a stand-in, by component, and those of which a part was."""
    passed = [o for o in run.outcomes if o.status is Status.PASS]
    only = [o for o in passed if o.tier == Tier.SIMULATED]
    counted = Counter(name for o in only for name in o.stand_ins)
    whose = ", ".join(f"{name} {count}" for name, count in sorted(counted.items()))
    partly = [o for o in passed if o.stand_ins and o not in only]
    names = ", ".join(sorted({name for o in partly for name in o.stand_ins}))
    told = f"{len(only)} of {len(passed)} proven only on a stand-in{f' ({whose})' if whose else ''}"
    return told + (f", {len(partly)} in part ({names})" if partly else "")


def listing(checks: list[Check]) -> None:
    """All checks with their claims."""
    for check in checks:
        say(f"{check.id:<{WIDTH}} {check.requirement:<4} {check.impact:<10} {check.claim}")


def say(text: str) -> None:
    """Print and flush: a line is worth most while the run still goes on."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def complain(text: str) -> None:
    """Print to standard error."""
    sys.stderr.write(f"smoke: {text}\n")


def _failure(outcome: Outcome) -> None:
    say(f"\n{outcome.id} failed. Its claim: {outcome.claim}")
    for line in outcome.evidence.splitlines():
        say(f"    {line}")
    say(f"    what to do: {outcome.remedy}")
