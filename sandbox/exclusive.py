"""One process at a time fills a cache: a second one is told so at once instead of waiting in silence."""

from __future__ import annotations

import fcntl
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sandbox.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def exclusively(directory: Path, work: str) -> Iterator[None]:
    """Hold the lock of a cache directory, which is made if need be. Raises SandboxError when another holds it."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / ".lock").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SandboxError(
                f"another process is {work} in {directory}", "wait for it to end, then run this again"
            ) from error
        yield
