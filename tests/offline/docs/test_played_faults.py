"""The tables of faults that are played name checks and tests that there are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from smoke.registry import CHECK_IDS

ROOT: Final = Path(__file__).parents[3]
_TEXT: Final = (ROOT / "docs/troubleshoot.md").read_text(encoding="utf-8").partition("## Faults that are played")[2]
ROWS: Final = [line for line in _TEXT.splitlines() if line.startswith("| ") and "`test_" in line]
CHECK_NAME: Final = re.compile(r"`([a-z_]+\.[a-z_]+)`")


def _live_tests() -> set[str]:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests/live").glob("test_*.py")]
    return {name for text in texts for name in re.findall(r"^def (test_\w+)", text, re.MULTILINE)}


def test_there_are_rows() -> None:
    assert len(ROWS) > 25


@pytest.mark.parametrize("row", ROWS)
def test_row_names_what_there_is(row: str) -> None:
    assert [name for name in re.findall(r"`(test_\w+)`", row) if name not in _live_tests()] == []
    assert [name for name in CHECK_NAME.findall(row) if name not in CHECK_IDS] == []
