"""Reads of what was logged, exact: each step once, float64 as it was sent, NaN and infinities as they were spelled."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from sandbox.swanlab_server import tables
from sandbox.swanlab_server.clickhouse_client import Client

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sandbox.swanlab_server.settings import ClickHouse

_NUMBER: Final = "number"
_TIME: Final = "toUnixTimestamp64Milli(timestamp)"
_FINITE: Final = "isFinite(value)"
# Texts of floats, not JSON numbers: those would lose the sign of -0.
_POINT: Final = f"(step, toString(value), kind, {_TIME})"
_AT_ONCE: Final = 50
"""Runs that one statement deletes: their ids travel in the address."""
LEVELS: Final = ("DEBUG", "INFO", "WARN", "ERROR")


@dataclass(frozen=True)
class Point:
    """One value of a series. value: the number, or the text that came in place of NaN or an infinity. timestamp: ms."""

    step: int
    value: float | str
    timestamp: int


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """Of one series. All but `latest` leave NaN and infinities out, and are None where nothing else is there.

    deviation: standard deviation of the population.
    """

    key: str
    latest: Point
    lowest: Point | None
    highest: Point | None
    mean: float | None
    median: float | None
    deviation: float | None


@dataclass(frozen=True)
class LastSteps:
    """Where a resumed run goes on. scalar, media: key → last step. log: last line number, 0 when there is none."""

    scalar: dict[str, int]
    media: dict[str, int]
    log: int


@dataclass(frozen=True)
class Media:
    """Objects of one step. paths: below the run's prefix. more: as the SDK sent it. timestamp: ms."""

    step: int
    paths: list[str]
    more: Any
    timestamp: int


@dataclass(frozen=True)
class Line:
    """A line of the terminal. epoch: its number. timestamp: ms."""

    epoch: int
    level: str
    message: str
    timestamp: int


class Points:
    """One database of points. experiment: `runs.uid`. Methods raise OSError while ClickHouse does not answer."""

    def __init__(self, settings: ClickHouse) -> None:
        """Nothing need be reachable yet."""
        self._client = Client(settings)

    def series(self, experiment: str, key: str) -> list[Point]:
        """All points of a series in order of their steps."""
        rows = self._client.select(
            f"SELECT {_POINT} FROM scalar FINAL WHERE uid = {{uid:String}} AND key = {{key:String}} ORDER BY step",  # noqa: S608  # constants
            {"uid": experiment, "key": key},
        )
        return [_point(row[0]) for row in rows]

    def keys(self, experiment: str, kind: Literal["scalar", "media"] | None = None) -> list[str]:
        """Keys that were logged, in order. kind: of which, None for both."""
        tables = (kind,) if kind else ("scalar", "media")
        parts = " UNION DISTINCT ".join(f"SELECT key FROM {name} WHERE uid = {{uid:String}}" for name in tables)  # noqa: S608  # constants
        rows = self._client.select(f"SELECT DISTINCT key FROM ({parts}) ORDER BY key", {"uid": experiment})  # noqa: S608  # constants
        return [key for (key,) in rows]

    def summaries(self, experiment: str) -> list[Statistics]:
        """Statistics of every series, in order of the keys."""
        rows = self._client.select(
            f"SELECT key, argMax({_POINT}, step), countIf({_FINITE}),"  # noqa: S608  # constants
            f" argMinIf({_POINT}, (value, step), {_FINITE}), argMaxIf({_POINT}, (value, -step), {_FINITE}),"
            f" toString(avgIf(value, {_FINITE})), toString(quantileExactInclusiveIf(0.5)(value, {_FINITE})),"
            f" toString(stddevPopIf(value, {_FINITE}))"
            " FROM scalar FINAL WHERE uid = {uid:String} GROUP BY key ORDER BY key",
            {"uid": experiment},
        )
        return [_statistics(row) for row in rows]

    def last_steps(self, experiment: str) -> LastSteps:
        """Last step of every key, and the last line of the terminal."""
        parameters = {"uid": experiment}
        text = "SELECT key, max(step) FROM {} WHERE uid = {{uid:String}} GROUP BY key ORDER BY key"
        scalar, media = (dict(self._client.select(text.format(name), parameters)) for name in ("scalar", "media"))
        ((log,),) = self._client.select("SELECT max(epoch) FROM log WHERE uid = {uid:String}", parameters)
        return LastSteps(scalar, media, log)

    def media(self, experiment: str, key: str) -> list[Media]:
        """All steps of a key, in order."""
        rows = self._client.select(
            f"SELECT step, data, more, {_TIME} FROM media FINAL"  # noqa: S608  # constants
            " WHERE uid = {uid:String} AND key = {key:String} ORDER BY step",
            {"uid": experiment, "key": key},
        )
        return [Media(step, paths, json.loads(more), time) for step, paths, more, time in rows]

    def logs(self, experiment: str, *, first: int = 0, limit: int = 1000, level: str = LEVELS[0]) -> list[Line]:
        """Lines in order. first: number of the first one wanted. level: the least that is wanted, one of LEVELS."""
        rows = self._client.select(
            f"SELECT epoch, level, message, {_TIME} FROM log FINAL"  # noqa: S608  # constants
            " WHERE uid = {uid:String} AND epoch >= {first:UInt64}"
            " AND indexOf({levels:Array(String)}, upper(level)) = 0"
            " ORDER BY epoch, precedence DESC LIMIT {limit:UInt64}",
            {"uid": experiment, "first": first, "limit": limit, "levels": _below(level)},
        )
        return [Line(*row) for row in rows]

    def log_count(self, experiment: str, *, level: str = LEVELS[0]) -> int:
        """How many lines there are. level: as in `logs`."""
        ((count,),) = self._client.select(
            "SELECT count() FROM log FINAL WHERE uid = {uid:String}"
            " AND indexOf({levels:Array(String)}, upper(level)) = 0",
            {"uid": experiment, "levels": _below(level)},
        )
        return int(count)

    def remove(self, experiments: Sequence[str]) -> None:
        """Delete what was logged into these runs. What is still in the buffer comes later, and stays unseen."""
        for start in range(0, len(experiments), _AT_ONCE):
            self._delete("uid IN {uids:Array(String)}", {"uids": list(experiments[start : start + _AT_ONCE])})

    def remove_project(self, project: str) -> None:
        """Delete what was logged into a project, what came late into its deleted runs too. project: its cuid."""
        self._delete("project = {project:String}", {"project": project})

    def _delete(self, condition: str, parameters: Mapping[str, object]) -> None:
        for table in tables.ALL:
            self._client.execute(f"DELETE FROM {table.name} WHERE {condition}", parameters)  # noqa: S608  # constants


def spell(value: float | str) -> str:
    """A value as CSV files hold it: the shortest text that is read back as the same number."""
    return value if isinstance(value, str) else repr(value)


def _below(level: str) -> list[str]:
    # Levels that nobody knows are always shown.
    return list(LEVELS[: LEVELS.index(level)])


def _point(row: list[Any]) -> Point:
    step, value, kind, timestamp = row
    return Point(int(step), float(value) if kind == _NUMBER else str(kind), int(timestamp))


def _statistics(row: list[Any]) -> Statistics:
    key, latest, count, lowest, highest, mean, median, deviation = row
    return Statistics(
        key=key,
        latest=_point(latest),
        lowest=_point(lowest) if count else None,
        highest=_point(highest) if count else None,
        mean=_finite(mean),
        median=_finite(median),
        deviation=_finite(deviation),
    )


def _finite(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None
