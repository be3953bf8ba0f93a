"""The embedded side of `local`: programs, host tools, images, cluster, in one call each way."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from sandbox import hosttools
from sandbox.cluster import facts, ownership, preflight, remains
from sandbox.cluster.start import Cluster, start
from sandbox.cluster.stop import stop
from sandbox.errors import SandboxError
from sandbox.images import build as images
from sandbox.programs import build as programs
from sandbox.programs.spec import catalogue

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.home import Home
    from sandbox.progress import Progress


def bring_up(home: Home, state: Path, progress: Progress) -> Cluster:
    """Build what is missing and start the cluster of `state`. The caller holds the machine's lock."""
    preflight.check_machine(facts.gather(home))
    preflight.check_strangers()
    programs.ensure(home, list(catalogue()[1]), progress)
    tools = hosttools.ensure(home, progress)
    return start(home, state.name, tools, images.ensure(home, tools, progress), progress)


def take_down(home: Home, progress: Progress) -> str | None:
    """Stop whatever embedded cluster the machine has; None when there is none."""
    preflight.check_machine(facts.gather(home))
    return stop(hosttools.ensure(home, progress), progress)


def delete_state(home: Home, state: Path, progress: Progress) -> None:
    """Stop the cluster if it is of this state, then delete the state directory."""
    owner = ownership.read_owner()
    if owner is not None and owner.state == state:
        take_down(home, progress)
    if state.is_dir():
        with progress.step(f"deleting {state}"):
            remains.remove_tree(state)


def delete_caches(home: Home) -> None:
    """Delete programs, tools, images and Go's caches; the Python environment that runs this stays."""
    if ownership.read_owner() is not None:
        raise SandboxError("the embedded cluster runs from the cache", "run make down first")
    for path in (home.programs, home.host_tools, home.images, home.go):
        shutil.rmtree(path, ignore_errors=True)
