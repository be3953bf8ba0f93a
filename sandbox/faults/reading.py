"""Rules from JSON, strictly: a misspelt rule that never acts would prove nothing."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from sandbox.faults.rules import REGEX, Act, BodyLimit, Drop, Latency, Rule, Status, Truncate

if TYPE_CHECKING:
    from pathlib import Path

_TEXTS: Final = ("name", "method", "route", "verb", "key")
_NUMBERS: Final = {"from": "first", "to": "last", "every": "every"}
_ACTS: Final = ("status", "latency", "drop", "body_limit", "truncate")
_LONGEST: Final = 3600
_STATUSES: Final = range(200, 600)
_ACCEPTED: Final = (
    f"accepted are {', '.join((*_TEXTS, *_NUMBERS))} and one of {', '.join(_ACTS)} (with status also body and headers)"
)


class RulesError(ValueError):
    """The rules cannot be used. Says which rule, and what is accepted."""


def read(path: Path) -> tuple[Rule, ...]:
    """Rules of a file. Raises RulesError."""
    try:
        return parse(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise RulesError(f"{path} cannot be read ({error}); name a file with rules") from error


def parse(text: str) -> tuple[Rule, ...]:
    """Rules of a JSON list of objects. Raises RulesError."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise RulesError(f"the rules are not JSON ({error}); accepted is a list of objects") from error
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise RulesError("the rules are no list of objects; accepted is [{…}, …]")
    return tuple(_rule(number, one) for number, one in enumerate(found, 1))


def _rule(number: int, found: dict[str, Any]) -> Rule:
    where = f"rule {number}"
    unknown = sorted(set(found) - {*_TEXTS, *_NUMBERS, *_ACTS, "body", "headers"})
    acts = [word for word in _ACTS if word in found]
    if unknown or len(acts) != 1:
        raise RulesError(f"{where} has {', '.join(unknown) or acts or 'nothing to do'}; {_ACCEPTED}")
    if acts != ["status"] and {"body", "headers"} & set(found):
        raise RulesError(f"{where} has a body or headers without a status; {_ACCEPTED}")
    texts = {word: _text(where, word, found[word]) for word in _TEXTS if word in found}
    numbers = {name: _whole(where, word, found[word], 1) for word, name in _NUMBERS.items() if word in found}
    _route(where, texts.get("route", "*"))
    return Rule(act=_act(where, acts[0], found), **texts, **numbers)  # type: ignore[arg-type]  # fields by their names


def _act(where: str, word: str, found: dict[str, Any]) -> Act:
    value = found[word]
    if word == "status":
        code = _whole(where, word, value, _STATUSES.start)
        if code not in _STATUSES:
            raise RulesError(f"{where}: status is {code}; accepted is {_STATUSES.start} to {_STATUSES.stop - 1}")
        return Status(code, _text(where, "body", found.get("body", "")), _headers(where, found.get("headers", {})))
    if word == "latency":
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _LONGEST:
            raise RulesError(f"{where}: latency is {value!r}; accepted are seconds above 0, up to {_LONGEST}")
        return Latency(float(value))
    if word == "drop":
        if value not in ("before", "after"):
            raise RulesError(f"{where}: drop is {value!r}; accepted is before or after the call reached the server")
        return Drop(reached=value == "after")
    return (BodyLimit if word == "body_limit" else Truncate)(_whole(where, word, value, 0))


def _route(where: str, route: str) -> None:
    if route.startswith(REGEX):
        try:
            re.compile(route.removeprefix(REGEX))
        except re.error as error:
            raise RulesError(f"{where}: route is no regular expression ({error})") from error


def _text(where: str, word: str, value: object) -> str:
    if not isinstance(value, str):
        raise RulesError(f"{where}: {word} is {value!r}; accepted is text")
    return value


def _whole(where: str, word: str, value: object, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise RulesError(f"{where}: {word} is {value!r}; accepted is a whole number from {least} on")
    return value


def _headers(where: str, value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(one, str) for pair in value.items() for one in pair):
        raise RulesError(f"{where}: headers are {value!r}; accepted is an object of texts")
    return value
