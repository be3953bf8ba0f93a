"""Ctrl-C during a long build: everything ends, nothing half-made stays, and the same command goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from cli.engine import ROOT
from tests.offline.sandbox.fakes import PATIENCE, path_with, program, wait_for_file, wait_until_ended

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sandbox.home import Home

# A compiler that writes half a binary, notes its process, and would go on for long.
GO = """
case "$1" in
  env) echo go1.30.1;;
  build)
    while [ "$1" != "-o" ]; do shift; done
    echo half > "$2"
    sleep 120 & echo $! > "$NOTE.new" && mv "$NOTE.new" "$NOTE"; wait;;
esac
"""
# The command as it is, on a disk that is large enough.
COMMAND = """
import shutil, sys
from types import SimpleNamespace
shutil.disk_usage = lambda _: SimpleNamespace(free=2**40)
from cli.__main__ import main
sys.exit(main())
"""
# The command as it is, on a machine that takes its time to read it.
SLOW = """
import os, pathlib, sys, time
class Slow:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "cli.words":
            pathlib.Path(os.environ["NOTE"]).write_text("1")
            time.sleep(120)
sys.meta_path.insert(0, Slow)
from cli.__main__ import main
sys.exit(main())
"""


@pytest.fixture
def environment(home: Home, tmp_path: Path) -> dict[str, str]:
    """Environment in which the compiler is the one above."""
    program(tmp_path / "bin", "go", GO)
    return {
        **os.environ,
        "PATH": path_with(tmp_path / "bin"),
        "PLUMBLINE_HOME": str(home.root),
        "NOTE": str(tmp_path / "compiler"),
        "PYTHONPATH": str(ROOT),
    }


@contextmanager
def started(argv: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A command that has ended when the test has, however that went."""
    with subprocess.Popen(argv, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_build_ends_clean(
    environment: dict[str, str], home: Home, tmp_path: Path, sent: signal.Signals
) -> None:
    # As in a terminal, whatever this test itself was started from.
    terminal = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    argv = [sys.executable, "-c", f"{terminal}\n{COMMAND}", "programs"]
    with started(argv, environment) as building:
        compiler = int(wait_for_file(tmp_path / "compiler"))
        building.send_signal(sent)
        _, printed = building.communicate(timeout=PATIENCE)
    assert building.returncode == 130
    assert "interrupted; run the same command again" in printed
    assert "Traceback" not in printed
    assert [path.name for path in home.programs.iterdir()] == [".lock"]
    assert wait_until_ended(compiler)


def test_background_command_can_be_ended_too(environment: dict[str, str], tmp_path: Path) -> None:
    # A shell starts background commands with SIGINT ignored; make and CI then send SIGTERM.
    argv = ["sh", "-c", 'trap "" INT; exec "$0" -c "$1" programs', sys.executable, COMMAND]
    with started(argv, environment) as building:
        wait_for_file(tmp_path / "compiler")
        building.send_signal(signal.SIGTERM)
        building.communicate(timeout=PATIENCE)
    assert building.returncode == 130


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_program_that_is_still_being_read_ends_in_words(
    environment: dict[str, str], tmp_path: Path, sent: signal.Signals
) -> None:
    terminal = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    with started([sys.executable, "-c", f"{terminal}\n{SLOW}", "programs"], environment) as reading:
        wait_for_file(tmp_path / "compiler")
        reading.send_signal(sent)
        _, printed = reading.communicate(timeout=PATIENCE)
    assert reading.returncode == 130
    assert "Traceback" not in printed


# The command as it is, on a machine on which the first program is being built while the second is still handed out.
HANDED_OUT = f"""
import os, pathlib, signal, time
from concurrent.futures import ThreadPoolExecutor
submit = ThreadPoolExecutor.submit
def slow(*words, **options):
    made = submit(*words, **options)
    while not pathlib.Path(os.environ["NOTE"]).exists():
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGTERM)
    return made
ThreadPoolExecutor.submit = slow
{COMMAND}"""


def test_builds_that_begin_in_the_moment_of_an_interrupt_are_ended(
    environment: dict[str, str], home: Home, tmp_path: Path
) -> None:
    with started([sys.executable, "-c", HANDED_OUT, "programs"], environment) as building:
        _, printed = building.communicate(timeout=PATIENCE)
    assert building.returncode == 130
    assert "Traceback" not in printed
    assert wait_until_ended(int((tmp_path / "compiler").read_text()))
    assert [path.name for path in home.programs.iterdir()] == [".lock"]
