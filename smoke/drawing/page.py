"""All boards of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from smoke.drawing.clock import clock
from smoke.drawing.curves import shown
from smoke.drawing.drawn import Drawn, DrawnBoard, draw

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smoke.boards import Shown

MARKS: Final = 20


def drawn_boards(shown_boards: Iterable[Shown]) -> list[DrawnBoard]:
    """Every board with its panels, in the order in which they were asked."""
    return [_board(one, number) for number, one in enumerate(shown_boards)]


def _board(seen: Shown, number: int) -> DrawnBoard:
    rows: list[tuple[str, tuple[Drawn, ...]]] = []
    place = 0
    for row in seen.board.rows:
        panels = []
        for panel in row.panels:
            panels.append(draw(panel, seen, f"board{number}-{place}-"))
            place += 1
        rows.append((row.title, tuple(panels)))
    return DrawnBoard(seen=seen, rows=tuple(rows), marks=_marks(seen), marks_error=shown(seen.marks_error))


def _marks(seen: Shown) -> tuple[tuple[str, str, str], ...]:
    """The newest of the board's time, in its order."""
    within = [mark for mark in seen.marks if seen.span.start <= mark.seconds <= seen.span.end]
    newest = sorted(within, key=lambda mark: mark.seconds)[-MARKS:]
    return tuple((clock(mark.seconds), mark.colour, shown(f"{mark.title}: {mark.text}")) for mark in newest)
