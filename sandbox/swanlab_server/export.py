"""Every point of a column as CSV, unsampled: the one way to read values back exactly."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from sandbox.swanlab_server import bodies, columns, credentials, runs, storage
from sandbox.swanlab_server.points import spell
from sandbox.swanlab_server.web import Answer, Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sandbox.swanlab_server.context import Context
    from sandbox.swanlab_server.points import Point
    from sandbox.swanlab_server.web import Call


def column(context: Context, call: Call) -> Answer:
    """`GET /experiment/{run}/column/csv?key=`: {url} of a file in the store. 404 for a key that was never logged."""
    key = bodies.text(dict(call.query), "key", longest=1024)
    with context.database.write() as connection:
        run = runs.find(connection, context.database.names, call.path["run"], call.caller)
        known = {row["key"] for row in columns.of_run(context, connection, run)}
    if key not in known:
        raise Refusal(404, "Not_Found", f"this run has no column {key!r}")
    content = as_csv(f"{run['name']}-{key}", context.points.series(runs.uid(run), key))
    # A name of its own for each export: the address of an earlier one keeps showing what it showed.
    name = storage.export_key(runs.prefix(run), f"{credentials.new_cuid()}.csv")
    context.storage.put(name, content.encode(), "text/csv; charset=utf-8")
    return Answer(body={"url": context.storage.download_url(name, call.origin)})


def as_csv(title: str, points: Iterable[Point]) -> str:
    """Step, value and milliseconds since 1970, ordered as given. title: `<run>-<key>`, the head of two columns.

    SDKs from 0.8 on read by position. SDK 0.7.20 takes `_step` off the head of the column that holds the value.
    Values are the shortest text that is read back as the same number.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(("step", f"{title}_step", f"{title}_timestamp"))
    writer.writerows((point.step, spell(point.value), point.timestamp) for point in points)
    return buffer.getvalue()
