"""The cache's key changes with every input of a build, and with nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sandbox.programs import spec
from sandbox.programs.spec import ModuleFile
from tests.offline.sandbox.fakes import module

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.programs.spec import Program


@pytest.fixture
def alpha(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """One pinned program."""
    monkeypatch.setattr(spec, "MODULES", tmp_path)
    return module(tmp_path, "alpha")


def test_digest_of_equal_inputs_is_equal(alpha: Program) -> None:
    assert alpha.digest() == replace(alpha).digest()


def test_digest_is_twelve_hex_digits(alpha: Program) -> None:
    assert len(alpha.digest()) == len(f"{int(alpha.digest(), 16):012x}") == 12


@pytest.mark.parametrize("file", ["go.mod", "go.sum", "main.go"])
def test_digest_changes_with_a_file_of_the_module(alpha: Program, file: str) -> None:
    before = alpha.digest()
    (alpha.source / file).write_text("changed")
    assert alpha.digest() != before


@pytest.mark.parametrize(
    "change",
    [
        {"version": "1.0.1"},
        {"ldflags": ("-X main.version=1",)},
        {"tags": ("netgo",)},
        {"outputs": {"alpha": "example.org/beta"}},
        {"copies": (ModuleFile("example.org/m@v1", "a", "b", sum="h1:x"),)},
        {"generates": (ModuleFile("example.org/m@v1", "a", "b"),)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_digest_changes_with_a_setting(alpha: Program, change: dict[str, object]) -> None:
    assert replace(alpha, **change).digest() != alpha.digest()  # type: ignore[arg-type]  # fields by name


def test_digest_changes_with_flags_of_every_build(alpha: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    before = alpha.digest()
    monkeypatch.setattr(spec, "BUILD_FLAGS", ("-trimpath",))
    assert alpha.digest() != before


def test_digest_changes_with_the_kind_of_machine(alpha: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    before = alpha.digest()
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert alpha.digest() != before


def test_digest_does_not_change_with_the_reason(alpha: Program) -> None:
    assert replace(alpha, why="another word").digest() == alpha.digest()


def test_digest_does_not_change_with_who_needs_it(alpha: Program) -> None:
    assert replace(alpha, purpose="tests").digest() == alpha.digest()
