"""Where things lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.errors import SandboxError
from sandbox.home import Home, find_home


def test_home_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLUMBLINE_HOME", "/srv/plumbline")
    assert find_home().root == Path("/srv/plumbline")


def test_relative_home_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLUMBLINE_HOME", "plumbline")
    with pytest.raises(SandboxError, match="'plumbline', not an absolute path"):
        find_home()


def test_home_of_root_is_the_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLUMBLINE_HOME", raising=False)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert find_home().root == Path("/var/lib/plumbline")


def test_home_of_a_user_is_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLUMBLINE_HOME", raising=False)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setenv("HOME", "/home/ada")
    assert find_home().root == Path("/home/ada/.local/share/plumbline")


@pytest.mark.parametrize("name", ["", "..", "a/b", "a.b", "ä", "a b"])
def test_state_name_that_leads_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(SandboxError, match="is not accepted"):
        Home(Path("/h")).state(name)


def test_states_lie_side_by_side() -> None:
    assert Home(Path("/h")).state("test-2") == Path("/h/state/test-2")
