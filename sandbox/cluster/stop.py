"""Stops the embedded cluster and leaves the machine as it was; the state stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sandbox.cluster import network, ownership, remains

if TYPE_CHECKING:
    from sandbox.hosttools import HostTools
    from sandbox.progress import Progress


def stop(tools: HostTools, progress: Progress) -> str:
    """End pods, processes, mounts, links, rules and control groups of the machine's embedded cluster.

    Returns the name of the state that was stopped. The caller holds the lock.
    """
    owner = ownership.read_owner()
    with progress.step("pods and processes"):
        remains.end_everything()
    with progress.step("mounts, links, rules and control groups"):
        remains.remove(owner.state if owner else None, tools)
        if owner is not None:
            network.write_sysctls(owner.sysctls)
        ownership.clear_owner()
    return owner.name if owner else "unknown"
