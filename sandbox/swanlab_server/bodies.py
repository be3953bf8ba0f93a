"""Fields of bodies and queries, read strictly. Every function raises Refusal (400) and names the field."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sandbox.swanlab_server.web import Refusal

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

LONGEST: Final = 512
"""Characters of a name or key."""
PAGE_SIZES: Final = (10, 12, 15, 20, 24, 27, 50, 100)


def wrong(field: str, accepted: str) -> Refusal:
    """The refusal of one field."""
    return Refusal(400, "Invalid_Field", f"{field} is wrong; accepted is {accepted}")


def mapping(value: object, field: str = "the body") -> Mapping[str, Any]:
    """A JSON object."""
    if not isinstance(value, dict):
        raise wrong(field, "an object")
    return value


def objects(value: object, field: str, most: int) -> list[Mapping[str, Any]]:
    """A list of at most so many objects."""
    if not isinstance(value, list) or len(value) > most:
        raise wrong(field, f"a list of at most {most} objects")
    return [mapping(item, f"an item of {field}") for item in value]


def texts(value: object, field: str, most: int) -> list[str]:
    """A list of at most so many texts that are not empty."""
    if not isinstance(value, list) or len(value) > most or not all(isinstance(item, str) and item for item in value):
        raise wrong(field, f"a list of at most {most} texts")
    return value


def text(body: Mapping[str, Any], field: str, *, longest: int = LONGEST) -> str:
    """A text that is there and not empty."""
    value = body.get(field)
    if not isinstance(value, str) or not 0 < len(value.strip()) <= longest:
        raise wrong(field, f"a text of 1 to {longest} characters")
    return value.strip()


def text_or(body: Mapping[str, Any], field: str, default: str = "", *, longest: int = LONGEST) -> str:
    """A text, or the default where it is absent, null or empty."""
    return text(body, field, longest=longest) if body.get(field) else default


def choice(body: Mapping[str, Any], field: str, accepted: Collection[str], default: str | None = None) -> str:
    """One of several words."""
    value = body.get(field) or default
    if value not in accepted:
        raise wrong(field, ", ".join(sorted(accepted)))
    return str(value)


def number(body: Mapping[str, Any], field: str, *, least: int, most: int) -> int:
    """A whole number within limits."""
    value = body.get(field)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise wrong(field, f"a whole number from {least} to {most}")
    return value


@dataclass(frozen=True)
class Page:
    """Which part of a list: page from 1, size in items."""

    page: int
    size: int

    @property
    def offset(self) -> int:
        """Items before this page."""
        return (self.page - 1) * self.size

    def of(self, items: list[Any], total: int) -> dict[str, Any]:
        """The answer, as the SDKs read it."""
        return {"list": items, "size": self.size, "pages": max(1, math.ceil(total / self.size)), "total": total}


def page(query: Mapping[str, str], default: int = 20) -> Page:
    """Page and size of a query."""
    number_, size = query.get("page", "1"), query.get("size", str(default))
    if not (number_.isascii() and number_.isdigit() and 0 < int(number_) < 10**6):
        raise wrong("page", "a whole number from 1")
    if size not in map(str, PAGE_SIZES):
        raise wrong("size", ", ".join(map(str, PAGE_SIZES)))
    return Page(int(number_), int(size))
