"""Writes the boards of a stack that has everything, as Grafana reads them, where `--write` is given."""

from __future__ import annotations

import sys
from pathlib import Path

from components.grafana.boards import board_json
from tests.offline.signals.boards import BOARDS

FILES = Path(__file__).with_name("board_files")


def write() -> None:
    """Every board's file, and none that is of no board."""
    FILES.mkdir(exist_ok=True)
    for old in FILES.glob("*.json"):
        old.unlink()
    for board in BOARDS:
        (FILES / f"{board.uid}.json").write_text(board_json(board), encoding="utf-8")


if __name__ == "__main__" and "--write" in sys.argv:
    write()
