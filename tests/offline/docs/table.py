"""Tables of Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, with an empty line behind it. Line breaks and bars in cells are made harmless."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(_cell(cell) for cell in line)} |\n" for line in lines) + "\n"


def facts(items: dict[str, str]) -> str:
    """A list of names with their values, with an empty line behind it."""
    return "".join(f"- {name}: {' '.join(value.split())}\n" for name, value in items.items()) + "\n"


def code(text: object) -> str:
    """As a code span."""
    return f"`{text}`"


def either(values: Iterable[object]) -> str:
    """Code spans joined by `or`."""
    return " or ".join(code(value) for value in values)


def listed(values: Iterable[object]) -> str:
    """Code spans joined by commas; `none` without any."""
    return ", ".join(code(value) for value in values) or "none"


def number(value: float) -> str:
    """A whole number without a point; any other as it is written."""
    return str(int(value)) if value == int(value) else str(value)


def slug(title: str) -> str:
    """What a link to the heading of this title says after `#`."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
