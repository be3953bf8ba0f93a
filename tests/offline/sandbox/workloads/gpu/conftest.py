"""A kubelet, and a node with GPUs, for every test that asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.offline.sandbox.workloads.gpu.fakes import Kubelet, Rig

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def kubelet(tmp_path: Path) -> Iterator[Kubelet]:
    """A kubelet that runs."""
    made = Kubelet(tmp_path)
    made.start()
    yield made
    made.stop()


@pytest.fixture
def rig() -> Rig:
    """A node with two GPUs; the first one is held."""
    return Rig()
