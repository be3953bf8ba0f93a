"""Texts that a regular expression matches, made from the expression itself, and a record's text as signs see it."""

from __future__ import annotations

import json
import re
import string
from re import _parser  # type: ignore[attr-defined]  # the standard library's own reader of expressions, untyped
from typing import TYPE_CHECKING, Any, Final

from components.otel_collector.signs import CLOSED, NAMED

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

_ANY: Final = string.ascii_letters + string.digits + " .,:;=-_/\\'\"{}[]()<>&?+@%é\t\n"
_MOST: Final = 4
"""Repetitions beyond the least, where an expression allows any number."""
_CLASSES: Final = {"category_space": " \t\n\r\f", "category_digit": string.digits, "category_word": "azAZ09_"}
_FOLDED: Final = {"s": "sS\u017f", "k": "kK\u212a"}


def compiled(pattern: str) -> re.Pattern[str]:
    """As RE2 reads it: classes are of ASCII."""
    return re.compile(pattern.replace(r"\z", r"\Z"), 0 if "(?i" in pattern else re.ASCII)


class Maker:
    """Makes texts for one expression."""

    def __init__(self, pattern: str, chance: random.Random) -> None:
        self._parsed = _parser.parse(pattern.replace(r"\z", r"\Z"))
        self._chance = chance
        self._fold = bool(self._parsed.state.flags & re.IGNORECASE)

    def text(self) -> str:
        """One that matches, but for what must or must not stand beside it."""
        return self._all(self._parsed)

    def _all(self, parts: Any) -> str:  # noqa: ANN401  # untyped
        return "".join(self._one(str(kind).lower(), value) for kind, value in parts)

    def _one(self, kind: str, value: Any) -> str:  # noqa: ANN401  # untyped
        if kind in ("max_repeat", "min_repeat"):
            least, most, part = value
            return "".join(self._all(part) for _ in range(self._chance.randint(least, min(most, least + _MOST))))
        if kind in ("branch", "subpattern"):
            return self._all(self._chance.choice(value[1]) if kind == "branch" else value[3])
        if kind == "at":
            return ""
        return self._letter(self._chance.choice(_letters(kind, value)))

    def _letter(self, letter: str) -> str:
        if not self._fold:
            return letter
        return self._chance.choice(_FOLDED.get(letter.lower(), letter.lower() + letter.upper()))


def _letters(kind: str, value: Any) -> list[str]:  # noqa: ANN401  # untyped
    if kind == "literal":
        return [chr(value)]
    if kind == "in":
        return _of_class(value)
    assert kind in ("any", "not_literal"), kind
    return [one for one in _ANY if kind == "any" or one != chr(value)]


def _of_class(members: Any) -> list[str]:  # noqa: ANN401  # untyped
    found, negated = set[str](), False
    for kind, value in members:
        name = str(kind).lower()
        if name == "negate":
            negated = True
        elif name == "literal":
            found.add(chr(value))
        elif name == "range":
            found |= {chr(one) for one in range(value[0], value[1] + 1)}
        else:
            named = str(value).lower()
            plain = set(_CLASSES[named.replace("not_", "")])
            found |= set(_ANY) - set(string.ascii_letters + string.digits + "_") if "not_word" in named else plain
    return sorted(set(_ANY) - found if negated else found)


def plain(attributes: Mapping[str, Any], body: str = "") -> str:
    """As the gateway's `ToKeyValueString` and `ToLowerCase` write a record's flat attributes and text."""
    pairs = CLOSED.join(f"{_quoted(key)}{NAMED}{_quoted(_shown(value))}" for key, value in attributes.items())
    return _lower(f"{CLOSED}{pairs}{CLOSED} {body}{CLOSED}")


def typed(attributes: Mapping[str, Any], body: str = "") -> str:
    """As it writes them where it looks closer."""
    return _lower(f"{_json(dict(attributes))}{CLOSED}{body}")


def _lower(text: str) -> str:
    return text.lower().replace("\u017f", "s")


def _json(value: Any) -> str:  # noqa: ANN401  # any JSON
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _shown(value: Any) -> str:  # noqa: ANN401  # any JSON
    return value if isinstance(value, str) else _json(value)


def _quoted(text: str) -> str:
    escaped = text.replace('"', '\\"')
    return f'"{escaped}"' if NAMED in text or CLOSED in text else escaped
