"""Judges the rendered configuration with promtool, before anything is registered."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from components.errors import DeployError
from components.prometheus.names import CONFIG_FILE

if TYPE_CHECKING:
    from collections.abc import Sequence

_TIMEOUT_SECONDS = 60.0


def lint(files: dict[str, str]) -> None:
    """Check the configuration's syntax and every rule file. files: file name → text.

    Only the syntax of the configuration: the files that it names (tokens, authorities) exist in the pod alone.
    Raises DeployError with promtool's own words, or if promtool is missing or does not finish.
    """
    with tempfile.TemporaryDirectory(prefix="plumbline-lint-") as name:
        directory = Path(name)
        for file, text in files.items():
            (directory / file).write_text(text, encoding="utf-8")
        promtool(["check", "config", "--syntax-only", CONFIG_FILE], directory)
        rules = sorted(set(files) - {CONFIG_FILE})
        if rules:
            promtool(["check", "rules", "--lint=all", "--lint-fatal", *rules], directory)


def promtool(arguments: Sequence[str], directory: Path, timeout: float = _TIMEOUT_SECONDS) -> str:
    """Run promtool in a directory and return what it prints. timeout: seconds. Raises DeployError, see lint()."""
    program = shutil.which("promtool")
    command = f"promtool {' '.join(arguments)}"
    if program is None:
        raise DeployError(
            "promtool is not on PATH, and no configuration is applied unchecked; run `make env` and follow what it "
            "prints, or install promtool of the Prometheus version in stacks/versions.toml."
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
