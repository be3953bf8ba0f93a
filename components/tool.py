"""Runs a program's own checker over rendered files, before anything is registered."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from components.errors import DeployError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

TIMEOUT_SECONDS = 60.0


def judge(
    tool: str,
    of: str,
    arguments: Sequence[str],
    directory: Path,
    timeout: float = TIMEOUT_SECONDS,
    readable: Callable[[str], str] = str.rstrip,
) -> str:
    """Run a checker in a directory and return what it prints. of: the program that it belongs to. timeout: seconds.

    readable: makes of its output what a person is shown of a refusal. Raises DeployError with the checker's own words,
    or if it is missing or does not finish.
    """
    done = run(tool, of, arguments, directory, timeout)
    if done.returncode != 0:
        raise DeployError(
            f"`{_command(tool, arguments)}` refuses the rendered configuration (exit code {done.returncode}):\n"
            f"{readable(f'{done.stdout}{done.stderr}')}"
        )
    return done.stdout


def run(
    tool: str, of: str, arguments: Sequence[str], directory: Path, timeout: float = TIMEOUT_SECONDS
) -> subprocess.CompletedProcess[str]:
    """Run a checker, whatever it says, with the arguments of judge(). Raises DeployError if it cannot say anything."""
    program = shutil.which(tool)
    if program is None:
        raise DeployError(
            f"{tool} is not on PATH, and no configuration is applied unchecked; run `make env` and follow what it "
            f"prints, or install {tool} of the {of} version in stacks/versions.toml."
        )
    try:
        return subprocess.run(
            [program, *arguments], cwd=directory, capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise DeployError(
            f"`{_command(tool, arguments)}` did not finish within {timeout:g} s; is the machine overloaded?"
        ) from error


def _command(tool: str, arguments: Sequence[str]) -> str:
    return f"{tool} {' '.join(arguments)}"
