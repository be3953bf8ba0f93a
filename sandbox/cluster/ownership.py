"""One embedded cluster per machine: a lock for whoever acts on it, and a record of whose it is.

Both lie at a fixed place outside PLUMBLINE_HOME, since the paths, bridges and chains that a cluster uses are fixed too:
another clone with another home must find them.
"""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sandbox.cluster.layout import LOCK, OWNER, RUN
from sandbox.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Owner:
    """The cluster that was started last on this machine, and kernel settings as they were before.

    sysctls: path below /proc/sys → value to put back at stop. inputs: hash of the command lines and configuration files
    that its processes were started with.
    """

    state: Path
    sysctls: dict[str, str]
    inputs: str = ""

    @property
    def name(self) -> str:
        """Name of the state, for messages."""
        return self.state.name


@contextmanager
def machine_lock(purpose: str) -> Iterator[None]:
    """Hold the machine's lock. Raises SandboxError naming the process that holds it, or when we may not take it."""
    try:
        RUN.mkdir(mode=0o755, parents=True, exist_ok=True)
        LOCK.touch()
    except OSError as error:
        raise SandboxError(
            f"{LOCK} cannot be opened ({error.strerror}); the embedded cluster needs Linux and root",
            "run it as root, or deploy to a cluster that you already have: make up STACK=kind",
        ) from error
    with LOCK.open("a+") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            handle.seek(0)
            raise SandboxError(
                f"the embedded cluster is in use by another command: {handle.read().strip() or 'unknown'}",
                "wait until it ends, or end it, then run this again",
            ) from error
        handle.truncate(0)
        handle.write(f"{purpose} (process {os.getpid()})")
        handle.flush()
        try:
            yield
        finally:
            handle.truncate(0)


def read_owner() -> Owner | None:
    """The record, or None when no cluster has been started since boot or the last one was stopped."""
    try:
        raw = json.loads(OWNER.read_text())
        return Owner(Path(raw["state"]), dict(raw["sysctls"]), str(raw.get("inputs", "")))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise SandboxError(
            f"{OWNER} is damaged ({error})", f"remove {OWNER}, then run the same command again"
        ) from error


def write_owner(owner: Owner) -> None:
    """Write the record atomically."""
    temporary = OWNER.with_suffix(".new")
    temporary.write_text(json.dumps({"state": str(owner.state), "sysctls": owner.sysctls, "inputs": owner.inputs}))
    temporary.replace(OWNER)


def clear_owner() -> None:
    """Remove the record: nothing of a cluster is left on the machine."""
    OWNER.unlink(missing_ok=True)
