"""One embedded cluster per machine, known to every clone on it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sandbox.cluster import ownership
from sandbox.cluster.ownership import Owner, clear_owner, machine_lock, read_owner, write_owner
from sandbox.errors import SandboxError

OWNER = Owner(Path("/h/state/local"), {"net/ipv4/ip_forward": "0"})


@pytest.fixture(autouse=True)
def run_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place that all clones share."""
    directory = tmp_path / "run"
    monkeypatch.setattr(ownership, "RUN", directory)
    monkeypatch.setattr(ownership, "LOCK", directory / "lock")
    monkeypatch.setattr(ownership, "OWNER", directory / "owner.json")
    return directory


def test_second_holder_is_told_what_the_first_does() -> None:
    with machine_lock("make up"), pytest.raises(SandboxError) as caught, machine_lock("make down"):
        pass
    assert caught.value.what == f"the embedded cluster is in use by another command: make up (process {os.getpid()})"


def test_refused_holder_does_not_end_the_first_ones_hold() -> None:
    with machine_lock("make up"):
        for _ in range(2):
            with pytest.raises(SandboxError, match="make up"), machine_lock("make down"):
                pass


def test_lock_is_free_after_a_failure() -> None:
    with pytest.raises(ValueError, match="broken"), machine_lock("make up"):
        raise ValueError("broken")
    with machine_lock("make down"):
        pass


def test_purpose_of_a_killed_holder_is_not_kept(run_directory: Path) -> None:
    run_directory.mkdir()
    (run_directory / "lock").write_text("make up with a very long purpose (process 1)")
    with machine_lock("make"):
        assert (run_directory / "lock").read_text() == f"make (process {os.getpid()})"


def test_place_that_may_not_be_written_says_what_is_needed(run_directory: Path) -> None:
    run_directory.write_text("a file where the directory should be")
    with pytest.raises(SandboxError, match=r"needs Linux and root\n  next: .*STACK=kind"), machine_lock("make up"):
        pass


def test_record_is_read_as_it_was_written(run_directory: Path) -> None:
    run_directory.mkdir()
    write_owner(OWNER)
    assert read_owner() == OWNER


def test_owner_is_called_by_its_state() -> None:
    assert OWNER.name == "local"


def test_machine_without_a_cluster_has_no_owner() -> None:
    assert read_owner() is None


def test_cleared_record_is_gone(run_directory: Path) -> None:
    run_directory.mkdir()
    write_owner(OWNER)
    clear_owner()
    clear_owner()
    assert read_owner() is None


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "{}", '{"state": 1, "sysctls": {}}', '{"state": "/s"}'])
def test_damaged_record_says_what_to_remove(run_directory: Path, content: str) -> None:
    run_directory.mkdir()
    (run_directory / "owner.json").write_text(content)
    with pytest.raises(SandboxError, match=r"owner\.json is damaged[\s\S]*next: remove .*owner\.json"):
        read_owner()


def test_interrupted_write_leaves_the_old_record(run_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_directory.mkdir()
    write_owner(OWNER)
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write_owner(Owner(Path("/h/state/other"), {}))
    assert read_owner() == OWNER
