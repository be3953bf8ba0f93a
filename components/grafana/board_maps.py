"""Boards in ConfigMaps: as few as hold them, since each takes no more than a megabyte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from components.errors import DeployError
from components.fixed_config import revision_of
from components.rendered import Rendered

if TYPE_CHECKING:
    from collections.abc import Mapping

LARGEST: Final = 900_000
"""Bytes of names and files in one ConfigMap: below what components/policy.py accepts, and the API server after it."""


def packed(files: Mapping[str, str]) -> tuple[Rendered, ...]:
    """File name → JSON, spread in the order of the names. Raises DeployError for a board that fits in none."""
    found: list[dict[str, str]] = []
    room = 0
    for name in sorted(files):
        size = len(name.encode()) + len(files[name].encode())
        if size > LARGEST:
            raise DeployError(
                f"board {name} has {size} bytes, and a ConfigMap takes {LARGEST} of them; accepted: less; fix: make "
                "two boards of it"
            )
        if size > room:
            found.append({})
            room = LARGEST
        found[-1][name] = files[name]
        room -= size
    return tuple(Rendered(files=one, revision=revision_of(one)) for one in found)
