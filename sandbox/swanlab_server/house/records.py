"""Media and lines of the terminal as they are read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from sandbox.swanlab_server import bodies, credentials, points, runs, storage, times
from sandbox.swanlab_server.house import state
from sandbox.swanlab_server.web import Answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sandbox.swanlab_server.house.state import House
    from sandbox.swanlab_server.points import Line, Media
    from sandbox.swanlab_server.web import Call

_MOST_COLUMNS: Final = 200
_MOST_LINES: Final = 500_000
_PAGE: Final = 1000
_LARGEST: Final = 2**63 - 1


def media(house: House, call: Call) -> Answer:
    """`POST /api/house/metrics/media` {columns, step?}: {steps, step, metrics: [{key, data, more}]} of one step.

    Without a step, or with one that nobody logged, it is the last one.
    """
    body = bodies.mapping(call.body)
    found = _series(house, call, body)
    steps = sorted({item.step for _, series in found for item in series})
    step = body.get("step")
    if step not in steps:
        step = steps[-1] if steps else None
    metrics = [{"key": key, **_objects(item)} for key, series in found for item in series if item.step == step]
    return Answer(body={"steps": steps, "step": step, "metrics": metrics})


def all_media(house: House, call: Call) -> Answer:
    """`POST /api/house/metrics/f_media` {columns}: [{key, metrics: [{index, data, more}]}] of all steps."""
    found = _series(house, call, bodies.mapping(call.body))
    return Answer(
        body=[
            {"key": key, "metrics": [{"index": item.step, **_objects(item)} for item in series]}
            for key, series in found
        ]
    )


def log(house: House, call: Call) -> Answer:
    """`GET /api/house/metrics/log` ?experimentId&size&epoch&level: {logs, count}. epoch: number of the first line."""
    query = dict(call.query)
    run = house.visible(call, state.experiment_of(query))
    level = bodies.choice({"level": query.get("level", "").upper()}, "level", points.LEVELS, points.LEVELS[0])
    lines = house.context.points.logs(
        runs.uid(run), first=_whole(query, "epoch", 0), limit=_whole(query, "size", _PAGE, most=_PAGE), level=level
    )
    count = house.context.points.log_count(runs.uid(run), level=level)
    return Answer(body={"logs": [_line(line) for line in lines], "count": count})


def export(house: House, call: Call) -> Answer:
    """`POST /api/house/metrics/log/export` {experimentId, start, rows}: {cosKey} of a file with the lines."""
    body = bodies.mapping(call.body)
    start = bodies.number({"start": body.get("start", 0)}, "start", least=0, most=_LARGEST)
    rows = bodies.number({"rows": body.get("rows", _MOST_LINES)}, "rows", least=1, most=_MOST_LINES)
    run = house.visible(call, state.experiment_of(body))
    lines = house.context.points.logs(runs.uid(run), first=start, limit=rows)
    name = storage.export_key(runs.prefix(run), f"{credentials.new_cuid()}.log")
    content = "".join(f"{line.message}\n" for line in lines)
    house.context.storage.put(name, content.encode(), "text/plain; charset=utf-8")
    return Answer(body={"cosKey": name})


def _series(house: House, call: Call, body: Mapping[str, Any]) -> list[tuple[str, list[Media]]]:
    columns = state.columns(house, call, body, _MOST_COLUMNS)
    return [(column.key, house.context.points.media(runs.uid(column.run), column.key)) for column in columns]


def _objects(item: Media) -> dict[str, Any]:
    return {"data": item.paths, "more": item.more}


def _line(line: Line) -> dict[str, Any]:
    instant = datetime.fromtimestamp(line.timestamp / 1000, UTC)
    return {"epoch": line.epoch, "level": line.level, "message": line.message, "timestamp": times.spell(instant)}


def _whole(query: Mapping[str, str], field: str, default: int, *, most: int = _LARGEST) -> int:
    text = query.get(field) or str(default)
    if not (text.isascii() and text.isdigit() and int(text) <= _LARGEST):
        raise bodies.wrong(field, "a whole number from 0")
    return min(int(text), most)
