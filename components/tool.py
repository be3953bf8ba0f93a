"""Runs a program's own checker over rendered files, before anything is registered."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from components.errors import DeployError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TIMEOUT_SECONDS = 60.0


def judge(tool: str, of: str, arguments: Sequence[str], directory: Path, timeout: float = TIMEOUT_SECONDS) -> str:
    """Run a checker in a directory and return what it prints. of: the program that it belongs to. timeout: seconds.

    Raises DeployError with the checker's own words, or if it is missing or does not finish.
    """
    program = shutil.which(tool)
    command = f"{tool} {' '.join(arguments)}"
    if program is None:
        raise DeployError(
            f"{tool} is not on PATH, and no configuration is applied unchecked; run `make env` and follow what it "
            f"prints, or install {tool} of the {of} version in stacks/versions.toml."
        )
    try:
        done = subprocess.run(
            [program, *arguments], cwd=directory, capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise DeployError(f"`{command}` did not finish within {timeout:g} s; is the machine overloaded?") from error
    if done.returncode != 0:
        raise DeployError(
            f"`{command}` refuses the rendered configuration (exit code {done.returncode}):\n"
            f"{done.stdout}{done.stderr}".rstrip()
        )
    return done.stdout
