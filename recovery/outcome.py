"""What a word of the command line comes to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from recovery.errors import DamagedError

if TYPE_CHECKING:
    from recovery.model import Point
    from recovery.vault.catalogue import Latest, Listed
    from recovery.vault.vault import Vault

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
        raise DamagedError(
            f"there is no such restore point, and {len(latest.damaged)} are damaged; look at `list`, and run `create` "
            "and `verify`"
        )
    return vault.point(latest.point.id), latest.damaged


def size(count: float) -> str:
    """Bytes for people."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":  # noqa: PLR2004  # of binary units
            return f"{count:.1f} {unit}" if unit != "B" else f"{count:.0f} B"
        count /= 1024
    return ""
