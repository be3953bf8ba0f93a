"""Files of a run in the working directory. They go with the run; those of a run that was killed go with the next one.

A run holds a lock on each of its files, and the kernel lets go of it however the run ends. That tells the dead from the
living where a number of a process does not: two containers with one directory have their own numbers.
"""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recovery.ports import Tell

PREFIX: Final = "plumbline-recovery-run-"
"""Of names that nobody else gives: the directory may be one that others use."""


@contextmanager
def temporary(work: Path, purpose: str) -> Iterator[tuple[Path, IO[bytes]]]:
    """An empty file of mode 600 for the length of a block, its path and the file open for both. Raises OSError."""
    handle, path = _made(work, purpose)
    try:
        with os.fdopen(handle, "w+b") as file:
            yield path, file
    finally:
        path.unlink(missing_ok=True)


def _made(work: Path, purpose: str) -> tuple[int, Path]:
    while True:
        handle, name = tempfile.mkstemp(prefix=f"{PREFIX}{purpose}-", dir=work)
        with suppress(OSError):  # a file system without locks: `sweep` gets none either, and leaves everything there
            fcntl.flock(handle, fcntl.LOCK_EX)
        if _is_at(handle, Path(name)):
            return handle, Path(name)
        os.close(handle)  # another run took it for a dead one's, between these two lines


def sweep(work: Path, tell: Tell) -> None:
    """Remove what runs that were killed left there. What another run holds, and what is somebody else's, stays.

    One that cannot be removed is told, and ends nothing.
    """
    for path in sorted(work.glob(f"{PREFIX}*")):
        try:
            removed = _remove(path)
        except FileNotFoundError:
            continue
        except BlockingIOError:
            continue  # its run is alive
        except OSError as error:
            tell(f"{path} may be left of a run that was killed and cannot be removed ({error.strerror}); delete it")
            continue
        if removed:
            tell(f"{path} was left of a run that was killed and is removed")


def _remove(path: Path) -> bool:
    handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            return False
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not _is_at(handle, path):
            return False
        path.unlink()
        return True
    finally:
        os.close(handle)


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except FileNotFoundError:
        return False
