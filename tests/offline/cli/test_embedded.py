"""State and caches are deleted only when nothing runs from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cli import embedded
from sandbox import hosttools
from sandbox.cluster import daemons, facts, ownership, preflight
from sandbox.cluster.ownership import Owner
from sandbox.errors import SandboxError
from sandbox.images import materials
from sandbox.programs import build as programs
from sandbox.programs.spec import names
from tests.offline.sandbox.fakes import machine, silent

if TYPE_CHECKING:
    from sandbox.home import Home


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Notes when the cluster is taken down, on a machine where none runs."""
    events: list[str] = []
    monkeypatch.setattr(embedded, "take_down", lambda *_: events.append("down"))
    monkeypatch.setattr(daemons, "marked", lambda _=None: [])
    return events


def delete(home: Home, name: str) -> None:
    """Make the state and delete it."""
    (home.state(name) / "etcd").mkdir(parents=True)
    embedded.delete_state(home, home.state(name), silent()[0])


def test_users_wait_for_no_program_of_the_tests(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[object] = []
    monkeypatch.setattr(facts, "gather", lambda _: machine())
    monkeypatch.setattr(preflight, "check_strangers", lambda: None)
    monkeypatch.setattr(programs, "ensure", lambda _home, wanted, _: built.append(wanted))
    monkeypatch.setattr(programs, "prune", lambda _home, wanted, _: built.append(wanted))
    monkeypatch.setattr(hosttools, "ensure", lambda *_: built.append("tools"))
    monkeypatch.setattr(materials, "ensure", lambda *_: built.append("materials"))
    embedded.build(home, silent()[0])
    assert built == [names(), names(), "tools", "materials"]
    assert "prometheus-operator" not in names()


def test_state_of_a_stopped_cluster_is_deleted(home: Home, stopped: list[str]) -> None:
    delete(home, "local")
    assert not home.state("local").exists()
    assert stopped == []


def test_cluster_of_the_state_is_stopped_first(home: Home, stopped: list[str]) -> None:
    ownership.write_owner(Owner(home.state("local"), {}))
    delete(home, "local")
    assert stopped == ["down"]


def test_cluster_of_another_state_goes_on(home: Home, stopped: list[str]) -> None:
    ownership.write_owner(Owner(home.state("local"), {}))
    delete(home, "test")
    assert stopped == []


def test_processes_without_a_record_are_stopped_too(
    home: Home, stopped: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daemons, "marked", lambda mark=None: ["etcd"] if mark == str(home.state("local")) else [])
    delete(home, "local")
    assert stopped == ["down"]


def test_state_that_is_not_there_is_no_error(home: Home, stopped: list[str]) -> None:
    embedded.delete_state(home, home.state("local"), silent()[0])
    assert stopped == []


def test_machine_without_a_cluster_needs_no_tools_to_stop_it(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "gather", lambda _: machine())
    monkeypatch.setattr(daemons, "marked", list)
    assert embedded.take_down(home, silent()[0]) is None
    assert not home.host_tools.exists()


def test_stray_processes_are_stopped_without_a_record(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "gather", lambda _: machine())
    monkeypatch.setattr(daemons, "marked", lambda: ["a stray process"])
    monkeypatch.setattr(hosttools, "ensure", lambda *_: None)
    monkeypatch.setattr(embedded, "stop", lambda *_: "unknown")
    assert embedded.take_down(home, silent()[0]) == "unknown"


def test_caches_of_a_running_cluster_stay(home: Home) -> None:
    home.programs.mkdir(parents=True)
    ownership.write_owner(Owner(home.state("local"), {}))
    with pytest.raises(SandboxError, match=r"runs from the cache\n  next: run make down first"):
        embedded.delete_caches(home)
    assert home.programs.exists()
