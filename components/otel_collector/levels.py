"""Levels of records: read from where a sender wrote them, and spelled in one way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from components.otel_collector.container_logs import LEVEL_KEYS, LEVEL_NAMES
from components.otel_collector.debug import LEVELS
from components.otel_collector.fitting import SENT
from components.otel_collector.parts import literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from components.objects import Manifest

SENT_LEVEL: Final = f"{SENT}level"
"""Attribute with the text of a severity that said more than the level."""
_SPELLINGS: Final = {
    "TRACE": "trace|trc",
    "DEBUG": "debug|dbg",
    "INFO": "info|inf|information",
    "WARN": "warn|wrn|warning",
    "ERROR": "error|err",
    "FATAL": "fatal",
}
"""Of the level alone, beside a digit that the number of the severity has as well."""
_PER_LEVEL: Final = 4
"""Numbers of severities that one level has, the first level from 1 on."""
_TEXT, _NUMBER, _READ = "log.severity_text", "log.severity_number", 'log.cache["level"]'


def read() -> Manifest:
    """Group of statements before a body that is a map becomes attributes: where the record has no severity."""
    may_say = '(IsMap(log.body) or log.body == nil or log.body == "")'
    return {"context": "log", "conditions": [f"{_NUMBER} == 0 and {may_say}"], "statements": [*_read()]}


def spelled() -> Iterator[Manifest]:
    """Groups of statements after whatever makes names under SENT free."""
    for place, level in enumerate(LEVELS):
        yield _spelled(level, place * _PER_LEVEL + 1)


def _read() -> Iterator[str]:
    """As the agent reads a line (components/otel_collector/container_logs.py)."""
    for where, also in (("log.body", "IsMap(log.body) and "), ("log.attributes", "")):
        for key in LEVEL_KEYS:
            member = f"{where}[{literal(key)}]"
            yield f"set({_READ}, {member}) where {_READ} == nil and {also}IsString({member})"
    for place, level in enumerate(LEVELS):
        names = "|".join([f"{level.lower()}[1-{_PER_LEVEL}]?", *LEVEL_NAMES[level.lower()]])
        is_one = f"IsMatch({_READ}, {literal(f'(?i)^(?:{names})$')})"
        yield f"set({_NUMBER}, {place * _PER_LEVEL + 1}) where {_READ} != nil and {is_one}"
    for digit in range(2, _PER_LEVEL + 1):
        has_digit = f"IsMatch({_READ}, {literal(f'{digit}$')})"
        yield f"set({_NUMBER}, {_NUMBER} + {digit - 1}) where {_NUMBER} > 0 and {has_digit}"
    yield f'set({_TEXT}, {_READ}) where {_NUMBER} == 0 and {_READ} != nil and {_TEXT} == ""'


def _spelled(level: str, first: int) -> Manifest:
    """The short name of the level instead of what was sent, which is kept if it says more. first: its lowest number."""
    plain = f"(?i)^(?:{_SPELLINGS[level]})[1-{_PER_LEVEL}]?$"
    # Most are spelled so already, and cost no expression.
    more = f'{_TEXT} != {literal(level)} and {_TEXT} != "" and not IsMatch({_TEXT}, {literal(plain)})'
    return {
        "context": "log",
        "conditions": [f"{_NUMBER} >= {first} and {_NUMBER} < {first + _PER_LEVEL}"],
        "statements": [
            f"set(log.attributes[{literal(SENT_LEVEL)}], {_TEXT}) where {more}",
            f"set({_TEXT}, {literal(level)})",
        ],
    }
