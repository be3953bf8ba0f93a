"""Files that a run saves: announced, sent to the store by the SDK, reported as done. Large ones in parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sandbox.swanlab_server import bodies, runs, storage
from sandbox.swanlab_server.storage import Etag
from sandbox.swanlab_server.web import Answer, Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psycopg import Connection

    from sandbox.swanlab_server.context import Context
    from sandbox.swanlab_server.database import Row
    from sandbox.swanlab_server.web import Call

MOST: Final = 1000
"""Files of one request; the SDKs send at most 100."""
LARGEST: Final = 50 * 1024**3
"""Bytes of a file."""
MOST_PARTS: Final = 10_000
STATES: Final = ("UPLOADED", "FAILED")
_ANNOUNCE: Final = (
    "INSERT INTO files (experiment_id, path, size, md5, mime_type, state, upload_id) VALUES (%(run)s, %(path)s,"
    " %(size)s, %(md5)s, %(mime_type)s, 'PREPARED', %(upload)s) ON CONFLICT (experiment_id, path) DO UPDATE SET"
    " size = excluded.size, md5 = excluded.md5, mime_type = excluded.mime_type, state = excluded.state,"
    " upload_id = excluded.upload_id, updated_at = now()"
)


def prepare(context: Context, call: Call) -> Answer:
    """`POST /experiment/{run}/files/prepare`: a url for each file, in the same order."""
    files = [_file(item) for item in _items(call)]
    with context.database.write() as connection:
        run = _run(context, connection, call)
        connection.cursor().executemany(_ANNOUNCE, [{**file, "run": run["id"], "upload": None} for file in files])
    keys = [_key(run, file["path"]) for file in files]
    return Answer(body={"urls": [context.storage.upload_url(key, call.origin) for key in keys]})


def complete(context: Context, call: Call) -> Answer:
    """`POST …/files/complete` {files: [{path, state}]}: 201; 404 for what was not announced or is not in the store."""
    files = [(_path(item), bodies.choice(item, "state", STATES)) for item in _items(call)]
    with context.database.write() as connection:
        run = _run(context, connection, call)
        for path, state in files:
            if state == "UPLOADED" and context.storage.size(_key(run, path)) is None:
                raise Refusal(404, "Not_Found", f"{path} is not in the store; upload it first")
            _settle(connection, run, path, state)
    return Answer(status=201)


def prepare_multipart(context: Context, call: Call) -> Answer:
    """`POST …/files/prepare-multipart`, each file with `count`: uploadId and a url for each part."""
    files = [(_file(item), bodies.number(item, "count", least=1, most=MOST_PARTS)) for item in _items(call)]
    answered = []
    with context.database.write() as connection:
        run = _run(context, connection, call)
        for file, count in files:
            key = _key(run, file["path"])
            upload = context.storage.begin(key, file["mime_type"])
            connection.execute(_ANNOUNCE, {**file, "run": run["id"], "upload": upload})
            urls = [context.storage.part_url(key, upload, part, call.origin) for part in range(1, count + 1)]
            answered.append({"uploadId": upload, "parts": [_part(*item) for item in enumerate(urls, 1)]})
    return Answer(body={"files": answered})


def complete_multipart(context: Context, call: Call) -> Answer:
    """`POST …/files/complete-multipart` {files: [{path, uploadId, parts: [{partNumber, etag}]}]}: 201."""
    files = [(_path(item), bodies.text(item, "uploadId"), _etags(item)) for item in _items(call)]
    with context.database.write() as connection:
        run = _run(context, connection, call)
        for path, upload, etags in files:
            row = connection.execute(
                "SELECT upload_id, state FROM files WHERE experiment_id = %s AND path = %s FOR UPDATE",
                (run["id"], path),
            ).fetchone()
            if row is None or row["upload_id"] != upload:
                raise Refusal(404, "Not_Found", f"there is no upload {upload} of {path}")
            if row["state"] != "UPLOADED":  # a repeated request whose answer was lost must not fail
                context.storage.complete(_key(run, path), upload, etags)
                _settle(connection, run, path, "UPLOADED")
    return Answer(status=201)


def _items(call: Call) -> list[Mapping[str, Any]]:
    return bodies.objects(bodies.mapping(call.body).get("files"), "files", MOST)


def _path(item: Mapping[str, Any]) -> str:
    return storage.checked(bodies.text(item, "path", longest=900))


def _file(item: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "path": _path(item),
        "size": bodies.number(item, "size", least=0, most=LARGEST),
        "md5": bodies.text_or(item, "md5"),
        "mime_type": bodies.text_or(item, "mimeType", "application/octet-stream"),
    }


def _etags(item: Mapping[str, Any]) -> list[Etag]:
    parts = bodies.objects(item.get("parts"), "parts", MOST_PARTS)
    return [Etag(bodies.number(p, "partNumber", least=1, most=MOST_PARTS), bodies.text(p, "etag")) for p in parts]


def _part(number: int, url: str) -> dict[str, Any]:
    return {"partNumber": number, "url": url}


def _run(context: Context, connection: Connection[Row], call: Call) -> Row:
    return runs.writable(connection, context.database.names, call.path["run"], call.caller)


def _key(run: Row, path: str) -> str:
    return f"{runs.prefix(run)}files/{path}"


def _settle(connection: Connection[Row], run: Row, path: str, state: str) -> None:
    row = connection.execute(
        "UPDATE files SET state = %s, updated_at = now() WHERE experiment_id = %s AND path = %s RETURNING id",
        (state, run["id"], path),
    ).fetchone()
    if row is None:
        raise Refusal(404, "Not_Found", f"{path} was not announced; prepare it first")
