"""What most tests of the commands need: a home of their own, with a fake engine in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cli.engine import Engine
from sandbox.cluster import ownership
from sandbox.home import Home
from tests.offline.cli.drill_world import World, install
from tests.offline.cli.fakes import FakeEngine

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees this machine's cluster, the user's home, or the user's settings of the engine."""
    for name in ("PLUMBLINE_STATE", "PULUMI_STACK", "PULUMI_BACKEND_URL", "PULUMI_ACCESS_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PLUMBLINE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(ownership, "RUN", tmp_path / "run")
    monkeypatch.setattr(ownership, "LOCK", tmp_path / "run" / "lock")
    monkeypatch.setattr(ownership, "OWNER", tmp_path / "run" / "owner.json")
    (tmp_path / "run").mkdir()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """PLUMBLINE_HOME."""
    return Home(tmp_path / "home")


@pytest.fixture
def pulumi(home: Home) -> FakeEngine:
    """The engine's stand-in."""
    return FakeEngine(home)


@pytest.fixture
def local(home: Home) -> Engine:
    """The engine of stack `local`."""
    return Engine(home, "local", home.state("local"))


@pytest.fixture
def prod(home: Home) -> Engine:
    """The engine of stack `prod`."""
    return Engine(home, "prod", None)


@pytest.fixture
def world(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A healthy stack that can be drilled."""
    made = World(home)
    install(monkeypatch, made, tmp_path / "checkout")
    return made
