"""The report of a run: for machines (JSON, JUnit XML) and for people (one HTML page, Markdown for a ticket)."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from smoke.report import html, junit, markdown, plain

if TYPE_CHECKING:
    from smoke.model import Run

# The JSON is written last: whoever finds it finds the others as well.
WRITERS = {
    "report.html": html.render,
    "report.md": markdown.render,
    "report.xml": junit.render,
    "report.json": plain.render,
}


def remove_old(directory: Path) -> None:
    """Delete the report of an earlier run, so that no crash can leave its verdict standing.

    Raises OSError.
    """
    directory.mkdir(parents=True, exist_ok=True)
    for name in WRITERS:
        (directory / name).unlink(missing_ok=True)


def write(run: Run, directory: Path) -> None:
    """Write all files, each whole or not at all.

    Raises OSError.
    """
    for name, render in WRITERS.items():
        _atomically(directory / name, render(run))


def _atomically(path: Path, text: str) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
