"""Runs pytest over a directory of checks, cut off from the user's own pytest configuration."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    from smoke.plugin import Accounting

SUITE = Path(__file__).parent / "suite"
CONFIG = Path(__file__).parent / "pytest.ini"


def run_suite(suite: Path, accounting: Accounting) -> int:
    """Run all `test_*.py` of a directory under the accounting; returns pytest's exit code."""
    arguments = ["-c", str(CONFIG), "--rootdir", str(suite), "--confcutdir", str(suite), str(suite)]
    with _isolated():
        return int(pytest.main(arguments, plugins=[accounting]))


@contextmanager
def _isolated() -> Generator[None, None, None]:
    """No options, plugins or colours from the environment; what was there comes back afterwards."""
    kept = {name: value for name, value in os.environ.items() if name.startswith("PYTEST_")}
    for name in kept:
        del os.environ[name]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    try:
        yield
    finally:
        for name in [name for name in os.environ if name.startswith("PYTEST_")]:
            del os.environ[name]
        os.environ.update(kept)
