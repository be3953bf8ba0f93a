"""The live tests refuse to run on anything but their own state, and remember the machine as it was before."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from sandbox import hosttools
from sandbox.cluster import snapshot
from sandbox.home import find_home
from sandbox.progress import Progress
from tests.live.plumbline import STATE

if TYPE_CHECKING:
    from sandbox.hosttools import HostTools


def pytest_sessionstart() -> None:
    """A live test on the user's own state could destroy data."""
    if os.environ.get("PLUMBLINE_STATE") != STATE:
        pytest.exit("live tests run through `make test`, which gives them a cluster state of their own", returncode=4)


@pytest.fixture(scope="session")
def tools() -> HostTools:
    """Unpacked host tools."""
    return hosttools.ensure(find_home(), Progress())


@pytest.fixture(scope="session")
def machine_before(tools: HostTools) -> dict[str, list[str]]:
    """The machine before anything was started: the first test asks for it first."""
    return snapshot.take(tools)
