"""Projects: who may see and change them, and what the SDKs ask about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from psycopg.sql import SQL

from sandbox.swanlab_server import accounts, bodies, credentials, times
from sandbox.swanlab_server.web import Account, Answer, Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psycopg import Connection
    from psycopg.sql import Composed

    from sandbox.swanlab_server.context import Context
    from sandbox.swanlab_server.database import Row
    from sandbox.swanlab_server.web import Call

VISIBILITIES: Final = ("PUBLIC", "PRIVATE")
MULTI_VIEW: Final = 1
"""Version of a project whose board was upgraded: SDKs from 0.9.0 on may report into it; there is no way back."""
_SELECT: Final = SQL(
    "SELECT projects.*, users.username, users.name AS owner_name,"
    " (SELECT count(*) FROM experiments WHERE project_id = projects.id) AS experiments"
    " FROM projects JOIN users ON users.id = owner_id"
)


@dataclass(frozen=True)
class New:
    """What a project is created from."""

    name: str
    visibility: str
    description: str


def create(context: Context, call: Call) -> Answer:
    """`POST /project`, the space in the body: 201, or 409 with the same body if it is there."""
    body = bodies.mapping(call.body)
    made, record = _ensure(context, call.caller, bodies.text_or(body, "username", call.caller.username), _new(body))
    return Answer(status=201 if made else 409, body=record)


def create_in(context: Context, call: Call) -> Answer:
    """`POST /project/{user}`, as SDK 0.7 asks old servers: 201, or 409 with the same body if it is there."""
    made, record = _ensure(context, call.caller, call.path["user"], _new(bodies.mapping(call.body)))
    return Answer(status=201 if made else 409, body=record)


def ensure(context: Context, call: Call) -> Answer:
    """`POST /projects/{user}`, as SDKs from 0.9 ask: 201, or 200 if it is there."""
    made, record = _ensure(context, call.caller, call.path["user"], _new(bodies.mapping(call.body)))
    return Answer(status=201 if made else 200, body=record)


def _new(body: Mapping[str, Any]) -> New:
    name = bodies.text(body, "name", longest=100)
    if "/" in name:
        raise bodies.wrong("name", "a text without `/`")
    visibility = bodies.choice(body, "visibility", VISIBILITIES, "PRIVATE")
    return New(name, visibility, bodies.text_or(body, "description", longest=5000))


def _ensure(context: Context, account: Account, username: str, new: New) -> tuple[bool, dict[str, Any]]:
    with context.database.write() as connection:
        owner = accounts.find(connection, username)
        if not (account.root or owner["id"] == account.id):
            raise Refusal(403, "Forbidden", f"only {username} may create projects in the space {username!r}")
        made = connection.execute(
            "INSERT INTO projects (cuid, owner_id, name, visibility, description) VALUES (%s, %s, %s, %s, %s)"
            " ON CONFLICT (owner_id, name) DO NOTHING RETURNING id",
            (credentials.new_cuid(), owner["id"], new.name, new.visibility, new.description),
        ).fetchone()
        return made is not None, record_of(find(connection, username, new.name, account))


def get(context: Context, call: Call) -> Answer:
    """`GET /project/{user}/{project}`."""
    with context.database.write() as connection:
        return Answer(body=record_of(of_call(connection, call)))


def list_in(context: Context, call: Call) -> Answer:
    """`GET /project/{user}?page&size&search`: those of a space that the caller may see."""
    with context.database.read() as connection:
        owner = accounts.find(connection, call.path["user"])
        return _listed(connection, call, SQL("owner_id = %(owner)s"), {"owner": owner["id"]})


def list_all(context: Context, call: Call) -> Answer:
    """`GET /self_hosted/projects?page&size&search&creator`: those of all spaces, for root."""
    if not call.caller.root:
        raise Refusal(403, "Forbidden", "the root account alone may do this")
    creator = call.query.get("creator") or call.query.get("group") or None
    condition = SQL("(%(creator)s::text IS NULL OR username = %(creator)s)")
    with context.database.read() as connection:
        return _listed(connection, call, condition, {"creator": creator})


def _listed(connection: Connection[Row], call: Call, condition: SQL, values: dict[str, Any]) -> Answer:
    page = bodies.page(call.query)
    seen = _visible(call.caller)
    values = {**values, **seen[1], "search": call.query.get("search", ""), "size": page.size, "offset": page.offset}
    where = SQL(" WHERE {} AND {} AND position(lower(%(search)s) in lower(projects.name)) > 0").format(
        condition, seen[0]
    )
    total = connection.execute(SQL("SELECT count(*) FROM ({}) AS found").format(_SELECT + where), values).fetchone()
    rows = connection.execute(
        _SELECT + where + SQL(" ORDER BY updated_at DESC, id LIMIT %(size)s OFFSET %(offset)s"), values
    ).fetchall()
    return Answer(body=page.of([record_of(row) for row in rows], total["count"] if total else 0))


def upgrade(context: Context, call: Call) -> Answer:
    """`POST /project/{user}/{project}/multi_view`: the board's one-way upgrade, a button in the real one.

    409 while a run of the project is running.
    """
    with context.database.write() as connection:
        project = writable(connection, call)
        running = connection.execute(
            "SELECT 1 AS found FROM experiments WHERE project_id = %s AND state = 'RUNNING' LIMIT 1", (project["id"],)
        ).fetchone()
        if running:
            raise Refusal(409, "Running", "a run of this project is running; finish it first")
        connection.execute("UPDATE projects SET version = %s WHERE id = %s", (MULTI_VIEW, project["id"]))
        return Answer(body=record_of(of_call(connection, call)))


def delete(context: Context, call: Call) -> Answer:
    """`DELETE /project/{user}/{project}`, with its runs, their points and objects."""
    with context.database.write() as connection:
        project = writable(connection, call)
        connection.execute("DELETE FROM projects WHERE id = %s", (project["id"],))
        # Inside the transaction: if a store refuses, the project is still there and can be deleted again.
        context.points.remove_project(project["cuid"])
        context.storage.remove(f"{project['cuid']}/")
    return Answer(status=204)


def _visible(account: Account) -> tuple[Composed, dict[str, Any]]:
    condition = SQL("({} OR visibility = 'PUBLIC' OR owner_id = %(viewer)s)").format(
        SQL("true") if account.root else SQL("false")
    )
    return condition, {"viewer": account.id}


def find(connection: Connection[Row], username: str, name: str, account: Account) -> Row:
    """A project that the account may see. Raises Refusal 404."""
    condition, values = _visible(account)
    row = connection.execute(
        _SELECT + SQL(" WHERE username = %(username)s AND projects.name = %(name)s AND ") + condition,
        {**values, "username": username, "name": name},
    ).fetchone()
    if row is None:
        raise Refusal(404, "Not_Found", f"there is no project {username}/{name}, or it is private")
    return row


def of_call(connection: Connection[Row], call: Call) -> Row:
    """The project in the path of the call. Raises Refusal 404."""
    return find(connection, call.path["user"], call.path["project"], call.caller)


def writable(connection: Connection[Row], call: Call) -> Row:
    """The same, where the caller may change it. Raises Refusal 404 and 403."""
    project = of_call(connection, call)
    if not may_write(call.caller, project):
        raise Refusal(403, "Forbidden", f"only {project['username']} may write to this project")
    return project


def may_write(account: Account, project: Row) -> bool:
    """Whether the account may change the project and its runs."""
    return account.root or project["owner_id"] == account.id


def old_sdk(call: Call) -> bool:
    """Whether the caller is an SDK from before 0.9, which knows nothing of upgraded boards."""
    version = call.headers.get("x-swanlab-sdk-version") or call.headers.get("swanlab-sdk") or ""
    numbers = version.split(".")[:2]
    return len(numbers) == 2 and all(part.isdigit() for part in numbers) and tuple(map(int, numbers)) < (0, 9)  # noqa: PLR2004  # major and minor


def record_of(row: Row) -> dict[str, Any]:
    """A project as the SDKs read it."""
    return {
        "cuid": row["cuid"],
        "name": row["name"],
        "username": row["username"],
        "path": f"/{row['username']}/{row['name']}",
        "visibility": row["visibility"],
        "description": row["description"],
        "version": row["version"],
        "group": {"username": row["username"], "name": row["owner_name"], "type": "PERSON"},
        "projectLabels": [],
        "_count": {"experiments": row["experiments"], "contributors": 1, "collaborators": 0, "clones": 0},
        "createdAt": times.spell(row["created_at"]),
        "updatedAt": times.spell(row["updated_at"]),
    }
