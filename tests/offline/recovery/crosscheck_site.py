"""Copies as a verification leaves them, filled by the stand-in itself: its handlers decide keys, names and rows.

Two things are short-circuited: the delivery buffer's disk, and the bytes of objects, of which a point has an index.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

import psycopg

from recovery.crosscheck.check import crosscheck
from recovery.crosscheck.model import PRIVATE, Circumstances, ClickHouseCopy, PostgresCopy
from recovery.model import File
from sandbox.swanlab_server import migrating, runs, tables, web
from sandbox.swanlab_server.clickhouse_client import Client as ClickHouseClient
from sandbox.swanlab_server.context import Context
from sandbox.swanlab_server.database import Database
from sandbox.swanlab_server.house import ingest
from sandbox.swanlab_server.points import Points
from sandbox.swanlab_server.routes import ENDPOINTS
from sandbox.swanlab_server.sessions import Sessions
from sandbox.swanlab_server.settings import ClickHouse, Postgres
from sandbox.swanlab_server.vector import events
from sandbox.swanlab_server.web import Account
from tests.offline.sandbox.clickhouse_engine.process import DATABASE, PASSWORD, USER, Server, engine
from tests.offline.sandbox.swanlab_server import server_driver, server_site

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from recovery.crosscheck.model import Found
    from recovery.model import Mode
    from sandbox.swanlab_server.database import Row
    from tests.offline.sandbox.swanlab_server.server_driver import Client

NOW = datetime(2026, 11, 30, 7, 0, tzinfo=UTC)
"""When the points of the tests are taken."""
LONG_AGO = NOW - timedelta(days=3)
_POSTGRES_PASSWORD = "pw"  # noqa: S105  # of server_driver.postgres


class Arrivals(events.Clock):
    """Arrivals at the delivery buffer at a moment that the test sets."""

    def __init__(self) -> None:
        super().__init__()
        self.moment = LONG_AGO
        self._count = 0

    def take(self, count: int) -> int:
        """Each time is given once."""
        self._count += count
        return int(self.moment.timestamp()) * 10**9 + self._count - count


@dataclass(frozen=True)
class Stores:
    """Servers of a test module. address: of PostgreSQL without a database."""

    address: str
    redis: str
    engine: Server
    directory: Path


@contextmanager
def stores(directory: Path) -> Iterator[Stores]:
    """All servers, until the end of the block."""
    (directory / "engine").mkdir()
    with (
        server_driver.postgres() as address,
        server_driver.redis_server(directory) as redis,
        engine(directory / "engine") as found,
    ):
        with psycopg.connect(f"{address}/postgres", autocommit=True) as connection:
            connection.execute("CREATE DATABASE app")
        accounts = {"pg_user": "swanlab\n", "pg_password": f"{_POSTGRES_PASSWORD}\n", "ch_user": USER}
        for name, text in {**accounts, "ch_password": PASSWORD}.items():
            (directory / name).write_text(text)
        yield Stores(address, redis, found, directory)


@dataclass
class World:
    """One SwanLab and its copies, which are the same databases here. objects: key → bytes in the private bucket."""

    stores: Stores
    client: Client
    database: Database
    clickhouse: ClickHouseClient
    objects: server_site.Objects
    arrivals: Arrivals = field(default_factory=Arrivals)

    @property
    def postgres_copy(self) -> PostgresCopy:
        """As a verification names it."""
        port = int(self.stores.address.rpartition(":")[2])
        user, password = self.stores.directory / "pg_user", self.stores.directory / "pg_password"
        return PostgresCopy(host="127.0.0.1", port=port, database="app", user_file=user, password_file=password)

    @property
    def clickhouse_copy(self) -> ClickHouseCopy:
        """As a verification names it."""
        user, password = self.stores.directory / "ch_user", self.stores.directory / "ch_password"
        return ClickHouseCopy(url=self.stores.engine.url, database=DATABASE, user_file=user, password_file=password)

    def sql(self, text: str, *values: object) -> None:
        """Change PostgreSQL behind the server's back."""
        with self.database.write() as connection:
            connection.execute(text, values)

    def started(self, cuid: str, project: str = "p") -> str:
        """A new run; its uid."""
        server_site.project(self.client, project)
        body = {"name": "r", "createdAt": server_site.CREATED, "cuid": cuid}
        assert self.client.ask("POST", f"/api/project/root/{project}/experiment", body).status == 201
        return runs.uid(self.row(cuid))

    def row(self, cuid: str) -> Row:
        """A run as the server reads it."""
        with self.database.read() as connection:
            account = Account(id=0, username="root", name="root", root=True)
            return runs.find(connection, self.database.names, cuid, account)

    def announce(self, cuid: str, types: Mapping[str, str], announced: datetime = LONG_AGO) -> None:
        """Columns of a run. types: key → type."""
        body = [{"key": key, "type": kind} for key, kind in types.items()]
        assert self.client.ask("POST", f"/api/experiment/{cuid}/columns", body).status == 201
        self.sql("UPDATE columns SET created_at = %s WHERE key = ANY(%s)", announced, list(types))

    def deliver(self, kind: str, row: Row, *items: dict[str, Any]) -> None:
        """What an SDK logs, through house and the buffer's routing into its table."""
        lines = [json.loads(line) for line in ingest.events(kind, row, list(items))]
        routed = events.route(lines, self.arrivals)
        table = {"scalar": tables.SCALAR, "media": tables.MEDIA, "log": tables.LOG}[kind]
        self.clickhouse.insert(table.name, list(table.columns), routed.rows[kind])

    def scalar(self, cuid: str, *keys: str) -> None:
        """One announced series for each key, two points each, one of them sent twice."""
        self.announce(cuid, dict.fromkeys(keys, "FLOAT"))
        items = [{"key": key, "index": step, "data": 0.5} for key in keys for step in (1, 2, 2)]
        self.deliver("scalar", self.row(cuid), *items)

    def media(self, cuid: str, key: str, *names: str, size: int = 3) -> list[str]:
        """Objects of one step, sent to where the server says; their keys."""
        self.announce(cuid, {key: "IMAGE"})
        answered = self.client.ask("POST", "/api/resources/presigned/put", {"experimentId": cuid, "paths": list(names)})
        placed = self._put(answered.body["urls"], size)
        self.deliver("media", self.row(cuid), {"key": key, "index": 1, "data": list(names), "more": None})
        return placed

    def save(self, cuid: str, path: str, size: int = 5, state: str = "UPLOADED") -> str:
        """A saved file; its key. state: what the SDK reports."""
        body = {"files": [{"path": path, "size": size, "md5": "", "mimeType": "text/plain"}]}
        (key,) = self._put(self.client.ask("POST", f"/api/experiment/{cuid}/files/prepare", body).body["urls"], size)
        done = {"files": [{"path": path, "state": state}]}
        assert self.client.ask("POST", f"/api/experiment/{cuid}/files/complete", done).status == 201
        self.sql("UPDATE files SET updated_at = %s WHERE path = %s", LONG_AGO, path)
        return key

    def _put(self, urls: Iterable[str], size: int) -> list[str]:
        keys = [url.partition("/put/")[2] for url in urls]
        self.objects.sizes.update(dict.fromkeys(keys, size))
        return keys

    def check(self, mode: Mode = "quiesced", **changed: Any) -> Found:  # noqa: ANN401  # arguments of crosscheck
        """The check of a point that was taken NOW."""
        given: dict[str, Any] = {
            "postgres_copy": self.postgres_copy,
            "clickhouse_copy": self.clickhouse_copy,
            "buckets": {PRIVATE: [file(key, size) for key, size in self.objects.sizes.items()]},
            "under": Circumstances(mode=mode, taken=NOW),
            "work": self.stores.directory,
        }
        return crosscheck(**{**given, **changed})


def file(key: str, size: int) -> File:
    """A line of an index; its content does not matter here."""
    return File(path=key, size=size, sha256=64 * "0", chunks=())


@contextmanager
def world(found: Stores) -> Iterator[World]:
    """An empty SwanLab on these stores, with root logged in."""
    with psycopg.connect(f"{found.address}/app", autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    address = f"{found.address}/app"
    postgres = Postgres(primary=address, replica=address)
    migrating.apply(postgres, server_site.NEW, patience=5)
    settings = ClickHouse(url=found.engine.url, database=DATABASE, user=USER, password=PASSWORD)
    ClickHouseClient(replace(settings, database="default")).execute(f"DROP DATABASE IF EXISTS {DATABASE}")
    tables.make(settings)
    database, objects = Database(postgres, server_site.NEW), server_site.Objects()
    context = Context(
        database=database,
        sessions=Sessions(found.redis),
        storage=cast("Any", objects),
        points=Points(settings),
    )
    app = web.application(web.Server(context=context, identify=context.sessions.account), ENDPOINTS)
    site = server_site.Site(server_driver.Client(app), database, objects, cast("Any", None), postgres)
    try:
        yield World(found, site.activate(), database, ClickHouseClient(settings), objects)
    finally:
        database.close()
