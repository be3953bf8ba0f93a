"""Every board is in the docs, with a picture that a stack drew of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import pytest

from tests.live.board_pictures import DOCS
from tests.offline.signals.boards import BOARDS

if TYPE_CHECKING:
    from signals.dashboards.model import Board

PAGE: Final = DOCS.parent / "grafana.md"
PNG: Final = b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.uid)
def test_board_has_a_section_and_a_picture(board: Board) -> None:
    assert f"### {board.title}\n" in PAGE.read_text(encoding="utf-8")
    assert f"![{board.title}](boards/{board.uid}.png)" in PAGE.read_text(encoding="utf-8")
    assert (DOCS / f"{board.uid}.png").read_bytes().startswith(PNG)


def test_there_is_no_picture_of_another() -> None:
    assert {path.stem for path in DOCS.iterdir()} == {board.uid for board in BOARDS}
    assert len(re.findall(r"^!\[", PAGE.read_text(encoding="utf-8"), re.M)) == len(BOARDS)
