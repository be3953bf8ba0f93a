"""The page as a browser has it: what it logs, what it asks for, how wide it is, and what it draws."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pytest
from playwright.sync_api import sync_playwright

from cli.develop import BROWSER, REQUIRED
from sandbox.browser import NAME

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

FLAGS: Final = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
_MISSING: Final = f"no {NAME} is on PATH; on Debian `make check` unpacks one, elsewhere install it"
_MEASURE: Final = """() => ({
  over: document.documentElement.scrollWidth - window.innerWidth,
  flat: [...document.querySelectorAll("svg")].filter((svg) => {
    const box = svg.getBoundingClientRect();
    return box.width < 1 || box.height < 1;
  }).length,
  drawn: document.querySelectorAll("svg").length,
  hidden: [...document.querySelectorAll("svg text")].filter((text) => text.getBoundingClientRect().width < 1).length,
  words: Math.min(...[...document.querySelectorAll("svg text")].map((text) => text.getBoundingClientRect().height)),
})"""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """faults: what is wrong, one line each. drawn: SVGs. words: height of their smallest word, in pixels."""

    faults: tuple[str, ...]
    drawn: int
    words: float


def find() -> str:
    """Path of the browser. Without one the test is skipped, and fails where there must be one."""
    found = shutil.which(NAME)
    if found is None and os.environ.get(BROWSER) == REQUIRED:
        pytest.fail(_MISSING)
    if found is None:
        pytest.skip(_MISSING)
    return found


@contextmanager
def opened() -> Iterator[Browser]:
    """A browser that is ended afterwards."""
    program = find()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


def look(browser: Browser, page: Path, width: int, scheme: Any = "light") -> Seen:  # noqa: ANN401  # playwright's words
    """Open a file and measure it. width: pixels. scheme: `light` or `dark`."""
    faults: list[str] = []
    tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    try:
        tab.on("console", lambda message: faults.append(f"console: {message.text}"))
        tab.on("pageerror", lambda error: faults.append(f"error: {error}"))
        tab.on("request", lambda request: _asked(request.url, page, faults))
        tab.goto(page.as_uri(), wait_until="load")
        found = tab.evaluate(_MEASURE)
    finally:
        tab.close()
    faults += [f"{found['over']} pixels wider than {width}"] if found["over"] > 0 else []
    faults += [f"{found['flat']} drawings without a size"] if found["flat"] else []
    faults += [f"{found['hidden']} words of drawings without a size"] if found["hidden"] else []
    return Seen(faults=tuple(faults), drawn=found["drawn"], words=float(found["words"] or 0))


def _asked(url: str, page: Path, faults: list[str]) -> None:
    if url != page.as_uri() and not url.startswith("data:"):
        faults.append(f"request: {url}")
