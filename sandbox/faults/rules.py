"""Rules: which calls a proxy does something to, and what. Pure but for the counters of `Plan`."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

REGEX: Final = "re:"
TOO_LARGE: Final = 413


@dataclass(frozen=True)
class Status:
    """Answer with this status in the server's place; the server never hears of the call."""

    code: int
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Latency:
    """Hold the call for so many seconds before anything else is done to it."""

    seconds: float


@dataclass(frozen=True)
class Drop:
    """Close the connection without an answer. reached: whether the server got the call, and did what it asks for."""

    reached: bool = False


@dataclass(frozen=True)
class BodyLimit:
    """Refuse with 413 what has a body of more bytes. Smaller calls do not match the rule."""

    bytes: int


@dataclass(frozen=True)
class Truncate:
    """Announce the whole answer, send so many bytes of its body, and close the connection."""

    bytes: int


Act = Status | Latency | Drop | BodyLimit | Truncate


@dataclass(frozen=True)
class Asked:
    """A call as rules see it. path: without query. verb, key: as in `s3.Wish`. size: bytes of the body."""

    method: str
    path: str
    verb: str = ""
    key: str = ""
    size: int = 0


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What is done to which calls.

    method, verb, key: glob patterns. route: a glob pattern over the path, or `re:` and a regular expression that the
    whole path matches. first, last, every: of the calls that match, the first-th, and from there every every-th until
    the last-th; without `last` for ever.
    """

    act: Act
    name: str = ""
    method: str = "*"
    route: str = "*"
    verb: str = "*"
    key: str = "*"
    first: int = 1
    last: int | None = None
    every: int = 1

    def matches(self, asked: Asked) -> bool:
        """Whether the call is one of those that the rule is about."""
        if isinstance(self.act, BodyLimit) and asked.size <= self.act.bytes:
            return False
        told = ((self.method, asked.method), (self.verb, asked.verb), (self.key, asked.key))
        return all(fnmatchcase(value, pattern) for pattern, value in told) and self._on_route(asked.path)

    def due(self, number: int) -> bool:
        """Whether it acts on the number-th call that matches, counted from 1."""
        if number < self.first or (self.last is not None and number > self.last):
            return False
        return (number - self.first) % self.every == 0

    def _on_route(self, path: str) -> bool:
        if self.route.startswith(REGEX):
            return re.fullmatch(self.route.removeprefix(REGEX), path) is not None
        return fnmatchcase(path, self.route)


@dataclass(frozen=True)
class Decision:
    """seconds: to wait first. act: what is done then, None to pass the call on. names: of the rules that act."""

    seconds: float = 0.0
    act: Status | Drop | BodyLimit | Truncate | None = None
    names: tuple[str, ...] = ()


class Plan:
    """Rules and how often each has matched. Every rule counts for itself, whatever the others do."""

    def __init__(self, rules: Sequence[Rule] = ()) -> None:
        """The counts begin anew."""
        self.rules = tuple(rules)
        self._counts = [0] * len(self.rules)
        self._lock = threading.Lock()

    def decide(self, asked: Asked) -> Decision:
        """What is done to this call, which is counted: of the rules that are due all latencies, and one other act."""
        with self._lock:
            due = [rule for number, rule in enumerate(self.rules) if self._counted(number, rule, asked)]
        seconds = sum(rule.act.seconds for rule in due if isinstance(rule.act, Latency))
        others = [rule for rule in due if not isinstance(rule.act, Latency)][:1]
        acting = [rule for rule in due if isinstance(rule.act, Latency) or rule in others]
        act = others[0].act if others else None
        assert not isinstance(act, Latency)  # noqa: S101  # sorted out above
        return Decision(seconds, act, tuple(rule.name or type(rule.act).__name__ for rule in acting))

    def _counted(self, number: int, rule: Rule, asked: Asked) -> bool:
        if not rule.matches(asked):
            return False
        self._counts[number] += 1
        return rule.due(self._counts[number])
