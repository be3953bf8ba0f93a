"""Columns: which keys a run logs, of which type, and how the SDK wants them shown.

In a project that was upgraded to multi-view boards they belong to the project and are called series.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from psycopg.types.json import Json

from sandbox.swanlab_server import bodies, projects, runs
from sandbox.swanlab_server.web import Answer, Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psycopg import Connection

    from sandbox.swanlab_server.context import Context
    from sandbox.swanlab_server.database import Row
    from sandbox.swanlab_server.web import Call

MOST: Final = 10_000
"""Columns of one request; the SDKs send at most 3000."""
CLASSES: Final = ("CUSTOM", "SYSTEM")
_LONGEST_KEY: Final = 1024
_SYSTEM_PREFIX: Final = "__swanlab__"
_NOT_LAYOUT: Final = frozenset({"key", "type", "class", "name", "error"})


def add(context: Context, call: Call) -> Answer:
    """`POST /experiment/{run}/columns`, an array: what is there stays as it is."""
    values = [_column(item) for item in bodies.objects(call.body, "the body", MOST)]
    with context.database.write() as connection:
        run = runs.writable(connection, context.database.names, call.path["run"], call.caller)
        if run["project_version"] == projects.MULTI_VIEW and projects.old_sdk(call):
            raise Refusal(403, "Sdk_Too_Old", "this project was upgraded to multi-view boards; use SDK 0.9 or later")
        connection.cursor().executemany(
            "INSERT INTO columns (experiment_id, key, type, class, name, error, layout) VALUES (%(run)s, %(key)s,"
            " %(type)s, %(class)s, %(name)s, %(error)s, %(layout)s) ON CONFLICT (experiment_id, key) DO NOTHING",
            [{"run": run["id"], **value} for value in values],
        )
    return Answer(status=201)


def add_series(context: Context, call: Call) -> Answer:
    """`POST /projects/{user}/{project}/series` {series: […]}: what is there stays as it is."""
    items = bodies.objects(bodies.mapping(call.body).get("series"), "series", MOST)
    values = [_column(item) for item in items]
    with context.database.write() as connection:
        project = projects.writable(connection, call)
        connection.cursor().executemany(
            "INSERT INTO series (project_id, key, type, layout) VALUES (%(project)s, %(key)s, %(type)s, %(layout)s)"
            " ON CONFLICT (project_id, key) DO NOTHING",
            [{"project": project["id"], **value} for value in values],
        )
    return Answer(status=201)


def _column(item: Mapping[str, Any]) -> dict[str, Any]:
    key = bodies.text(item, "key", longest=_LONGEST_KEY)
    error = item.get("error")
    return {
        "key": key,
        "type": bodies.text(item, "type", longest=32),
        "class": bodies.choice(item, "class", CLASSES, "CUSTOM"),
        "name": bodies.text_or(item, "name", key, longest=_LONGEST_KEY),
        "error": None if error is None else Json(bodies.mapping(error, "error")),
        "layout": Json({name: value for name, value in item.items() if name not in _NOT_LAYOUT}),
    }


def list_(context: Context, call: Call) -> Answer:
    """`GET /experiment/{run}/column?page&size&search&class&type`, or `?all=True` for one page with everything."""
    query = call.query
    with context.database.write() as connection:
        run = runs.find(connection, context.database.names, call.path["run"], call.caller)
        rows = of_run(context, connection, run)
    found = [
        record_of(row)
        for row in rows
        if query.get("search", "").lower() in row["key"].lower()
        and query.get("class", row["class"]) == row["class"]
        and query.get("type", row["type"]) == row["type"]
    ]
    if query.get("all", "").lower() == "true":
        return Answer(body={"list": found, "size": len(found), "pages": 1, "total": len(found)})
    page = bodies.page(query)
    return Answer(body=page.of(found[page.offset : page.offset + page.size], len(found)))


def of_run(context: Context, connection: Connection[Row], run: Row) -> list[Row]:
    """Columns of a run in order of their arrival: its own, and series of its project into which it logged."""
    own = connection.execute("SELECT * FROM columns WHERE experiment_id = %s ORDER BY id", (run["id"],)).fetchall()
    series = connection.execute("SELECT * FROM series WHERE project_id = %s ORDER BY id", (run["project_id"],))
    known = {row["key"] for row in own}
    shared = [_as_column(row) for row in series.fetchall() if row["key"] not in known]
    if not shared:
        return own
    logged = set(context.points.keys(runs.uid(run)))
    return own + [row for row in shared if row["key"] in logged]


def _as_column(row: Row) -> Row:
    kind = "SYSTEM" if row["key"].startswith(_SYSTEM_PREFIX) else "CUSTOM"
    return {**row, "class": kind, "name": row["key"], "error": None}


def record_of(row: Row) -> dict[str, Any]:
    """A column as the SDKs read it; createdAt in milliseconds."""
    record = {name: row[name] for name in ("key", "name", "type", "class")}
    if row["error"] is not None:
        record["error"] = row["error"]
    return {**record, "createdAt": int(row["created_at"].timestamp() * 1000)}
