"""Judges the rendered configurations with the collector itself, before anything is registered."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from components.otel_collector.names import GATES, PROGRAM
from components.tool import TIMEOUT_SECONDS, judge

if TYPE_CHECKING:
    from collections.abc import Mapping

TOOL = PROGRAM.removeprefix("/")


def lint(files: Mapping[str, str]) -> None:
    """Check files that one collector reads together, in their order. files: file name → text.

    It knows components, their settings, and the grammar of statements; not whether a backend can be reached.
    Raises DeployError with the collector's own words, or if it is missing or does not finish.
    """
    with tempfile.TemporaryDirectory(prefix="plumbline-lint-") as name:
        directory = Path(name)
        for file, text in files.items():
            (directory / file).write_text(text, encoding="utf-8")
        configs = [f"--config={file}" for file in files]
        judge(TOOL, "OpenTelemetry Collector", ["validate", *configs, *gates()], directory, TIMEOUT_SECONDS)


def gates() -> list[str]:
    """The flag with the feature gates that the configuration needs."""
    return [f"--feature-gates={','.join(GATES)}"]
