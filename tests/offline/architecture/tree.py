"""The files of the checkout, as the architecture tests look at them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from cli.engine import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# What git does not hold either.
IGNORED: Final = {".git", ".out", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"}


def files(suffix: str = "") -> Iterator[Path]:
    """Every file of the checkout whose name ends with `suffix`."""
    for path in sorted(ROOT.rglob(f"*{suffix}")):
        if path.is_file() and not IGNORED.intersection(path.relative_to(ROOT).parts):
            yield path


def name(path: Path) -> str:
    """Path below the checkout, for messages."""
    return path.relative_to(ROOT).as_posix()


@cache
def modules() -> dict[str, str]:
    """Dotted name → source of every Python module."""
    found = {}
    for path in files(".py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text()
    return found
