"""Claims: bound, large enough, and to a volume that exists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smoke.judge.units import quantity
from smoke.model import Problem

if TYPE_CHECKING:
    from stacks.contract import Claim

Json = dict[str, Any]


def bound(claim: Claim, live: Json | None, volume: Json | None) -> list[Problem]:
    """The claim is bound to an existing volume that is bound to this very claim, with at least the asked size."""
    subject = f"claim {claim.name}"
    if live is None:
        return [Problem(subject, "does not exist", "Bound")]
    phase = live.get("status", {}).get("phase", "unknown")
    if phase != "Bound":
        # Lost means that the volume is gone; no controller brings it back.
        return [Problem(subject, f"phase {phase}", "phase Bound", terminal=phase == "Lost")]
    return [*_size(subject, claim, live), *_volume(subject, live, volume)]


def _size(subject: str, claim: Claim, live: Json) -> list[Problem]:
    capacity = live["status"].get("capacity", {}).get("storage", "0")
    if quantity(capacity) >= quantity(claim.size):
        return []
    return [Problem(subject, f"capacity {capacity}", f"at least {claim.size}")]


def _volume(subject: str, live: Json, volume: Json | None) -> list[Problem]:
    name = live["spec"].get("volumeName", "")
    if volume is None:
        return [Problem(subject, f"its volume {name or '?'} does not exist", "an existing volume")]
    owner = (volume["spec"].get("claimRef") or {}).get("uid")
    phase = volume.get("status", {}).get("phase")
    if phase == "Bound" and owner == live["metadata"]["uid"]:
        return []
    return [Problem(f"volume {name}", f"phase {phase}, bound to claim uid {owner}", f"bound to {subject}")]
