"""Signed addresses for media: the SDK sends and fetches the bytes itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sandbox.swanlab_server import bodies, runs, storage
from sandbox.swanlab_server.web import Answer, Refusal

if TYPE_CHECKING:
    from psycopg import Connection

    from sandbox.swanlab_server.context import Context
    from sandbox.swanlab_server.database import Row
    from sandbox.swanlab_server.web import Call

MOST: Final = 10_000
"""Paths of one request."""


def upload(context: Context, call: Call) -> Answer:
    """`POST /resources/presigned/put` {experimentId, paths}: as many urls, in the same order."""
    body = bodies.mapping(call.body)
    paths = [storage.checked(path) for path in bodies.texts(body.get("paths"), "paths", MOST)]
    cuid = bodies.text(body, "experimentId")
    with context.database.write() as connection:
        prefix = runs.prefix(runs.writable(connection, context.database.names, cuid, call.caller))
    return Answer(body={"urls": [context.storage.upload_url(prefix + path, call.origin) for path in paths]})


def download(context: Context, call: Call) -> Answer:
    """`POST /resources/presigned/get` {prefix: `<project>/<run>`, paths}: as many urls, in the same order."""
    body = bodies.mapping(call.body)
    paths = [storage.checked(path) for path in bodies.texts(body.get("paths"), "paths", MOST)]
    prefix = bodies.text(body, "prefix").strip("/")
    with context.database.write() as connection:
        _readable(context, connection, call, prefix)
    return Answer(body={"urls": [context.storage.download_url(f"{prefix}/{path}", call.origin) for path in paths]})


def download_keys(context: Context, call: Call) -> Answer:
    """`POST /files/presigned/get` {paths}, each `<project>/<run>/…`: as many urls, in the same order."""
    paths = [storage.checked(path) for path in bodies.texts(bodies.mapping(call.body).get("paths"), "paths", MOST)]
    with context.database.write() as connection:
        for prefix in {"/".join(path.split("/")[:2]) for path in paths}:
            _readable(context, connection, call, prefix)
    return Answer(body={"urls": [context.storage.download_url(path, call.origin) for path in paths]})


def _readable(context: Context, connection: Connection[Row], call: Call, prefix: str) -> None:
    """Whether the caller may read below this prefix. Raises Refusal 404."""
    run = runs.find(connection, context.database.names, prefix.rpartition("/")[2], call.caller)
    if runs.prefix(run) != f"{prefix}/":
        raise Refusal(404, "Not_Found", f"there is no run {prefix}")
