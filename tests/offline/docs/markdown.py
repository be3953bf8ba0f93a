"""Markdown as far as the tests need it: fences with their markers, code spans, links, headings, rows of tables."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
_FENCE = re.compile(r"^(?P<fence>`{3,}|~{3,})(?P<language>\S*)\s*$")
_MARKER = re.compile(r"^<!-- test: (?P<marker>.+?) -->$")
_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_LINK = re.compile(r"(?<!\\)\]\((?P<target>[^()\s]+)\)")
_HEADING = re.compile(r"^#{1,6} (?P<title>.+?)\s*$")
_RULER = re.compile(r"\|[-:| ]+\|")
_NOT_IN_SLUG = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, kw_only=True)
class Block:
    """A fenced block. line: of its fence. marker: what stands after `test:` in the comment right above it."""

    page: str
    line: int
    language: str
    marker: str | None
    lines: tuple[str, ...]

    @property
    def where(self) -> str:
        """`page:line`, for messages."""
        return f"{self.page}:{self.line}"


@dataclass(frozen=True, kw_only=True)
class Found:
    """A piece of text and where it stands."""

    page: str
    line: int
    text: str

    @property
    def where(self) -> str:
        """`page:line`, for messages."""
        return f"{self.page}:{self.line}"


@dataclass(frozen=True, kw_only=True)
class Page:
    """A Markdown file. prose: its lines with those of fences and comments blanked, so that line numbers stay."""

    path: str
    blocks: tuple[Block, ...]
    prose: tuple[str, ...]

    def spans(self) -> list[Found]:
        """Code spans, those that run over a line break included."""
        text = "\n".join(self.prose)
        return [self._found(text, hit.start(), " ".join(hit[2].split())) for hit in _SPAN.finditer(text)]

    def links(self) -> list[Found]:
        """Targets of links."""
        text = _SPAN.sub(lambda hit: re.sub(r"[^\n]", " ", hit[0]), "\n".join(self.prose))
        return [self._found(text, hit.start(), hit["target"]) for hit in _LINK.finditer(text)]

    def anchors(self) -> set[str]:
        """What a link to a heading may say after `#`."""
        seen: dict[str, int] = {}
        found = set()
        for line in self.prose:
            heading = _HEADING.match(line)
            if heading:
                slug = _NOT_IN_SLUG.sub("", heading["title"].lower()).replace(" ", "-")
                seen[slug] = seen.get(slug, -1) + 1
                found.add(slug if seen[slug] == 0 else f"{slug}-{seen[slug]}")
        return found

    def tables(self, head: str) -> list[list[Found]]:
        """Rows, as cells, of every table whose first column is headed `head`. No cell may hold a `|`."""
        found: list[list[Found]] = []
        inside = False
        for number, line in enumerate(self.prose, 1):
            cells = [cell.strip() for cell in line.strip("| ").split("|")]
            if number < len(self.prose) and _RULER.fullmatch(self.prose[number]):
                inside = cells[0] == head
            elif not line.startswith("|"):
                inside = False
            elif inside and not _RULER.fullmatch(line):
                found.append([Found(page=self.path, line=number, text=cell) for cell in cells])
        return found

    def _found(self, text: str, start: int, what: str) -> Found:
        return Found(page=self.path, line=text.count("\n", 0, start) + 1, text=what)


def parse(path: str, text: str) -> Page:
    """A page from its text. Raises ValueError for a fence that is never closed."""
    lines = text.splitlines()
    blocks: list[Block] = []
    prose: list[str] = []
    at = 0
    while at < len(lines):
        fence = _FENCE.match(lines[at].strip())
        if fence is None:
            prose.append("" if _MARKER.match(lines[at].strip()) else lines[at])
            at += 1
            continue
        end = _closing(path, lines, at, fence["fence"])
        above = _MARKER.match(lines[at - 1].strip()) if at else None
        content = textwrap.dedent("\n".join(lines[at + 1 : end])).splitlines()
        blocks.append(
            Block(
                page=path,
                line=at + 1,
                language=fence["language"],
                marker=above["marker"] if above else None,
                lines=tuple(content),
            )
        )
        prose += [""] * (end + 1 - at)
        at = end + 1
    return Page(path=path, blocks=tuple(blocks), prose=tuple(prose))


def _closing(path: str, lines: list[str], opened: int, fence: str) -> int:
    for number in range(opened + 1, len(lines)):
        if lines[number].strip() == fence:
            return number
    raise ValueError(f"{path}:{opened + 1}: a fence is opened and never closed")


@cache
def pages() -> tuple[Page, ...]:
    """Every Markdown file of the project, in the order in which a newcomer reads them."""
    first = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    paths = [*first, *sorted((ROOT / "docs").rglob("*.md"))]
    return tuple(parse(p.relative_to(ROOT).as_posix(), p.read_text(encoding="utf-8")) for p in paths)


def blocks() -> list[Block]:
    """Every fenced block of the project."""
    return [block for page in pages() for block in page.blocks]
