"""The embedded side of `local`: programs, host tools, images, cluster, in one call each way."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from sandbox import hosttools
from sandbox.cluster import daemons, facts, ownership, preflight, remains
from sandbox.cluster.start import Cluster, start
from sandbox.cluster.stop import stop
from sandbox.errors import SandboxError
from sandbox.images import build as images
from sandbox.images import materials
from sandbox.programs import build as programs
from sandbox.programs.spec import names

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.home import Home
    from sandbox.progress import Progress


def build(home: Home, progress: Progress) -> None:
    """Make sure that this machine can run a cluster, then build what is missing.

    Needs no lock of the machine: half an hour of compiling must not keep `make smoke` on a running cluster waiting.
    """
    preflight.check_machine(facts.gather(home))
    preflight.check_strangers()
    programs.ensure(home, names(), progress)
    programs.prune(home, names(), progress)
    hosttools.ensure(home, progress)
    materials.ensure(home, progress)


def bring_up(home: Home, state: Path, progress: Progress) -> Cluster:
    """Start the cluster of `state` from what `build` made. The caller holds the machine's lock."""
    tools = hosttools.ensure(home, progress)
    return start(home, state.name, tools, images.ensure(home, tools, progress), progress)


def take_down(home: Home, progress: Progress) -> str | None:
    """Stop whatever embedded cluster the machine has; None when there is none."""
    preflight.check_machine(facts.gather(home))
    if ownership.read_owner() is None and not daemons.marked():
        return None  # a fresh machine need not download tools to learn that there is nothing to stop
    return stop(hosttools.ensure(home, progress), progress)


def delete_state(home: Home, state: Path, progress: Progress) -> None:
    """Stop the cluster if it is of this state, then delete the state directory."""
    owner = ownership.read_owner()
    if (owner is not None and owner.state == state) or daemons.marked(str(state)):
        take_down(home, progress)
    if state.is_dir():
        with progress.step(f"deleting {state}"):
            remains.remove_tree(state)


def delete_caches(home: Home) -> None:
    """Delete programs, tools, images and Go's caches; the Python environment that runs this stays."""
    if ownership.read_owner() is not None:
        raise SandboxError("the embedded cluster runs from the cache", "run make down first")
    for path in (home.programs, home.cache / "engine", home.host_tools, home.images, home.go):
        shutil.rmtree(path, ignore_errors=True)
