"""Scalars as they are read: sampled, their statistics, whole as a file, and which there are."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any, Final

from sandbox.swanlab_server import bodies, credentials, points, runs, storage
from sandbox.swanlab_server.house import sampling, state
from sandbox.swanlab_server.web import Answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sandbox.swanlab_server.house.state import Column, House
    from sandbox.swanlab_server.points import Point, Statistics
    from sandbox.swanlab_server.web import Call

_MOST_POINTS: Final = 1500
_MOST_COLUMNS: Final = 200
_MOST_EXPERIMENTS: Final = 100
_AXES: Final = ("step", "timestamp", "time", "relative_time")


def scalar(house: House, call: Call) -> Answer:
    """`POST …/metrics/scalar` {xType, xKey?, range, columns, num}: [{key, metrics: [{index, data, timestamp}]}].

    index: the step, the time in ms, ms since the first point, or with xKey the value of that series at the same step.
    range: of the index, both ends included; [0, 0] is everything. Sampled to `num` points.
    """
    body = bodies.mapping(call.body)
    most = bodies.number({"num": body.get("num", _MOST_POINTS)}, "num", least=1, most=_MOST_POINTS)
    axis = bodies.choice(body, "xType", _AXES, "step")
    low, high = _range(body.get("range") or [0, 0])
    answer = []
    for column in state.columns(house, call, body, _MOST_COLUMNS):
        series = house.context.points.series(runs.uid(column.run), column.key)
        index = _index(house, column, series, axis, bodies.text_or(body, "xKey", longest=1024))
        wanted = [p for p in series if p.step in index and (low == high == 0 or low <= index[p.step] <= high)]
        shown = [
            {"index": index[p.step], "data": p.value, "timestamp": p.timestamp} for p in sampling.sample(wanted, most)
        ]
        answer.append({"key": column.key, "experimentId": column.run["cuid"], "metrics": shown})
    return Answer(body=answer)


def value(house: House, call: Call) -> Answer:
    """`POST /api/house/metrics/scalar/value`: [{key, min, max, avg, median, latest}], without empty columns."""
    body = bodies.mapping(call.body)
    by_time = bodies.choice(body, "xType", _AXES, "step") != "step"
    statistics: dict[str, dict[str, Statistics]] = {}
    answer = []
    for column in state.columns(house, call, body, _MOST_COLUMNS):
        cuid = column.run["cuid"]
        if cuid not in statistics:
            statistics[cuid] = {item.key: item for item in house.context.points.summaries(runs.uid(column.run))}
        found = statistics[cuid].get(column.key)
        if found is not None:
            answer.append({"key": column.key, "experimentId": cuid, **_figures(found, by_time=by_time)})
    return Answer(body=answer)


def export(house: House, call: Call) -> Answer:
    """`POST /api/house/metrics/scalar/export`: {cosKey} of a CSV file, a row for each step, two columns per series."""
    columns = state.columns(house, call, bodies.mapping(call.body), _MOST_COLUMNS)
    if not columns:
        raise bodies.wrong("columns", "at least one column")
    series = [house.context.points.series(runs.uid(column.run), column.key) for column in columns]
    name = storage.export_key(runs.prefix(columns[0].run), f"{credentials.new_cuid()}.csv")
    house.context.storage.put(name, as_csv(columns, series).encode(), "text/csv; charset=utf-8")
    return Answer(body={"cosKey": name})


def as_csv(columns: Sequence[Column], series: Sequence[Sequence[Point]]) -> str:
    """`step`, then for each series its value and timestamp under the headings that house gives them."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    titles = [f"{column.name}-{column.key}" for column in columns]
    writer.writerow(["step", *(f"{title}_{suffix}" for title in titles for suffix in ("step", "timestamp"))])
    by_step = [{point.step: point for point in points_} for points_ in series]
    for step in sorted(set().union(*by_step)):
        cells: list[object] = [step]
        for found in by_step:
            point = found.get(step)
            cells += ("", "") if point is None else (points.spell(point.value), point.timestamp)
        writer.writerow(cells)
    return buffer.getvalue()


def resume(house: House, call: Call) -> Answer:
    """`GET /api/house/metrics/summaries/{project}/{run}`: last steps, with which a resumed run goes on."""
    run = house.visible(call, call.path["run"])
    last = house.context.points.last_steps(runs.uid(run))
    answer = {
        name: [{"key": k, "step": s} for k, s in steps.items()] for name, steps in vars(last).items() if name != "log"
    }
    # Never null: SDK 0.7 takes the first item of `log` without a look.
    return Answer(body={**answer, "log": [{"key": "LOG", "step": last.log}]})


def summaries(house: House, call: Call) -> Answer:
    """`POST /api/house/metrics/summaries`: {run: {key: {step, value, min, max, avg, median, stdDev}}}.

    The body is {experiments, keys?}; SDK 0.7 sends the list of experiments alone.
    """
    body = {"experiments": call.body} if isinstance(call.body, list) else bodies.mapping(call.body)
    keys = bodies.texts(body["keys"], "keys", 10_000) if body.get("keys") else None
    answer: dict[str, Any] = {}
    for item in bodies.objects(body.get("experiments"), "experiments", _MOST_EXPERIMENTS):
        run = house.visible(call, state.experiment_of(item))
        answer[bodies.text(item, "experimentId")] = {
            found.key: _summary(found)
            for found in house.context.points.summaries(runs.uid(run))
            if keys is None or found.key in keys
        }
    return Answer(body=answer)


def _index(house: House, column: Column, series: Sequence[Point], axis: str, key: str) -> dict[int, float]:
    if key:
        other = house.context.points.series(runs.uid(column.run), key)
        return {point.step: point.value for point in other if isinstance(point.value, float)}
    first = series[0].timestamp if series else 0
    if axis == "step":
        return {point.step: point.step for point in series}
    since = first if axis == "relative_time" else 0
    return {point.step: point.timestamp - since for point in series}


def _range(given: object) -> tuple[float, float]:
    if isinstance(given, list) and len(given) == 2 and all(isinstance(item, int | float) for item in given):  # noqa: PLR2004  # both ends
        return given[0], given[1]
    raise bodies.wrong("range", "a list of two numbers")


def _figures(found: Statistics, *, by_time: bool) -> dict[str, Any]:
    def at(point: Point | None) -> dict[str, Any] | None:
        return None if point is None else {"index": point.timestamp if by_time else point.step, "data": point.value}

    return {
        "min": at(found.lowest),
        "max": at(found.highest),
        "avg": {"data": found.mean},
        "median": {"data": found.median},
        "latest": at(found.latest),
    }


def _summary(found: Statistics) -> dict[str, Any]:
    figures = _figures(found, by_time=False)
    nothing = {"index": None, "data": None}
    return {
        "step": found.latest.step,
        "value": found.latest.value,
        "min": figures["min"] or nothing,
        "max": figures["max"] or nothing,
        "avg": found.mean,
        "median": found.median,
        "stdDev": found.deviation,
    }
