"""Every link of the documentation to a file leads to one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from tests.offline.architecture.tree import files, name

if TYPE_CHECKING:
    from pathlib import Path

LINK = re.compile(r"\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)|^\[[^\]]+\]: (\S+)", re.M)
CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`", re.M | re.S)


def broken(page: Path) -> list[str]:
    """Links of a page that lead to no file."""
    targets = [a or b for a, b in LINK.findall(CODE.sub("", page.read_text()))]
    local = [t for t in targets if not re.match(r"[a-z][a-z0-9+.-]*:|#", t)]
    return [target for target in local if not (page.parent / unquote(target.partition("#")[0])).exists()]


def test_every_link_leads_to_a_file() -> None:
    assert {name(page): links for page in files(".md") if (links := broken(page))} == {}


def test_link_to_nothing_is_seen(tmp_path: Path) -> None:
    (tmp_path / "there.md").touch()
    page = tmp_path / "page.md"
    page.write_text("[a](there.md) [b](there.md#part) [c](gone.md) [d](https://example.org/x)\n\n[e]: also-gone.md\n")
    assert broken(page) == ["gone.md", "also-gone.md"]


def test_code_is_no_link(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("`x[0](gone.md)`\n\n```\n[a](gone.md)\n```\n")
    assert broken(page) == []
