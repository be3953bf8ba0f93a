"""The report in a browser: it shows its drawings, asks for nothing and fits; a page that does not is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cli.develop import BROWSER, REQUIRED
from smoke import report
from smoke.drawing.page import drawn_boards
from smoke.model import Status
from tests.offline.smoke.report import browser
from tests.offline.smoke.report.records import EVIL, MARKS, every_kind, gathered, outcome, run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

LONG = "x" * 400


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for all tests of the module."""
    with browser.opened() as found:
        yield found


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A red run with boards, and words that do not break by themselves."""
    directory = tmp_path_factory.mktemp("report")
    told = gathered(every_kind(), marks=MARKS)
    outcomes = (
        outcome("a", Status.PASS, evidence=LONG),
        outcome("b", Status.FAIL, evidence=EVIL, claim=LONG, component=LONG),
        outcome("c", Status.SKIP, skip_reason=LONG),
    )
    report.write(
        run(*outcomes, boards=drawn_boards([told, told]), diagnostics={LONG: LONG}, versions={"a": LONG}), directory
    )
    return directory / "report.html"


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (400, "light")])
def test_page_shows_its_drawings_and_asks_for_nothing(chromium: Browser, page: Path, width: int, scheme: str) -> None:
    seen = browser.look(chromium, page, width, scheme)
    assert seen.faults == ()
    assert seen.drawn == 4
    assert seen.words >= 8


BROKEN = {
    "console: broken": "<script>console.error('broken')</script>",
    "error: x is not defined": "<script>x()</script>",
    "request: file:///nowhere.png": '<img src="file:///nowhere.png">',
    "20 pixels wider than 1280": '<div style="width: 1300px; height: 1px"></div>',
    "1 drawings without a size": '<svg style="width: 0"></svg>',
    "1 words of drawings without a size": "<svg><text></text></svg>",
}


@pytest.mark.parametrize("fault", BROKEN)
def test_page_that_is_broken_is_seen(chromium: Browser, tmp_path: Path, fault: str) -> None:
    file = tmp_path / "page.html"
    file.write_text(f'<!DOCTYPE html><body style="margin: 0">{BROKEN[fault]}', encoding="utf-8")
    assert fault in browser.look(chromium, file, 1280).faults


def test_missing_browser_is_a_declared_skip_and_a_failure_where_it_must_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv(BROWSER, "")
    with pytest.raises(pytest.skip.Exception, match="on Debian `make check` unpacks one"):
        browser.find()
    monkeypatch.setenv(BROWSER, REQUIRED)
    with pytest.raises(pytest.fail.Exception, match="no chromium is on PATH"):
        browser.find()
