"""Declared skips: the only way for a check not to run without making the run red."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from smoke.model import Check, Impact

NO_CAPABILITY = "the stack does not claim the capability"
"""How the reason begins where a stack lacks what a check is about."""


def reason_to_skip(check: Check, capabilities: Collection[str], impact: Impact) -> str | None:
    """Why this check is not for this stack or this run; None if it must run.

    capabilities: those of the contract. impact: the heaviest that the user allowed.
    """
    if check.impact.exceeds(impact):
        return f"its impact is {check.impact}, this run allows {impact}; run `make prove`"
    missing = [need for need in check.needs if need not in capabilities]
    if missing:
        return f"{NO_CAPABILITY} {', '.join(missing)}"
    return None
