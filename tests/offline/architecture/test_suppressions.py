"""Whoever silences a tool says which finding, and why."""

from __future__ import annotations

import io
import re
import tokenize

import pytest

from tests.offline.architecture.tree import modules

# Written in two parts, so that the tools do not take this file's patterns for orders to them.
NOQA, IGNORE = "no" + "qa", "type: ig" + "nore"
ORDER = re.compile(rf"#\s*(?:{NOQA}|{IGNORE})(?P<codes>: [A-Z]+\d+(?:, ?[A-Z]+\d+)*|\[[\w, -]+\])?", re.I)


def unexplained(module: str, source: str) -> list[str]:
    """Comments that silence a tool without naming the finding or the reason."""
    found = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        orders = list(ORDER.finditer(token.string)) if token.type == tokenize.COMMENT else []
        if orders and not (all(o["codes"] for o in orders) and _words(token.string)):
            found.append(f"{module}:{token.start[0]} {token.string}")
    return found


def _words(comment: str) -> list[str]:
    """What a comment says beside its orders."""
    return re.findall(r"[a-zA-Z]{2,}", ORDER.sub("", comment))


def test_every_suppression_is_explained() -> None:
    assert [line for module, source in modules().items() for line in unexplained(module, source)] == []


@pytest.mark.parametrize(
    "comment",
    [f"# {NOQA}", f"# {NOQA}: S101", f"# {NOQA}: S101, E501", f"# {IGNORE}", f"# {IGNORE}[misc]", f"# {NOQA}  why not"],
)
def test_unexplained_suppression_is_seen(comment: str) -> None:
    assert len(unexplained("m", f"x = 1  {comment}\n")) == 1


@pytest.mark.parametrize(
    "line",
    [
        f"x = 1  # {NOQA}: S104  a comparison, no bind",
        f"x = 1  # {NOQA}: S104, E501  # a comparison, no bind",
        f"x = 1  # {IGNORE}[misc,unused-ignore]  # ships without type information",
        f'x = "# {NOQA}"',
        "x = 1  # an ordinary comment",
    ],
)
def test_explained_suppression_is_accepted(line: str) -> None:
    assert unexplained("m", f"{line}\n") == []
