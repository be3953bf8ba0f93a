"""`make evidence` runs the right program against the right stack, and hands its exit code on."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cli import deploy, evidence, stackfile
from cli.words import _parse
from sandbox.errors import SandboxError
from sandbox.home import Home

HOME = Home(Path("/home-of-tests"))
WORDS = evidence.Words(run="r-42", step="40", alert="none", window="60s", since="7d")


class Played:
    """Stands for the engine, the stack file and the program that is started."""

    def __init__(self) -> None:
        self.argv: list[str] = []
        self.config: dict[str, Any] = {}
        self.code = 0

    def run(self, argv: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        self.argv = argv
        return subprocess.CompletedProcess(argv, self.code)


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Played:
    """Nothing real is touched."""
    fake = Played()
    engine = SimpleNamespace(config_file=Path("/stack.yaml"), environment=lambda: {"KUBECONFIG": "/kc"})
    monkeypatch.setattr(evidence, "engine_for", lambda *_: engine)
    monkeypatch.setattr(deploy, "require_running", lambda _: None)
    monkeypatch.setattr(deploy, "out_directory", lambda _: Path("/out"))
    monkeypatch.setattr(deploy, "write_contract", lambda _, out: out / "contract.json")
    monkeypatch.setattr(stackfile, "config", lambda _: fake.config)
    monkeypatch.setattr(subprocess, "run", fake.run)
    return fake


@pytest.mark.parametrize("code", [0, 2, 3, 4])
def test_exit_code_is_that_of_the_program(played: Played, code: int) -> None:
    played.code = code
    assert evidence.evidence(HOME, "local", WORDS) == code
    assert played.argv[1:] == [
        *("-m", "smoke.run_evidence", "--contract", "/out/contract.json", "--out", "/out"),
        *("--run=r-42", "--step=40", "--alert=none", "--window=60s", "--since=7d"),
    ]


def test_review_is_of_all_alerts(played: Played) -> None:
    assert evidence.alert_review(HOME, "local", "14d") == 0
    assert played.argv[1:3] == ["-m", "smoke.run_evidence"]
    assert played.argv[7:] == ["--review", "--since=14d"]


def test_kubeconfig_of_the_stack_is_passed_on(played: Played) -> None:
    played.config = {"plumbline:cluster": {"kubeconfig": "/kubeconfig"}}
    evidence.evidence(HOME, "kind", WORDS)
    assert played.argv[7:9] == ["--kubeconfig", "/kubeconfig"]


def test_stack_that_does_not_run_is_no_verdict(
    played: Played, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(_: object) -> None:
        raise SandboxError("the embedded cluster does not run", "run make up")

    monkeypatch.setattr(deploy, "require_running", stopped)
    assert evidence.evidence(HOME, "local", WORDS) == evidence.BLIND
    assert played.argv == []
    assert "run make up" in capsys.readouterr().err


def test_words_without_a_value_mean_nothing_in_particular() -> None:
    found = _parse(["evidence"])
    assert (found.run, found.step, found.alert, found.window, found.since) == ("none", "all", "none", "60s", "usual")
