"""What a word of the command line comes to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from recovery.errors import DamagedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recovery.model import Point
    from recovery.vault.catalogue import Latest, Listed
    from recovery.vault.vault import Vault

_NAMED, _TOLD = 5, 100
GOOD, BAD, FAILED = 0, 1, 3
"""Exit codes: done and good; done, and the verdict is bad; could not be done. 2 is a wrong command line."""


@dataclass
class Outcome:
    """code: the exit code. lines: for people. facts: for machines. notes: what was got around and must be looked at."""

    code: int = GOOD
    lines: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def newest(vault: Vault, latest: Latest) -> tuple[Point, tuple[Listed, ...]]:
    """The point, and the damaged ones that were passed over. Raises DamagedError if there is none."""
    if latest.point is None:
        if cause := other_key(vault.points()):
            raise DamagedError(cause)
        raise DamagedError(
            f"there is no such restore point, and {len(latest.damaged)} are damaged; look at `list`, and run `create` "
            "and `verify`"
        )
    return vault.point(latest.point.id), latest.damaged


def other_key(points: Sequence[Listed]) -> str | None:
    """What to do where not one manifest fits the signing key, else None: then the key is wrong, and not the points."""
    if not points or not all(one.foreign for one in points):
        return None
    return (
        f"none of the {len(points)} manifests was signed with this key; is it the signing key of another stack or root "
        "secret? Name the one with which they were made as target.signing_key_file: it follows from the root secret "
        "of the stack that made them. Nothing else is known to be wrong with these points: do not delete them"
    )


def tampered(keys: Sequence[str]) -> dict[str, Any]:
    """The same for machines: how many, and the first of them."""
    return {"tampered": len(keys), "tampered_objects": list(keys[:_TOLD])}


def laid_over(keys: Sequence[str]) -> list[str]:
    """What people must read of objects that somebody hid or laid something over; nothing without any."""
    if not keys:
        return []
    named = ", ".join(keys[:_NAMED]) + (f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else "")
    return [
        f"TAMPERED: somebody hid {len(keys)} objects of the target or laid something over them, and what was stored "
        f"first was read: {named}; look for who has a key of the target (runbook recovery-verification)"
    ]


def size(count: float) -> str:
    """Bytes for people."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":  # noqa: PLR2004  # of binary units
            return f"{count:.1f} {unit}" if unit != "B" else f"{count:.0f} B"
        count /= 1024
    return ""
