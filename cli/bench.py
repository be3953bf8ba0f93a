"""`bench`: how long each stage takes on this machine, measured by running it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sandbox.home import Home
    from sandbox.progress import Progress


def bench(home: Home, progress: Progress) -> int:
    """Placeholder until the skeleton stands."""
    raise NotImplementedError((home, progress))
