"""Reads what a caller sent, and says what is wrong with it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LONGEST_TEXT: Final = 4096


class AskError(Exception):
    """A request that cannot be played. The message says what is wrong, where, and what is accepted."""


def members(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError as error:
        raise AskError(f"the body is no JSON ({error}); send an object") from error
    if not isinstance(found, dict):
        raise AskError(f"the body is {type(found).__name__}; accepted is a JSON object")
    return found


def known(found: Mapping[str, Any], names: Sequence[str], where: str) -> None:
    unknown = sorted(set(found) - set(names))
    if unknown:
        raise AskError(f"{where} has {', '.join(unknown)}; accepted are {', '.join(names)}")


def mapping(found: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = found.get(name, {})
    if not isinstance(value, dict):
        raise AskError(f"{name} is {value!r}; accepted is an object")
    return value


def whole(found: Mapping[str, Any], name: str, default: int, low: int, high: int) -> int:
    value = found.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise AskError(f"{name} is {value!r}; accepted is a whole number from {low} to {high}")
    return value


def truth(found: Mapping[str, Any], name: str, *, default: bool) -> bool:
    value = found.get(name, default)
    if not isinstance(value, bool):
        raise AskError(f"{name} is {value!r}; accepted are true and false")
    return value


def word(found: Mapping[str, Any], name: str, default: str) -> str:
    value = found.get(name, default)
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise AskError(f"{name} is {type(value).__name__}; accepted is a string of up to {LONGEST_TEXT} characters")
    return value


def one_of(found: Mapping[str, Any], name: str, accepted: Sequence[str]) -> str:
    value = found.get(name, "")
    if value and value not in accepted:
        raise AskError(f"{name} is {value!r}; accepted are {', '.join(accepted)}")
    return str(value)
