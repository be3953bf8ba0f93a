"""Judges the rendered rules with promtool, before anything is registered. The operator would only leave them out."""

from __future__ import annotations

import tempfile
from pathlib import Path

from components.prometheus.lint import promtool


def lint(rule_files: dict[str, str]) -> None:
    """Check every rule. rule_files: file name → text. Raises DeployError with promtool's own words."""
    with tempfile.TemporaryDirectory(prefix="plumbline-lint-") as name:
        directory = Path(name)
        for file, text in rule_files.items():
            (directory / file).write_text(text, encoding="utf-8")
        promtool(["check", "rules", "--lint=all", "--lint-fatal", *sorted(rule_files)], directory)
