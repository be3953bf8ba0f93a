"""Statements that make tables, taken apart so that they can be run in another database.

They come from `system.tables.create_table_query`, so as ClickHouse's own formatter writes them.
"""

from __future__ import annotations

import re
from typing import Final

from recovery.errors import RecoveryError

_IDENTIFIER: Final = r"(?:`(?:[^`\\]|\\.|``)*`|\"(?:[^\"\\]|\\.|\"\")*\"|[A-Za-z_][A-Za-z0-9_]*)"
_HEAD: Final = re.compile(
    rf"\A(?:CREATE|ATTACH)\s+(TABLE|VIEW|MATERIALIZED\s+VIEW)\s+(?:IF\s+NOT\s+EXISTS\s+)?{_IDENTIFIER}\s*\.\s*{_IDENTIFIER}"
    rf"(?:\s+UUID\s+'[^']*')?(?:\s+ON\s+CLUSTER\s+{_IDENTIFIER})?(?:\s+TO\s+INNER\s+UUID\s+'[^']*')?\s*(.*)\Z",
    re.IGNORECASE | re.DOTALL,
)
_TOKEN: Final = re.compile(rf"'(?:[^'\\]|\\.|'')*'|{_IDENTIFIER}|\d\w*|\s+|.", re.DOTALL)
_KEEPER: Final = re.compile(r"(?:Replicated|Shared)(\w*MergeTree)\Z")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "f": "\f"}


def quoted(name: str) -> str:
    """A name as an identifier of SQL."""
    escaped = name.replace("\\", "\\\\").replace("`", "\\`")
    return f"`{escaped}`"


def tail(statement: str, table: str) -> tuple[str, str]:
    """(TABLE, VIEW or MATERIALIZED VIEW; what follows the table's name), without what holds only where it was made.

    An engine that is replicated becomes the plain one: its path in Keeper may be another table's. Names of databases
    are left alone. table: for the message. Raises RecoveryError when the statement cannot be read.
    """
    found = _HEAD.match(statement)
    if not found:
        raise RecoveryError(
            f"table {table}: its definition begins with {statement[:60]!r}, which this version cannot read; accepted "
            "are tables, views and materialized views. Report it, or move it to a database that is not secured"
        )
    return re.sub(r"\s+", " ", found[1].upper()), _without_definer(_plain_engine(found[2])).strip()


def renamed(text: str, old: str, new: str) -> str:
    """A tail with every `old.` before a name replaced by `new.`: how views name tables."""
    tokens = _TOKEN.findall(text)
    for index, token in enumerate(tokens):
        before = tokens[index - 1] if index else ""
        after = tokens[index + 1] if index + 1 < len(tokens) else ""
        if after == "." and before != "." and _name(token) == old:
            tokens[index] = quoted(new)
    return "".join(tokens)


def names(text: str, database: str) -> bool:
    """Whether a tail names a database, as an identifier or in a text, as dictGet() does."""
    tokens = _TOKEN.findall(text)
    in_text = any(token.startswith(f"'{database}.") for token in tokens)
    return in_text or renamed(text, database, f"{database}x") != text


def writes_elsewhere(text: str) -> bool:
    """Whether a materialized view's tail begins with TO: its rows are in a table that is listed by itself."""
    return text.upper().startswith("TO ")


def _name(token: str) -> str:
    if token[:1] not in {"`", '"'}:
        return token
    inner = token[1:-1].replace(token[0] * 2, token[0])
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), inner, flags=re.DOTALL)


def _plain_engine(text: str) -> str:
    tokens = _TOKEN.findall(text)
    words = [(index, token) for index, token in enumerate(tokens) if not token.isspace()]
    depth = 0
    for place, (_, word) in enumerate(words[:-2]):
        depth += _depth(word)
        engine = _KEEPER.match(words[place + 2][1])
        if depth == 0 and word.upper() == "ENGINE" and words[place + 1][1] == "=" and engine:
            start = words[place + 2][0]
            arguments, end = _arguments(tokens, start + 1)
            if arguments and arguments[0].startswith("'"):
                arguments = arguments[2:]
            given = f"({', '.join(arguments)})" if arguments else ""
            return "".join(tokens[:start]) + engine[1] + given + "".join(tokens[end:])
    return text


def _depth(word: str) -> int:
    return (word == "(") - (word == ")")


def _arguments(tokens: list[str], start: int) -> tuple[list[str], int]:
    """Arguments in the parentheses at `start`, and where they end; none where there are no parentheses."""
    if start >= len(tokens) or tokens[start] != "(":
        return [], start
    depth, found, end = 0, [""], start
    for index in range(start, len(tokens)):
        depth += _depth(tokens[index])
        if depth == 0:
            end = index + 1
            break
        if tokens[index] == "," and depth == 1:
            found.append("")
        elif index > start:
            found[-1] += tokens[index]
    return [argument.strip() for argument in found if argument.strip()], end


def _without_definer(text: str) -> str:
    """Without the account that a view runs as: there is none of that name where it is restored."""
    tokens = _TOKEN.findall(text)
    words = [index for index, token in enumerate(tokens) if not token.isspace()]
    depth = 0
    for place, index in enumerate(words[:-3]):
        depth += _depth(tokens[index])
        if depth == 0 and tokens[index].upper() == "AS":
            return text
        if depth == 0 and tokens[index].upper() == "DEFINER" and tokens[words[place + 1]] == "=":
            end = words[place + 3]
            if tokens[end].upper() == "SQL":  # SQL SECURITY DEFINER
                end = words[place + 6] if place + 6 < len(words) else len(tokens)
            return "".join(tokens[:index]) + "".join(tokens[end:])
    return text
