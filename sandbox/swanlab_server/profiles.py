"""What a run says about itself: configuration, metadata of its machine, packages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from psycopg.sql import SQL, Identifier
from psycopg.types.json import Json

from sandbox.swanlab_server import bodies, runs
from sandbox.swanlab_server.web import Answer

if TYPE_CHECKING:
    from sandbox.swanlab_server.context import Context
    from sandbox.swanlab_server.web import Call

_OBJECTS: Final = ("config", "metadata")
_TEXTS: Final = ("requirements", "conda")


def put(context: Context, call: Call) -> Answer:
    """`PUT …/runs/{run}/profile` with some of config, metadata, requirements, conda: each replaces the one before."""
    body = bodies.mapping(call.body)
    given: dict[str, object] = {}
    for name in _OBJECTS:
        if body.get(name) is not None:
            given[name] = Json(bodies.mapping(body[name], name))
    for name in _TEXTS:
        if body.get(name) is not None:
            if not isinstance(body[name], str):
                raise bodies.wrong(name, "a text")
            given[name] = body[name]
    if not given:
        raise bodies.wrong("the body", "an object with " + ", ".join((*_OBJECTS, *_TEXTS)))
    columns = [Identifier(name) for name in given]
    statement = SQL(
        "INSERT INTO profiles (experiment_id, {names}) VALUES (%s, {values}) ON CONFLICT (experiment_id)"
        " DO UPDATE SET updated_at = now(), {changes}"
    ).format(
        names=SQL(", ").join(columns),
        values=SQL(", ").join([SQL("%s")] * len(given)),
        changes=SQL(", ").join([SQL("{0} = excluded.{0}").format(name) for name in columns]),
    )
    with context.database.write() as connection:
        run = runs.of_call(context, connection, call)
        connection.execute(statement, (run["id"], *given.values()))
    return Answer()
