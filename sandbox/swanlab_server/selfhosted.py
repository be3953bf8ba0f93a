"""Activation, and what the root account sees of the installation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sandbox.swanlab_server import accounts, bodies, licences, times
from sandbox.swanlab_server.web import Answer, Refusal

if TYPE_CHECKING:
    from sandbox.swanlab_server.context import Context
    from sandbox.swanlab_server.database import Row
    from sandbox.swanlab_server.web import Call

_LOCK: Final = 0x41637469
_MOST_USERS: Final = 100


def info(context: Context, call: Call) -> Answer:
    """`GET /self_hosted/info`, without a session too: enabled, expired, root, plan, free seats, expiredAt."""
    with context.database.write() as connection:
        licence = licences.current(connection)
        used = _count(connection.execute("SELECT count(*) FROM users").fetchone())
    root = call.account is not None and call.account.root
    if licence is None:
        return Answer(body={"enabled": False, "expired": False, "root": root, "plan": "free", "seats": 0})
    body = {"enabled": True, "expired": licence.expired(times.now()), "root": root, "plan": licence.plan}
    return Answer(body={**body, "seats": max(0, licence.seats - used), "expiredAt": times.spell(licence.expires)})


def activate(context: Context, call: Call) -> Answer:
    """`POST /self_hosted/activate` {username, password, licence}: makes the root account and puts the licence in force.

    Once active, the root account alone may give another licence; anyone else gets 403.
    """
    body = bodies.mapping(call.body)
    username, password = bodies.text(body, "username"), bodies.text(body, "password")
    licence = licences.parse(bodies.text(body, "licence", longest=20_000), times.now())
    with context.database.write() as connection:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        first = licences.current(connection) is None
        if first:
            accounts.insert(connection, username, password, root=True)
            licences.keep(connection, licence)
    if first:
        return Answer(status=201, body={"enabled": True})
    account = accounts.authenticated(context, username, password)
    if account is None or not account.root:
        raise Refusal(403, "Forbidden", "this installation is active; the root account alone may change its licence")
    with context.database.write() as connection:
        licences.keep(connection, licence)
    return Answer(body={"enabled": True})


def create_users(context: Context, call: Call) -> Answer:
    """`POST /self_hosted/users` {users: [{username, password}]}: all of them or none. 403 without free seats."""
    _root(call)
    wanted = bodies.objects(bodies.mapping(call.body).get("users"), "users", _MOST_USERS)
    with context.database.write() as connection:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        licence = licences.current(connection)
        used = _count(connection.execute("SELECT count(*) FROM users").fetchone())
        if licence is None or used + len(wanted) > licence.seats:
            raise Refusal(403, "No_Seats", "the licence has no seats for so many; remove accounts or extend it")
        for item in wanted:
            accounts.insert(connection, bodies.text(item, "username"), bodies.text(item, "password"), root=False)
    return Answer(status=201, body={"users": [item["username"] for item in wanted]})


def list_users(context: Context, call: Call) -> Answer:
    """`GET /self_hosted/users?page&size`."""
    _root(call)
    page = bodies.page(call.query)
    with context.database.read() as connection:
        total = _count(connection.execute("SELECT count(*) FROM users").fetchone())
        rows = connection.execute(
            "SELECT username, name, root, created_at FROM users ORDER BY id LIMIT %s OFFSET %s",
            (page.size, page.offset),
        ).fetchall()
    return Answer(body=page.of([_user(row) for row in rows], total))


def list_groups(context: Context, call: Call) -> Answer:
    """`GET /self_hosted/groups?page&size`: one space for each account."""
    _root(call)
    page = bodies.page(call.query)
    with context.database.read() as connection:
        total = _count(connection.execute("SELECT count(*) FROM users").fetchone())
        rows = connection.execute(
            "SELECT username, name FROM users ORDER BY id LIMIT %s OFFSET %s", (page.size, page.offset)
        ).fetchall()
    return Answer(body=page.of([{**row, "type": "PERSON"} for row in rows], total))


def summary(context: Context, call: Call) -> Answer:
    """`GET /self_hosted/summary`: how much there is."""
    _root(call)
    with context.database.read() as connection:
        row = connection.execute(
            "SELECT (SELECT count(*) FROM users) AS users, (SELECT count(*) FROM projects) AS projects,"
            " (SELECT count(*) FROM experiments) AS experiments"
        ).fetchone()
    return Answer(body=row)


def _root(call: Call) -> None:
    if not call.caller.root:
        raise Refusal(403, "Forbidden", "the root account alone may do this")


def _user(row: Row) -> dict[str, Any]:
    return {
        "username": row["username"],
        "name": row["name"],
        "root": row["root"],
        "createdAt": times.spell(row["created_at"]),
    }


def _count(row: Row | None) -> int:
    return int(row["count"]) if row else 0
