"""Judges the rendered configuration with promtool, before anything is registered."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from components.prometheus.names import CONFIG_FILE
from components.tool import TIMEOUT_SECONDS, judge

if TYPE_CHECKING:
    from collections.abc import Sequence


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


def promtool(arguments: Sequence[str], directory: Path, timeout: float = TIMEOUT_SECONDS) -> str:
    """Run promtool in a directory and return what it prints. timeout: seconds. Raises DeployError, see judge()."""
    return judge("promtool", "Prometheus", arguments, directory, timeout)
