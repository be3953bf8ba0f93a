"""What a request asks: text and data taken apart, as ClickHouse's parser sees them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_COMMENTS: Final = r"(?:\s|--[^\n]*\n|/\*.*?\*/)*"
_INSERT: Final = re.compile(rf"\A{_COMMENTS}INSERT\s+INTO\b".encode(), re.IGNORECASE | re.DOTALL)
_SELECTS: Final = re.compile(rb"\b(SELECT|WITH|VALUES|FROM\s+INFILE|WATCH)\b", re.IGNORECASE)
_INPUT_FORMAT: Final = re.compile(rb"\bFORMAT\s+([A-Za-z]\w*)(?:[ \t]*;)?\s?", re.IGNORECASE)
_OUTPUT_FORMAT: Final = re.compile(r"\bFORMAT\s+([A-Za-z]\w*)\s*(?:SETTINGS\b[^;]*)?;?\s*\Z", re.IGNORECASE | re.DOTALL)
_READS: Final = re.compile(rf"\A{_COMMENTS}(SELECT|WITH)\b", re.IGNORECASE | re.DOTALL)
_QUOTED: Final = re.compile(r"'(?:[^'\\]|\\.|'')*'", re.DOTALL)
STREAMED: Final = frozenset({"tabseparated", "tsv", "tabseparatedraw", "tsvraw", "csv", "jsoneachrow", "native"})
"""Formats without head and foot: chunks of a result may be written one after another."""


@dataclass(frozen=True)
class Insert:
    """Rows to be read from the body. statement: without its format. data: rows that came with the statement."""

    statement: str
    format: str
    data: bytes


@dataclass(frozen=True)
class Query:
    """Anything else. format: of the result. streamed: whether the result may be written while it is made."""

    text: str
    format: str
    streamed: bool


def insert(text: bytes, *, separate: bool) -> Insert | None:
    """The insert that takes rows in a format, None for everything else, `INSERT … VALUES` and `INSERT … SELECT` too.

    text: the statement, rows may follow it. separate: whether rows come by themselves; then they may lack a format.
    Raises UnicodeDecodeError when the statement is no UTF-8.
    """
    if not _INSERT.match(text):
        return None
    found = _INPUT_FORMAT.search(text)
    head = text[: found.start()] if found else text
    if _SELECTS.search(head) or not (found or separate):
        return None
    name = found[1].decode() if found else "Values"
    return Insert(head.decode().strip(), name, text[found.end() :] if found else b"")


def query(text: str, default_format: str) -> Query:
    """A statement to run as it is. default_format: of the result when the text names none."""
    bare = _QUOTED.sub("''", text)
    found = _OUTPUT_FORMAT.search(bare)
    name = found[1] if found else default_format
    return Query(text, name, streamed=bool(_READS.match(bare)) and name.lower() in STREAMED)
