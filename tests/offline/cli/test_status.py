"""`status` tells what runs, what does not, and the last verdict."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from cli import deploy, inspect
from sandbox.cluster import commands, daemons, facts
from sandbox.cluster.facts import Process
from tests.offline.cli.fakes import write
from tests.offline.sandbox.fakes import machine

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.home import Home


@pytest.fixture(autouse=True)
def quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without a cluster, and a checkout without reports."""
    monkeypatch.setattr(daemons, "running", lambda _=None: {})
    monkeypatch.setattr(facts, "gather", lambda _: machine(free_gib=42.0))
    monkeypatch.setattr(inspect, "is_whole", lambda _: False)
    monkeypatch.setattr(deploy, "ROOT", tmp_path / "checkout")


def test_cluster_that_does_not_run_is_told(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert inspect.status(home, "local") == 3
    printed = capsys.readouterr().out
    assert printed.count("not running") == len(commands.ALL)
    assert "does not run whole: make up" in printed
    assert "42.0 GiB of disk" in printed


def test_running_cluster_is_told(
    home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {name: Process(4711, 1, name, "m") for name in commands.ALL}
    monkeypatch.setattr(daemons, "running", lambda _=None: found)
    monkeypatch.setattr(inspect, "is_whole", lambda _: True)
    assert inspect.status(home, "local") == 0
    assert capsys.readouterr().out.count("process 4711") == len(commands.ALL)


def test_last_verdict_is_told(home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = {"verdict": "red", "started": "2026-01-05T10:00:00Z"}
    write(tmp_path / "checkout" / ".out" / "local" / "report.json", json.dumps(report))
    inspect.status(home, "local")
    assert "last smoke red at 2026-01-05T10:00:00Z" in capsys.readouterr().out


def test_stack_without_a_report_is_told(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    inspect.status(home, "local")
    assert "last smoke none" in capsys.readouterr().out


def test_stack_elsewhere_has_no_processes_here(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert inspect.status(home, "prod") == 0
    assert "not running" not in capsys.readouterr().out
