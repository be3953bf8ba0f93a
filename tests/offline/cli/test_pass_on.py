"""`pulumi` and `kubectl` in bin/ become the pinned programs, with what the chosen stack needs."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from cli.engine import ROOT
from cli.words import _pass_on
from sandbox.errors import SandboxError

if TYPE_CHECKING:
    from cli.engine import Engine
    from sandbox.home import Home
    from tests.offline.cli.fakes import FakeEngine


class Became(Exception):
    """What was executed in place of this process."""

    def __init__(self, path: str, argv: list[str], environment: dict[str, str]) -> None:
        """Keep the call."""
        super().__init__(path)
        self.path, self.argv, self.environment = path, argv, environment


def become(program: str, *words: str) -> Became:
    """What `bin/<program> words…` becomes."""
    with pytest.raises(Became) as caught:
        _pass_on(program, words)
    return caught.value


@pytest.fixture(autouse=True)
def execution(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is executed."""

    def execve(path: str, argv: list[str], environment: dict[str, str]) -> None:
        raise Became(path, argv, environment)

    monkeypatch.setattr(os, "execve", execve)


def test_pulumi_is_the_pinned_engine_with_the_states_stack_file(pulumi: FakeEngine, local: Engine) -> None:
    became = become("pulumi", "up", "-s", "local", "--yes")
    assert became.path == str(pulumi.directory / "pulumi")
    assert became.argv[1:] == ["up", "-s", "local", "--yes", "--config-file", str(local.config_file)]


@pytest.mark.usefixtures("pulumi")
def test_pulumi_of_another_stack_keeps_the_users_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULUMI_BACKEND_URL", "s3://theirs")
    became = become("pulumi", "preview", "--stack", "prod")
    assert became.argv[1:] == ["preview", "--stack", "prod"]
    assert became.environment["PULUMI_BACKEND_URL"] == "s3://theirs"


@pytest.mark.usefixtures("pulumi")
def test_kubectl_names_the_embedded_cluster(home: Home) -> None:
    options = [f"--kubeconfig={home.state('local')}/kubeconfig", "--context=plumbline-local"]
    assert become("kubectl", "get", "pods").argv[1:] == [*options, "get", "pods"]


@pytest.mark.usefixtures("pulumi")
def test_kubectl_of_another_state(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLUMBLINE_STATE", "test")
    assert f"--kubeconfig={home.state('test')}/kubeconfig" in become("kubectl", "get", "pods").argv


@pytest.mark.parametrize("program", ["pulumi", "kubectl"])
def test_program_that_is_not_built_is_named(program: str) -> None:
    with pytest.raises(SandboxError, match=r"is not built\n  next: run make"):
        _pass_on(program, ["version"])


def test_reader_that_has_seen_enough_is_no_fault() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    argv = [sys.executable, "-m", "cli", "env"]
    done = subprocess.run(argv, cwd=ROOT, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert done.stderr == ""
