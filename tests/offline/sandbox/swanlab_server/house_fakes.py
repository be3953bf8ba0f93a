"""A house whose runs and stores are in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from sandbox.swanlab_server.context import Context
from sandbox.swanlab_server.house.state import House
from sandbox.swanlab_server.points import LastSteps, Line, Media, Point, Points, Statistics
from sandbox.swanlab_server.web import Refusal

if TYPE_CHECKING:
    from sandbox.swanlab_server.database import Database, Row
    from sandbox.swanlab_server.sessions import Sessions
    from sandbox.swanlab_server.storage import Storage
    from sandbox.swanlab_server.web import Call

RUN: dict[str, Any] = {"id": 7, "cuid": "run1", "project_cuid": "project1"}
UID = "run1.7"
"""Under which its points are."""


@dataclass
class FakeStorage:
    """Keeps what is put."""

    objects: dict[str, str] = field(default_factory=dict)

    def put(self, key: str, content: bytes, content_type: str) -> None:
        """Keep it."""
        assert content_type.endswith("charset=utf-8")
        self.objects[key] = content.decode()


class FakePoints(Points):
    """Answers from a few series."""

    def __init__(self, series: dict[str, list[Point]], media: dict[str, list[Media]], lines: list[Line]) -> None:
        """series, media: by key."""
        self._series, self._media, self._lines = series, media, lines

    def series(self, experiment: str, key: str) -> list[Point]:
        assert experiment == UID
        return self._series.get(key, [])

    def keys(self, experiment: str, kind: str | None = None) -> list[str]:
        assert experiment == UID
        return sorted(self._media if kind == "media" else self._series)

    def summaries(self, experiment: str) -> list[Statistics]:
        assert experiment == UID
        low, high = Point(1, -2.0, 1001), Point(2, 4.0, 1002)
        nothing = Statistics(
            key="b", latest=Point(0, "nan", 1), lowest=None, highest=None, mean=None, median=None, deviation=None
        )
        return [
            Statistics(key="a", latest=high, lowest=low, highest=high, mean=1.0, median=1.5, deviation=3.0),
            nothing,
        ]

    def last_steps(self, experiment: str) -> LastSteps:
        assert experiment == UID
        return LastSteps({"a": 9}, {}, 0)

    def media(self, experiment: str, key: str) -> list[Media]:
        assert experiment == UID
        return self._media.get(key, [])

    def logs(self, experiment: str, *, first: int = 0, limit: int = 1000, level: str = "DEBUG") -> list[Line]:
        assert (experiment, level) in {(UID, "DEBUG"), (UID, "ERROR")}
        return [line for line in self._lines if line.epoch >= first][:limit]

    def log_count(self, experiment: str, *, level: str = "DEBUG") -> int:
        assert experiment == UID
        return len(self._lines) if level else 0


class OpenHouse(House):
    """Has one run, which everybody may see and write to."""

    def visible(self, call: Call, experiment: str) -> Row:
        return self.writable(call, experiment)

    def writable(self, call: Call, experiment: str) -> Row:
        assert call.account is None
        if experiment != RUN["cuid"]:
            raise Refusal(404, "Not_Found", f"there is no run {experiment}")
        return RUN


def open_house(
    vector: str = "",
    *,
    series: dict[str, list[Point]] | None = None,
    media: dict[str, list[Media]] | None = None,
    lines: list[Line] | None = None,
) -> OpenHouse:
    """A house with these points."""
    context = Context(
        database=cast("Database", None),
        sessions=cast("Sessions", None),
        storage=cast("Storage", FakeStorage()),
        points=FakePoints(series or {}, media or {}, lines or []),
    )
    return OpenHouse(context=context, vector=vector)
