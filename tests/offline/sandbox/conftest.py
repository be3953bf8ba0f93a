"""What most tests of the sandbox need: a home of their own and a directory for fake programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sandbox.home import Home
from tests.offline.sandbox.fakes import path_with

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """An empty PLUMBLINE_HOME."""
    return Home(tmp_path / "home")


@pytest.fixture
def fake_bin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that is first on PATH."""
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setenv("PATH", path_with(directory))
    return directory
