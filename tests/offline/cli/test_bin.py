"""The entries in bin/ hand over to the environment's Python, from any directory, and stop when there is none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from cli.engine import ROOT
from tests.offline.cli.fakes import write
from tests.offline.sandbox.fakes import path_with, program

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose path holds a space, and a Python whose bootstrap answers with $ANSWER."""
    root = tmp_path / "a checkout"
    shutil.copytree(ROOT / "bin", root / "bin", ignore=shutil.ignore_patterns("__pycache__"))
    program(tmp_path / "path", "python3", 'echo "$ANSWER"; exit ${CODE:-0}')
    return root


def call(tmp_path: Path, argv: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    """Run an entry from another directory."""
    full = {**os.environ, "PATH": path_with(tmp_path / "path"), **environment}
    return subprocess.run(argv, cwd=tmp_path, env=full, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("entry", "words"), [("plumbline", []), ("pulumi", ["pulumi"]), ("kubectl", ["kubectl"])])
def test_entry_hands_its_words_over(checkout: Path, tmp_path: Path, entry: str, words: list[str]) -> None:
    python = program(tmp_path, "environment-python", 'for word; do echo "<$word>"; done')
    done = call(tmp_path, [f"{checkout}/bin/{entry}", "get", "a b"], ANSWER=str(python))
    assert done.stdout.splitlines() == [f"<{word}>" for word in ["-P", "-m", "cli", *words, "get", "a b"]]


def test_entry_returns_the_exit_code(checkout: Path, tmp_path: Path) -> None:
    python = program(tmp_path, "environment-python", "exit 3")
    assert call(tmp_path, [f"{checkout}/bin/plumbline", "status"], ANSWER=str(python)).returncode == 3


def test_entry_stops_when_there_is_no_environment(checkout: Path, tmp_path: Path) -> None:
    python = program(tmp_path, "environment-python", "touch started")
    done = call(tmp_path, [f"{checkout}/bin/plumbline", "up"], ANSWER=str(python), CODE="1")
    assert done.returncode == 1
    assert not (tmp_path / "started").exists()


def test_directory_of_the_user_may_hold_packages_of_our_names(tmp_path: Path) -> None:
    for name in ("cli", "sandbox", "yaml"):
        write(tmp_path / name / "__init__.py", "raise SystemExit('imported from the wrong place')\n")
    program(tmp_path / "path", "python3", f"echo {sys.executable}")
    done = call(tmp_path, [str(ROOT / "bin" / "plumbline"), "env"])
    assert done.stdout == f'export PATH="{ROOT}/bin:$PATH"\n'


@pytest.mark.parametrize("entry", ["plumbline", "pulumi", "kubectl"])
def test_entry_can_be_run(entry: str) -> None:
    assert os.access(ROOT / "bin" / entry, os.X_OK)
