"""Pictures of boards as the report of a live stack draws them. `python -m tests.live.board_pictures`: docs/boards.

They are for people who have no stack yet; what they show is whatever the stack showed when they were taken.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from tests.live.plumbline import OUT, ROOT
from tests.offline.smoke.report.browser import opened

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

DOCS: Final = ROOT / "docs" / "boards"
_WIDTH, _HEIGHT = 1280, 1500
"""Pixels: of a board, what is seen without scrolling far."""


def take(browser: Browser, report: Path, into: Path) -> list[Path]:
    """One picture of the beginning of each board, named after it."""
    into.mkdir(parents=True, exist_ok=True)
    tab = browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT}, color_scheme="light")
    try:
        tab.goto(report.as_uri(), wait_until="load")
        taken = []
        for board in tab.query_selector_all("section[data-board]"):
            board.evaluate("element => element.scrollIntoView()")
            path = into / f"{board.get_attribute('data-board')}.png"
            tab.screenshot(path=path)
            taken.append(path)
        return taken
    finally:
        tab.close()


def main() -> int:
    """Renew the pictures of the docs from the last report of `local`."""
    with opened() as browser:
        taken = take(browser, OUT / "report.html", DOCS)
    print("\n".join(str(path.relative_to(ROOT)) for path in taken))
    return 0 if taken else 1


if __name__ == "__main__":
    sys.exit(main())
