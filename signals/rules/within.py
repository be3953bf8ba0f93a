"""Confine an expression to the series of one cluster: a matcher in every selector, and nothing else changed.

For a Prometheus that somebody else runs: it holds series of the same names and jobs that are not of this stack.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN: Final = re.compile(
    r"""
      (?P<space>\s+|\#[^\n]*)
    | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`)
    | (?P<number>(?:0[xX][0-9a-fA-F]+|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+|[a-z][a-z0-9]*)?)(?![\w.]))
    | (?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)
    | (?P<open>[({\[])
    | (?P<close>[)}\]])
    | (?P<other>==|!=|<=|>=|=~|!~|[-+*/%^<>=@,:])
    """,
    re.VERBOSE,
)
_LABEL_LISTS: Final = frozenset({"by", "without", "on", "ignoring", "group_left", "group_right"})
_KEYWORDS: Final = _LABEL_LISTS | {"and", "or", "unless", "atan2", "bool", "offset", "inf", "nan"}
_GROUPED: Final = frozenset({"by", "without"})
_CLOSES: Final = {"(": ")", "{": "}", "[": "]"}


def within(expression: str, cluster: str) -> str:
    """The PromQL expression with `cluster="…"` in every selector. Raises ValueError for what it cannot read.

    Names are told apart as Prometheus' grammar does (promql/parser/generated_parser.y): one before a parenthesis is a
    function or an aggregation, one before `by` or `without` an aggregation, those behind `by`, `on` and their like
    are labels. A metric that is named like a keyword is not supported, and none is.
    """
    matcher = f"cluster={json.dumps(cluster, ensure_ascii=False)}"
    tokens = list(_tokens(expression))
    return "".join(_confined(tokens, matcher))


def _tokens(expression: str) -> Iterator[tuple[str, str]]:
    """Kind and text of each token; together they are the expression."""
    place = 0
    while place < len(expression):
        found = _TOKEN.match(expression, place)
        if found is None or found.lastgroup is None:
            raise ValueError(f"`{expression[place : place + 20]}` is no PromQL: no token begins there")
        yield found.lastgroup, found[0]
        place = found.end()


def _confined(tokens: list[tuple[str, str]], matcher: str) -> Iterator[str]:
    """The texts of the tokens, with the matcher where a selector is: never in braces, brackets and label lists."""
    opened: list[tuple[str, bool]] = []
    before = ""
    for index, (kind, text) in enumerate(tokens):
        after = _next(tokens, index)
        inert = bool(opened) and opened[-1][1]
        yield text
        if kind == "open":
            opened.append((text, inert or text != "(" or before in _LABEL_LISTS))
            if text == "{":
                yield matcher if after == "}" else f"{matcher}, "
        elif kind == "close":
            if not opened or _CLOSES[opened.pop()[0]] != text:
                raise ValueError(f"`{text}` closes what was not opened")
        elif kind == "name" and not inert and _is_bare_metric(text, after):
            yield f"{{{matcher}}}"
        if kind != "space":
            before = text.lower()
    if opened:
        raise ValueError(f"`{opened[-1][0]}` is not closed")


def _is_bare_metric(text: str, after: str) -> bool:
    """A metric without braces of its own; one that has them gets the matcher there."""
    return text.lower() not in _KEYWORDS and after not in ("(", "{") and after.lower() not in _GROUPED


def _next(tokens: list[tuple[str, str]], index: int) -> str:
    """Text of the next token that is no space; empty at the end."""
    return next((text for kind, text in tokens[index + 1 :] if kind != "space"), "")
