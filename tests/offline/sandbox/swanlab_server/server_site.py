"""A server on real stores for tests; objects and points are remembered here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from sandbox.swanlab_server import migrating, runs, web
from sandbox.swanlab_server.context import Context
from sandbox.swanlab_server.database import Database
from sandbox.swanlab_server.routes import ENDPOINTS
from sandbox.swanlab_server.sessions import Sessions
from sandbox.swanlab_server.web import Account
from tests.offline.sandbox.swanlab_server.server_driver import Answered, Client

if TYPE_CHECKING:
    from sandbox.swanlab_server.settings import Postgres, Version
    from sandbox.swanlab_server.storage import Etag

OLD, NEW = (3, 1, 1), (3, 2, 0)
PASSWORD = "correct-horse"  # noqa: S105  # of an account that lives for seconds
CREATED = "2026-01-01T00:00:00.123456Z"


@dataclass
class Objects:
    """Remembers what was asked of the object store. sizes: bytes by key of what is there."""

    sizes: dict[str, int] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    completed: list[str] = field(default_factory=list)

    def upload_url(self, key: str, origin: str) -> str:
        return f"{origin}/put/{key}"

    def download_url(self, key: str, origin: str) -> str:
        return f"{origin}/get/{key}"

    def size(self, key: str) -> int | None:
        return self.sizes.get(key)

    def put(self, key: str, content: bytes, content_type: str) -> None:
        assert content_type.startswith("text/csv")
        self.sizes[key] = len(content)

    def remove(self, prefix: str) -> None:
        self.removed.append(prefix)

    def begin(self, key: str, content_type: str) -> str:
        return f"{content_type} at {key}"

    def part_url(self, key: str, upload: str, part: int, origin: str) -> str:
        return f"{origin}/put/{key}?uploadId={upload}&partNumber={part}"

    def complete(self, key: str, upload: str, parts: list[Etag]) -> None:
        assert key
        assert {(part.number, part.etag) for part in parts} == {(1, "a"), (2, "b")}
        self.completed.append(upload)


@dataclass
class Logged:
    """Points that were logged: `runs.uid` → key → rows. failure: raised in place of removing."""

    rows: dict[str, dict[str, list[Any]]] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    failure: OSError | None = None

    def remove(self, experiments: list[str]) -> None:
        if self.failure is not None:
            raise self.failure
        self.removed += experiments

    def remove_project(self, project: str) -> None:
        self.remove([project])

    def keys(self, experiment: str) -> list[str]:
        return list(self.rows.get(experiment, {}))

    def series(self, experiment: str, key: str) -> list[Any]:
        return self.rows[experiment][key]


@dataclass
class Site:
    """One server and what it stands on."""

    client: Client
    database: Database
    objects: Objects
    points: Logged
    postgres: Postgres

    def login(self, username: str = "root") -> Client:
        """A client with a session of this account."""
        answered = self.client.ask("POST", "/api/login", {"username": username, "password": PASSWORD})
        return Client(self.client.app, sid=answered.body["sid"])

    def activate(self, seats: int = 5, expires: str = "2999-01-01T00:00:00.000Z") -> Client:
        """Activate and log in as root."""
        licence = f'{{"seats": {seats}, "expiredAt": "{expires}"}}'
        body = {"username": "root", "password": PASSWORD, "licence": licence}
        assert self.client.ask("POST", "/api/self_hosted/activate", body).status == 201
        return self.login()


def opened(postgres: Postgres, redis_url: str, version: Version) -> Site:
    """A server of this version, after its migrations."""
    migrating.apply(postgres, version, patience=5)
    database, objects, points = Database(postgres, version), Objects(), Logged()
    context = Context(
        database=database, sessions=Sessions(redis_url), storage=cast("Any", objects), points=cast("Any", points)
    )
    app = web.application(web.Server(context=context, identify=context.sessions.account), ENDPOINTS)
    return Site(Client(app), database, objects, points, postgres)


def project(client: Client, name: str = "p") -> dict[str, Any]:
    """A project of the client's account, made now or before."""
    return cast("dict[str, Any]", client.ask("POST", "/api/project", {"name": name}).body)


def uid(site: Site, cuid: str) -> str:
    """Under which the points of a run are."""
    with site.database.read() as connection:
        account = Account(id=0, username="root", name="root", root=True)
        return runs.uid(runs.find(connection, site.database.names, cuid, account))


def started(client: Client, **body: object) -> Answered:
    """A run `r` in root's project `p`."""
    return client.ask("POST", "/api/project/root/p/experiment", {"name": "r", "createdAt": CREATED, **body})
