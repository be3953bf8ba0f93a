"""The Python environment is made once per lock file, whole or not at all, before anything of ours can be imported."""

from __future__ import annotations

import ast
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cli.engine import ROOT
from sandbox.home import find_home
from tests.offline.cli.fakes import write

if TYPE_CHECKING:
    from collections.abc import Callable

    Bootstrap = Callable[..., subprocess.CompletedProcess[str]]

SOURCE = ROOT / "bin" / "bootstrap.py"
# Stands in for the module venv: makes an environment whose Python runs $FAKE_PIP instead of pip.
VENV = """
import os, pathlib, sys
if os.environ.get("FAKE_VENV_ERROR"):
    sys.exit(os.environ["FAKE_VENV_ERROR"])
python = pathlib.Path(sys.argv[-1]) / "bin" / "python"
python.parent.mkdir(parents=True)
python.write_text("#!/bin/sh\\n" + os.environ["FAKE_PIP"] + "\\n")
python.chmod(0o755)
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with a lock file of its own."""
    root = tmp_path / "checkout"
    (root / "bin").mkdir(parents=True)
    shutil.copy(SOURCE, root / "bin")
    write(root / "requirements.lock", "a==1 --hash=sha256:00\n")
    return root


@pytest.fixture
def bootstrap(checkout: Path, tmp_path: Path) -> Bootstrap:
    """Runs the program with a pip that notes its calls, or that does what a test says."""
    write(tmp_path / "modules" / "venv.py", VENV)
    noted = tmp_path / "pip.log"

    def call(**environment: str) -> subprocess.CompletedProcess[str]:
        defaults = {
            "PLUMBLINE_HOME": str(tmp_path / "home"),
            "PYTHONPATH": str(tmp_path / "modules"),
            "FAKE_PIP": f'echo "$*" >> {noted}; echo "a notice of pip"',
        }
        argv = [sys.executable, str(checkout / "bin" / "bootstrap.py")]
        full = {**os.environ, **defaults, **environment}
        return subprocess.run(argv, env=full, capture_output=True, text=True, check=False)

    return call


def pip_calls(tmp_path: Path) -> list[str]:
    """Calls of pip so far."""
    noted = tmp_path / "pip.log"
    return noted.read_text().splitlines() if noted.exists() else []


def load() -> Any:  # noqa: ANN401  a module that is no part of a package
    """The program as a module."""
    spec = importlib.util.spec_from_file_location("bootstrap", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_answer_is_the_path_of_the_environments_python_alone(bootstrap: Bootstrap) -> None:
    done = bootstrap()
    assert done.returncode == 0
    (line,) = done.stdout.splitlines()
    assert Path(line).is_file()


def test_work_is_announced_apart_from_the_answer(bootstrap: Bootstrap) -> None:
    assert "Python packages (once per lock file)" in bootstrap().stderr


def test_packages_are_installed_by_hash(bootstrap: Bootstrap, checkout: Path, tmp_path: Path) -> None:
    bootstrap()
    (call,) = pip_calls(tmp_path)
    assert "--require-hashes" in call
    assert call.endswith(f"-r {checkout}/requirements.lock")


def test_second_call_installs_nothing(bootstrap: Bootstrap, tmp_path: Path) -> None:
    first, second = bootstrap(), bootstrap()
    assert second.stdout == first.stdout
    assert second.stderr == ""
    assert len(pip_calls(tmp_path)) == 1


def test_another_lock_file_gets_an_environment_of_its_own(bootstrap: Bootstrap, checkout: Path) -> None:
    first = bootstrap()
    write(checkout / "requirements.lock", "a==2 --hash=sha256:11\n")
    assert bootstrap().stdout != first.stdout


def test_half_made_environment_is_built_anew(bootstrap: Bootstrap, tmp_path: Path) -> None:
    environment = Path(bootstrap().stdout.strip()).parent.parent
    (environment / ".complete").unlink()
    write(environment / "lib" / "half-installed", "half")
    assert bootstrap().returncode == 0
    assert not (environment / "lib").exists()
    assert len(pip_calls(tmp_path)) == 2


def test_unreachable_index_says_what_to_do(bootstrap: Bootstrap) -> None:
    done = bootstrap(FAKE_PIP="echo 'ERROR: no matching distribution' >&2; exit 1")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "ERROR: no matching distribution" in done.stderr
    assert "next: check the network and pip's index settings, then run the same command again" in done.stderr


def test_call_after_a_failure_succeeds(bootstrap: Bootstrap) -> None:
    bootstrap(FAKE_PIP="exit 1")
    assert bootstrap().returncode == 0


def test_machine_without_venv_says_what_to_install(bootstrap: Bootstrap) -> None:
    done = bootstrap(FAKE_VENV_ERROR="ensurepip is not available")
    assert done.returncode == 1
    assert "ensurepip is not available" in done.stderr
    assert "next: install it (apt-get install python3-venv)" in done.stderr


def test_home_that_cannot_be_written_is_named(bootstrap: Bootstrap, tmp_path: Path) -> None:
    write(tmp_path / "file", "no directory")
    done = bootstrap(PLUMBLINE_HOME=str(tmp_path / "file"))
    assert done.returncode == 1
    assert "next: set PLUMBLINE_HOME to a writable directory" in done.stderr


def test_relative_home_is_refused(bootstrap: Bootstrap, checkout: Path) -> None:
    done = bootstrap(PLUMBLINE_HOME="here")
    assert done.returncode == 1
    assert "PLUMBLINE_HOME is 'here', not an absolute path" in done.stderr
    assert not (checkout / "here").exists()


def test_too_old_python_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    module = load()
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    monkeypatch.setattr(sys, "version", "3.9.2 (default)")
    with pytest.raises(SystemExit) as caught:
        module.main()
    assert str(caught.value.code).startswith("error: Python is 3.9.2; 3.11 or newer is needed\n  next: install it")


def test_too_old_python_can_read_the_program() -> None:
    ast.parse(SOURCE.read_text(), feature_version=(3, 7))


@pytest.mark.parametrize("given", ["/srv/plumbline", None])
@pytest.mark.parametrize("uid", [0, 1000])
def test_home_is_where_every_other_command_looks(monkeypatch: pytest.MonkeyPatch, given: str | None, uid: int) -> None:
    monkeypatch.setattr("os.geteuid", lambda: uid)
    if given is None:
        monkeypatch.delenv("PLUMBLINE_HOME")
    else:
        monkeypatch.setenv("PLUMBLINE_HOME", given)
    assert load().home() == find_home().root
