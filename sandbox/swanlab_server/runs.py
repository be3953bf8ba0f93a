"""Runs: created or resumed, ended, deleted, and given up when nothing is heard of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from psycopg.sql import SQL, Identifier
from psycopg.types.json import Json

from sandbox.swanlab_server import bodies, credentials, projects, times
from sandbox.swanlab_server.web import Account, Answer, Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from psycopg import Connection

    from sandbox.swanlab_server.context import Context
    from sandbox.swanlab_server.database import Database, Names, Row
    from sandbox.swanlab_server.web import Call

ENDS: Final = ("FINISHED", "CRASHED", "ABORTED")
_MOST_LABELS: Final = 100
_MOST_DELETED: Final = 1000
_ABORT_LOCK: Final = 0x41626F72
_SELECT: Final = """
SELECT experiments.id, experiments.cuid, experiments.name, slug, experiments.description, colors, labels, job,
    {group} AS cluster, state, flag_id, experiments.created_at, finished_at, heartbeat_at,
    config, metadata, requirements, conda,
    author.username, author.name AS user_name,
    projects.id AS project_id, projects.cuid AS project_cuid, projects.name AS project_name, owner_id, visibility,
    projects.version AS project_version, owner.username AS owner_username
FROM experiments
JOIN projects ON projects.id = project_id
JOIN users AS author ON author.id = user_id
JOIN users AS owner ON owner.id = owner_id
LEFT JOIN profiles ON profiles.experiment_id = experiments.id
"""


def create(context: Context, call: Call) -> Answer:
    """`POST /project/{user}/{project}/experiment`: 201 = new, 200 = there was one with this cuid and it goes on.

    409 when the cuid belongs to a run of another project; 403 when the SDK is too old for the project.
    """
    body = bodies.mapping(call.body)
    cuid = bodies.text_or(body, "cuid", longest=64)
    with context.database.write() as connection:
        project = projects.writable(connection, call)
        if project["version"] == projects.MULTI_VIEW and projects.old_sdk(call):
            raise Refusal(403, "Sdk_Too_Old", "this project was upgraded to multi-view boards; use SDK 0.9 or later")
        made = _insert(connection, context.database.names, project, call.caller, body, cuid or credentials.new_cuid())
        if made is None:
            made = _resume(connection, project, cuid)
            status = 200
        else:
            status = 201
        connection.execute("UPDATE projects SET updated_at = now() WHERE id = %s", (project["id"],))
        run = find(connection, context.database.names, made, call.caller)
    return Answer(status=status, body=record_of(run))


def _insert(
    connection: Connection[Row], names: Names, project: Row, account: Account, body: Mapping[str, Any], cuid: str
) -> str | None:
    statement = SQL(
        "INSERT INTO experiments (cuid, slug, project_id, user_id, name, description, colors, labels, job, {group},"
        " flag_id, created_at) VALUES (%(cuid)s, %(cuid)s, %(project)s, %(user)s, %(name)s, %(description)s,"
        " %(colors)s, %(labels)s, %(job)s, %(group)s, %(flag)s, %(created)s)"
        " ON CONFLICT (cuid) DO NOTHING RETURNING cuid"
    ).format(group=Identifier(names.run_group))
    row = connection.execute(
        statement,
        {
            "cuid": cuid,
            "project": project["id"],
            "user": account.id,
            "name": bodies.text(body, "name"),
            "description": bodies.text_or(body, "description", longest=5000),
            "colors": Json(bodies.texts(body.get("colors") or [], "colors", 2)),
            "labels": Json(bodies.objects(body.get("labels") or [], "labels", _MOST_LABELS)),
            "job": bodies.text_or(body, "job"),
            "group": bodies.text_or(body, "cluster"),
            "flag": credentials.new_cuid(),
            "created": instant(body, "createdAt"),
        },
    ).fetchone()
    return row["cuid"] if row else None


def _resume(connection: Connection[Row], project: Row, cuid: str) -> str:
    row = connection.execute(
        "UPDATE experiments SET state = 'RUNNING', finished_at = NULL, heartbeat_at = now(), flag_id = %s"
        " WHERE cuid = %s AND project_id = %s RETURNING cuid",
        (credentials.new_cuid(), cuid, project["id"]),
    ).fetchone()
    if row is None:
        raise Refusal(409, "Conflict", f"the run {cuid} belongs to another project; use another run id")
    return str(row["cuid"])


def instant(body: Mapping[str, Any], field: str) -> datetime:
    """A field that holds an instant; now, where it is absent. Raises Refusal 400."""
    try:
        return times.parse(bodies.text(body, field)) if body.get(field) else times.now()
    except ValueError as error:
        raise bodies.wrong(field, "an instant in ISO 8601") from error


def find(connection: Connection[Row], names: Names, cuid: str, account: Account) -> Row:
    """A run that the account may see, with its profile and project. Raises Refusal 404."""
    statement = SQL(_SELECT + " WHERE experiments.cuid = %(cuid)s").format(group=Identifier(names.run_group))
    row = connection.execute(statement, {"cuid": cuid}).fetchone()
    if row is None or not (account.root or row["visibility"] == "PUBLIC" or row["owner_id"] == account.id):
        raise Refusal(404, "Not_Found", f"there is no run {cuid}, or its project is private")
    return row


def writable(connection: Connection[Row], names: Names, cuid: str, account: Account) -> Row:
    """The same, where the account may change it. Raises Refusal 404 and 403."""
    run = find(connection, names, cuid, account)
    if not projects.may_write(account, run):
        raise Refusal(403, "Forbidden", f"only {run['owner_username']} may write to this run")
    return run


def in_project(connection: Connection[Row], names: Names, project: Row) -> list[Row]:
    """All runs of a project, newest first."""
    statement = SQL(_SELECT + " WHERE project_id = %s ORDER BY experiments.created_at DESC, experiments.id DESC")
    return connection.execute(statement.format(group=Identifier(names.run_group)), (project["id"],)).fetchall()


def of_call(context: Context, connection: Connection[Row], call: Call) -> Row:
    """The run in the path, in the project of the path, for writing. Raises Refusal 404 and 403."""
    project = projects.writable(connection, call)
    run = find(connection, context.database.names, call.path["run"], call.caller)
    if run["project_id"] != project["id"]:
        raise Refusal(404, "Not_Found", f"there is no run {call.path['run']} in this project")
    return run


def end(context: Context, call: Call) -> Answer:
    """`PUT …/runs/{run}/state`: FINISHED, CRASHED or ABORTED; the last word counts."""
    body = bodies.mapping(call.body)
    state, finished = bodies.choice(body, "state", ENDS), instant(body, "finishedAt")
    with context.database.write() as connection:
        run = of_call(context, connection, call)
        connection.execute(
            "UPDATE experiments SET state = %s, finished_at = %s WHERE id = %s", (state, finished, run["id"])
        )
    return Answer(body={"state": state})


def delete(context: Context, call: Call) -> Answer:
    """`DELETE …/runs/{run}`, with its points and objects."""
    with context.database.write() as connection:
        _delete(context, connection, [of_call(context, connection, call)])
    return Answer(status=204)


def delete_many(context: Context, call: Call) -> Answer:
    """`POST …/runs/del` {cuids}: all of them or none."""
    cuids = bodies.texts(bodies.mapping(call.body).get("cuids"), "cuids", _MOST_DELETED)
    with context.database.write() as connection:
        project = projects.writable(connection, call)
        found = [find(connection, context.database.names, cuid, call.caller) for cuid in dict.fromkeys(cuids)]
        for run in found:
            if run["project_id"] != project["id"]:
                raise Refusal(404, "Not_Found", f"there is no run {run['cuid']} in this project")
        _delete(context, connection, found)
    return Answer(status=204)


def _delete(context: Context, connection: Connection[Row], found: Sequence[Row]) -> None:
    connection.execute("DELETE FROM experiments WHERE id = ANY(%s)", ([run["id"] for run in found],))
    # Inside the transaction: if a store refuses, the runs are still there and can be deleted again.
    context.points.remove([uid(run) for run in found])
    for run in found:
        context.storage.remove(prefix(run))


def uid(run: Row) -> str:
    """Whose points they are, in ClickHouse: `<cuid>.<number>`. A run made anew under the same cuid has another number.

    So points of the deleted one that still were on their way are never seen in the new one.
    """
    return f"{run['cuid']}.{run['id']}"


def prefix(run: Row) -> str:
    """Where the objects of a run are, with a slash at the end."""
    return f"{run['project_cuid']}/{run['cuid']}/"


def heartbeat(database: Database, cuid: str) -> bool:
    """Note that something was heard of a run; whether there is one. Its state stays: an aborted run stays aborted."""
    with database.write() as connection:
        row = connection.execute(
            "UPDATE experiments SET heartbeat_at = now() WHERE cuid = %s RETURNING cuid", (cuid,)
        ).fetchone()
    return row is not None


def abort_silent(database: Database, seconds: int) -> list[str]:
    """Give up the runs that were silent for so long; their cuids. Does nothing while another replica does it."""
    with database.write() as connection:
        lock = connection.execute("SELECT pg_try_advisory_xact_lock(%s) AS mine", (_ABORT_LOCK,)).fetchone()
        if not (lock and lock["mine"]):
            return []
        rows = connection.execute(
            "UPDATE experiments SET state = 'ABORTED', finished_at = now()"
            " WHERE state = 'RUNNING' AND heartbeat_at < now() - make_interval(secs => %s) RETURNING cuid",
            (seconds,),
        ).fetchall()
    return [row["cuid"] for row in rows]


def record_of(run: Row) -> dict[str, Any]:
    """A run as the SDKs read it."""
    return {
        "cuid": run["cuid"],
        "slug": run["slug"],
        "name": run["name"],
        "description": run["description"],
        "type": "CHAPTER",
        "state": run["state"],
        "show": True,
        "colors": run["colors"],
        "labels": run["labels"],
        "job": run["job"],
        "cluster": run["cluster"],
        "flagId": run["flag_id"],
        "user": {"username": run["username"], "name": run["user_name"]},
        "projectId": run["project_cuid"],
        "rootProId": "",
        "rootExpId": "",
        "profile": {
            "config": run["config"] or {},
            "metadata": run["metadata"] or {},
            "requirements": run["requirements"] or "",
            "conda": run["conda"] or "",
        },
        "createdAt": times.spell(run["created_at"]),
        "finishedAt": times.spell_or_none(run["finished_at"]),
    }
