"""`make sdk-regression` runs the right program against the right stack, under the machine's lock."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from cli import deploy, regression, stackfile
from sandbox.errors import SandboxError
from sandbox.home import Home

if TYPE_CHECKING:
    from collections.abc import Iterator

HOME = Home(Path("/home-of-tests"))


class Played:
    """Stands for the engine, the stack file and the program that is started."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.argv: list[str] = []
        self.options: dict[str, Any] = {}
        self.config: dict[str, Any] = {}
        self.code = 0

    def run(self, argv: list[str], **options: Any) -> subprocess.CompletedProcess[str]:  # noqa: ANN401  # subprocess's
        self.argv, self.options = argv, options
        self.done.append("run")
        return subprocess.CompletedProcess(argv, self.code)

    @contextmanager
    def guard(self, _: object, purpose: str) -> Iterator[None]:
        self.done.append(f"lock for {purpose}")
        yield
        self.done.append("unlock")


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Played:
    """Nothing real is touched."""
    fake = Played()
    engine = SimpleNamespace(config_file=Path("/stack.yaml"), environment=lambda: {"KUBECONFIG": "/kc"})
    monkeypatch.setattr(regression, "engine_for", lambda *_: engine)
    monkeypatch.setattr(deploy, "guard", fake.guard)
    monkeypatch.setattr(deploy, "require_running", lambda _: fake.done.append("running"))
    monkeypatch.setattr(deploy, "out_directory", lambda _: Path("/out"))
    monkeypatch.setattr(deploy, "write_contract", lambda _, out: out / "contract.json")
    monkeypatch.setattr(stackfile, "config", lambda _: fake.config)
    monkeypatch.setattr(subprocess, "run", fake.run)
    return fake


def test_every_version_is_played_under_the_lock(played: Played) -> None:
    played.code = 1
    assert regression.sdk_regression(HOME, "local", ["all"]) == 1
    assert played.done == ["lock for make sdk-regression", "running", "run", "unlock"]
    assert played.argv[1:] == [
        *("-m", "smoke.sdk", "--contract", "/out/contract.json", "--out", "/out"),
        *("--cache", "/home-of-tests/cache/sdk"),
    ]
    assert played.options["env"]["KUBECONFIG"] == "/kc"


def test_versions_and_kubeconfig_are_passed_on(played: Played) -> None:
    played.config = {"plumbline:cluster": {"kubeconfig": "/kubeconfig"}}
    regression.sdk_regression(HOME, "kind", ["0.8.4", "0.10.3"])
    assert played.argv[-5:] == ["--kubeconfig", "/kubeconfig", "--sdk", "0.8.4", "0.10.3"]


def test_nothing_runs_on_a_stack_that_does_not_run(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(_: object) -> None:
        raise SandboxError("the embedded cluster does not run", "run make up")

    monkeypatch.setattr(deploy, "require_running", stopped)
    with pytest.raises(SandboxError):
        regression.sdk_regression(HOME, "local", ["all"])
    assert played.argv == []
