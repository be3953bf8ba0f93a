"""Errors that the user can act on end with the next step and exit code 1; refusals touch nothing."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

import pytest

from cli import bench, deploy, develop, embedded, inspect, regression
from cli import words as main_module
from cli.engine import ROOT
from sandbox.cluster import facts
from sandbox.errors import SandboxError
from sandbox.process import ProgramError
from tests.offline.sandbox.fakes import machine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.home import Home


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """Put the handler back that `main` replaces."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def capable(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which an embedded cluster can run."""
    monkeypatch.setattr(facts, "gather", lambda _: machine())


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """Run a command line in this process."""
    monkeypatch.setattr(sys, "argv", ["plumbline", *words])
    return main_module.main()


@pytest.mark.parametrize("word", ["down", "clean"])
@pytest.mark.parametrize("stack", ["kind", "staging", "prod"])
def test_other_stacks_are_removed_with_the_engine_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], word: str, stack: str
) -> None:
    assert run(monkeypatch, word, "--stack", stack) == 1
    printed = capsys.readouterr().err
    assert f"error: make {word} is for the embedded cluster, not for stack {stack}\n" in printed
    assert f"next: to remove the stack: bin/pulumi destroy --stack {stack}" in printed


@pytest.mark.parametrize("word", ["up", "down", "clean", "smoke", "prove"])
def test_user_without_root_is_sent_to_a_cluster_they_have(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], word: str
) -> None:
    monkeypatch.setattr(facts, "gather", lambda _: machine(is_root=False))
    assert run(monkeypatch, word) == 1
    assert "STACK=kind" in capsys.readouterr().err


@pytest.mark.parametrize("word", ["up", "smoke", "prove", "preview", "status"])
def test_unknown_stack_lists_the_known_ones(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], word: str
) -> None:
    assert run(monkeypatch, word, "--stack", "prd") == 1
    assert "next: use one of: kind, local, prod, staging" in capsys.readouterr().err


@pytest.mark.parametrize(
    "error",
    [SandboxError("no room", "make some"), ProgramError(["ip"], "exited with 2", "no such device")],
    ids=["condition", "program"],
)
def test_error_is_explained_without_a_stack_trace(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    def broken(*_: object) -> int:
        raise error

    monkeypatch.setattr(deploy, "up", broken)
    assert run(monkeypatch, "up") == 1
    assert capsys.readouterr().err == f"error: {error}\n"


def test_error_ends_with_the_next_step() -> None:
    assert str(SandboxError("no room", "make some")) == "no room\n  next: make some"


def test_interrupt_is_told_without_a_stack_trace(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(deploy, "up", interrupted)
    assert run(monkeypatch, "up") == 130
    assert "run the same command again" in capsys.readouterr().err


def test_relative_home_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PLUMBLINE_HOME", "here")
    assert run(monkeypatch, "status") == 1
    assert "next: export it as an absolute path" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "module", "function", "arguments"),
    [
        (["up", "--stack", "kind"], deploy, "up", ["kind"]),
        (["smoke"], deploy, "smoke", ["local", "smoke"]),
        (["prove"], deploy, "smoke", ["local", "prove"]),
        (["preview"], deploy, "preview", ["local"]),
        (["status"], inspect, "status", ["local"]),
        (["check"], develop, "check", []),
        (["test"], develop, "test", []),
        (["bench"], bench, "bench", []),
        (["sdk-regression", "--stack", "kind", "--sdk", "0.8.4"], regression, "sdk_regression", ["kind"]),
        (["lock"], develop, "lock", []),
        (["golden"], develop, "golden", []),
    ],
    ids=lambda value: value[0] if isinstance(value, list) and value else None,
)
def test_word_leads_to_its_function_and_exit_code(
    monkeypatch: pytest.MonkeyPatch, words: list[str], module: object, function: str, arguments: list[str]
) -> None:
    given: list[object] = []

    def called(*values: object, **_: object) -> int:
        given.extend(values)
        return 42

    monkeypatch.setattr(module, function, called)
    assert run(monkeypatch, *words) == 42
    assert [item for item in given if isinstance(item, str)] == arguments


def test_env_prints_the_line_for_a_shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "env") == 0
    assert capsys.readouterr().out == f'export PATH="{ROOT}/bin:$PATH"\n'


@pytest.mark.usefixtures("capable")
@pytest.mark.parametrize(
    ("stopped", "words"), [("local", "the data of 'local' stays"), (None, "no embedded cluster runs here")]
)
def test_down_tells_what_was_stopped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], stopped: str | None, words: str
) -> None:
    monkeypatch.setattr(embedded, "take_down", lambda *_: stopped)
    assert run(monkeypatch, "down") == 0
    assert words in capsys.readouterr().out


@pytest.mark.usefixtures("capable")
def test_clean_names_what_it_deletes_and_keeps_the_caches(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], home: Home
) -> None:
    (home.state("local") / "volumes").mkdir(parents=True)
    home.programs.mkdir(parents=True)
    assert run(monkeypatch, "clean") == 0
    assert capsys.readouterr().err.startswith(f"deleting {home.state('local')}: cluster objects, volumes")
    assert not home.state("local").exists()
    assert home.programs.exists()


@pytest.mark.usefixtures("capable")
def test_clean_deletes_the_caches_when_asked(monkeypatch: pytest.MonkeyPatch, home: Home) -> None:
    for directory in (home.programs, home.cache / "engine", home.images, home.host_tools, home.go):
        directory.mkdir(parents=True)
    (home.cache / "venv").mkdir()
    assert run(monkeypatch, "clean", "--cache", "1") == 0
    assert [path.name for path in home.cache.iterdir()] == ["venv"]  # it runs this very program
