"""Stops the embedded cluster and leaves the machine as it was; the state stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sandbox.cluster import remains

if TYPE_CHECKING:
    from sandbox.hosttools import HostTools
    from sandbox.progress import Progress


def stop(tools: HostTools, progress: Progress) -> str:
    """End pods, processes, mounts, links, rules and control groups of the machine's embedded cluster.

    Returns the name of the state that was stopped. The caller holds the lock.
    """
    with progress.step("pods and processes"):
        remains.end_everything()
    with progress.step("mounts, links, rules and control groups"):
        return remains.give_back(tools) or "unknown"
