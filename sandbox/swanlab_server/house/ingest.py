"""What the SDKs send: scalars, media and lines of the terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from sandbox.swanlab_server import bodies, runs, times
from sandbox.swanlab_server.web import Answer, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sandbox.swanlab_server.database import Row
    from sandbox.swanlab_server.house.state import House
    from sandbox.swanlab_server.web import Call

MOST: Final = 100_000
"""Items of one request; the SDKs send at most 10 000."""
Item = dict[str, Any]


def metrics(house: House, call: Call) -> Answer:
    """`POST /api/house/metrics` {type, projectId, experimentId, metrics}: 200 once all of it is on the buffer's disk.

    A run that is finished takes more all the same. 413 for too many items, 503 while the buffer does not take them.
    """
    body = bodies.mapping(call.body)
    kind = bodies.choice(body, "type", _FIELDS)
    items = body.get("metrics")
    if not isinstance(items, list):
        raise bodies.wrong("metrics", "a list")
    if len(items) > MOST:
        raise Refusal(413, "Too_Large", f"{len(items)} items in one request; send at most {MOST}")
    run = house.writable(call, bodies.text(body, "experimentId"))
    house.deliver(events(kind, run, items))
    return Answer(body={})


def heartbeat(house: House, call: Call) -> Answer:
    """`POST /api/house/experiments/{run}/heartbeat`: the run is alive."""
    run = house.writable(call, call.path["run"])
    runs.heartbeat(house.context.database, run["cuid"])
    return Answer(body={})


def events(kind: str, run: Row, items: list[Any]) -> Iterator[str]:
    """Events for the buffer, one for each item. A wrong item is passed on: there it is the only one that is dropped."""
    fields = _FIELDS[kind]
    common = {"type": kind, "project": run["project_cuid"], "uid": runs.uid(run)}
    for raw in items:
        item: Item = raw if isinstance(raw, dict) else {}
        event = {**common, "epoch": item.get("epoch", 0), "time": _time(item.get("create_time")), **fields(item)}
        yield json.dumps(event, separators=(",", ":"))


def _scalar(item: Item) -> Item:
    return {"key": item.get("key"), "step": item.get("index"), "value": item.get("data")}


def _media(item: Item) -> Item:
    return {"key": item.get("key"), "step": item.get("index"), "data": item.get("data"), "more": item.get("more")}


def _log(item: Item) -> Item:
    return {"level": item.get("level"), "message": item.get("message")}


def _time(value: object) -> int | None:
    try:
        return round(times.parse(value).timestamp() * 1000) if isinstance(value, str) else None
    except (ValueError, OverflowError):
        return None  # the buffer takes the time of arrival


_FIELDS: Final[Mapping[str, Callable[[Item], Item]]] = {"scalar": _scalar, "media": _media, "log": _log}
