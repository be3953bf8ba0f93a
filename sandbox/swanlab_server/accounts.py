"""Logging in, API keys, and what an account tells about itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from sandbox.swanlab_server import bodies, credentials, licences, times
from sandbox.swanlab_server.web import Account, Answer, Refusal

if TYPE_CHECKING:
    from psycopg import Connection

    from sandbox.swanlab_server.context import Context
    from sandbox.swanlab_server.database import Row
    from sandbox.swanlab_server.web import Call

USERNAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,24}")
_SHORTEST_PASSWORD: Final = 8
_LONGEST_PASSWORD: Final = 128
_MOST_KEYS: Final = 50
_NOBODY: Final = credentials.hash_password("")
"""Compared with when the name is unknown, so that the time does not tell which names there are."""


def login_by_key(context: Context, call: Call) -> Answer:
    """`POST /login/api_key`, the key in header `authorization`. 401 for an unknown one, and before activation."""
    key = call.headers.get("authorization", "").strip()
    with context.database.write() as connection:
        _licensed(connection)
        row = connection.execute(
            "SELECT users.id, username, users.name, root, api_keys.id AS key FROM api_keys"
            " JOIN users ON users.id = user_id WHERE key_hash = %s",
            (credentials.digest(key),),
        ).fetchone()
    if row is None:
        raise Refusal(401, "Invalid_Api_Key", "this API key is unknown; create one in the settings of the account")
    return _opened(context, Account(**row))


def login_by_password(context: Context, call: Call) -> Answer:
    """`POST /login` with username and password. 401 when they do not belong together."""
    body = bodies.mapping(call.body)
    username, password = bodies.text(body, "username"), bodies.text(body, "password")
    with context.database.write() as connection:
        _licensed(connection)
    account = authenticated(context, username, password)
    if account is None:
        raise Refusal(401, "Wrong_Credentials", "username or password is wrong")
    return _opened(context, account)


def authenticated(context: Context, username: str, password: str) -> Account | None:
    """The account of this name, if this is its password."""
    with context.database.write() as connection:
        row = connection.execute(
            "SELECT id, username, name, root, password_hash FROM users WHERE username = %s", (username,)
        ).fetchone()
    # Outside the transaction: scrypt is slow on purpose, and connections are few.
    right = credentials.is_password(password, row.pop("password_hash") if row else _NOBODY)
    return Account(**row) if row and right else None


def _licensed(connection: Connection[Row]) -> None:
    licence = licences.current(connection)
    if licence is None:
        raise Refusal(401, "Unverified", "this installation is not activated; activate it in the browser first")
    if licence.expired(times.now()):
        raise Refusal(401, "Licence_Expired", "the licence is over; activate the installation with a new one")


def _opened(context: Context, account: Account) -> Answer:
    session = context.sessions.open(account)
    body = {
        "sid": session.sid,
        "expiredAt": times.spell(session.expires),
        "userInfo": {"username": account.username, "name": account.name},
    }
    return Answer(body=body, headers={"set-cookie": f"sid={session.sid}; Path=/; HttpOnly; SameSite=Lax"})


def logout(context: Context, call: Call) -> Answer:
    """`POST /logout`: the session of the cookie is over."""
    cookies = dict(part.strip().partition("=")[::2] for part in call.headers.get("cookie", "").split(";"))
    context.sessions.close(cookies.get("sid", ""))
    return Answer(status=204)


def identity(_context: Context, call: Call) -> Answer:
    """`GET /identity`: who calls."""
    return Answer(body={"username": call.caller.username, "name": call.caller.name})


def profile(context: Context, call: Call) -> Answer:
    """`GET /user/profile`."""
    empty = dict.fromkeys(("bio", "url", "institution", "school", "email", "location"), "")
    with context.database.write() as connection:
        row = connection.execute("SELECT created_at FROM users WHERE id = %s", (call.caller.id,)).fetchone()
    created = times.spell(row["created_at"]) if row else None
    return Answer(body={**empty, "username": call.caller.username, "name": call.caller.name, "createdAt": created})


def groups(_context: Context, _call: Call) -> Answer:
    """`GET /user/{user}/groups`: there are no organisations here."""
    return Answer(body=[])


def group(context: Context, call: Call) -> Answer:
    """`GET /group/{user}`: the space of one account."""
    with context.database.read() as connection:
        row = find(connection, call.path["user"])
    role = "OWNER" if row["id"] == call.caller.id else "VISITOR"
    body = {"username": row["username"], "name": row["name"], "type": "PERSON", "comment": "", "role": role}
    return Answer(body={**body, "profile": {}})


def create_key(context: Context, call: Call) -> Answer:
    """`POST /user/api_key`: a new key, which is shown this once."""
    name = bodies.text_or(bodies.mapping(call.body or {}), "name", "default")
    key = credentials.new_key()
    with context.database.write() as connection:
        row = connection.execute(
            "INSERT INTO api_keys (user_id, name, key_hash) SELECT %(user)s, %(name)s, %(hash)s"
            " WHERE (SELECT count(*) FROM api_keys WHERE user_id = %(user)s) < %(most)s RETURNING id, created_at",
            {"user": call.caller.id, "name": name, "hash": credentials.digest(key), "most": _MOST_KEYS},
        ).fetchone()
    if row is None:
        raise Refusal(409, "Too_Many_Keys", f"an account has at most {_MOST_KEYS} API keys; delete one first")
    body = {"id": row["id"], "name": name, "createdAt": times.spell(row["created_at"]), "key": key}
    return Answer(status=201, body=body)


def list_keys(context: Context, call: Call) -> Answer:
    """`GET /user/api_key`: the keys of the account, newest first, without their secret."""
    return Answer(body=_keys(context, call))


def latest_key(context: Context, call: Call) -> Answer:
    """`GET /user/key/latest`: the newest of them. 404 if there is none."""
    keys = _keys(context, call)
    if not keys:
        raise Refusal(404, "Not_Found", "this account has no API key")
    return Answer(body=keys[0])


def _keys(context: Context, call: Call) -> list[dict[str, Any]]:
    with context.database.write() as connection:
        rows = connection.execute(
            "SELECT id, name, created_at FROM api_keys WHERE user_id = %s ORDER BY id DESC", (call.caller.id,)
        ).fetchall()
    hidden = "*" * credentials.KEY_LENGTH
    return [
        {"id": row["id"], "name": row["name"], "createdAt": times.spell(row["created_at"]), "key": hidden}
        for row in rows
    ]


def delete_key(context: Context, call: Call) -> Answer:
    """`DELETE /user/api_key/{id}`: the key and its sessions end. 404 for another account's."""
    key = int(call.path["id"])
    with context.database.write() as connection:
        gone = connection.execute(
            "DELETE FROM api_keys WHERE id = %s AND user_id = %s RETURNING id", (key, call.caller.id)
        ).fetchone()
        if gone is None:
            raise Refusal(404, "Not_Found", f"this account has no API key {key}")
        # Inside the transaction: were Redis away after it, the sessions would outlive the key.
        context.sessions.close_key(key)
    return Answer(status=204)


def find(connection: Connection[Row], username: str) -> Row:
    """The account of this name: id, username, name. Raises Refusal 404."""
    row = connection.execute("SELECT id, username, name FROM users WHERE username = %s", (username,)).fetchone()
    if row is None:
        raise Refusal(404, "Not_Found", f"there is no space {username!r}")
    return row


def insert(connection: Connection[Row], username: str, password: str, *, root: bool) -> None:
    """Create an account. Raises Refusal: 400 for a name or password that is none, 409 for a name that is taken."""
    if not USERNAME.fullmatch(username):
        raise bodies.wrong("username", "1 to 25 letters, digits, `-` and `_`, the first a letter or digit")
    if not _SHORTEST_PASSWORD <= len(password) <= _LONGEST_PASSWORD:
        raise bodies.wrong("password", f"{_SHORTEST_PASSWORD} to {_LONGEST_PASSWORD} characters")
    made = connection.execute(
        "INSERT INTO users (username, name, password_hash, root) VALUES (%s, %s, %s, %s)"
        " ON CONFLICT (username) DO NOTHING RETURNING id",
        (username, username, credentials.hash_password(password), root),
    ).fetchone()
    if made is None:
        raise Refusal(409, "Conflict", f"the name {username!r} is taken")
