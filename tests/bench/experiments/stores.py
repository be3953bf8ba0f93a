"""ClickHouse and the object store, asked directly: what SwanLab can be at best."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from minio import Minio

from sandbox.swanlab_server.tables import ALL, SCALAR
from smoke.access.errors import AccessError
from smoke.access.objects import REGION, Objects
from tests.bench.errors import BenchError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.bench.experiments.http import Http
    from tests.bench.experiments.site import Database, Site

TABLES: Final = "plumbline_bench_"
"""What names of tables of the bench begin with."""
PREFIX: Final = "plumbline-bench/"
"""What names of objects of the bench begin with."""
_VALID: Final = timedelta(hours=1)
_WRITE: Final = {"precise_float_parsing": "1", "async_insert": "0"}
_RUN: Final = "startsWith(uid, concat({uid:String}, '.'))"
"""What the stand-in calls a run in its tables: the run's id, a dot, and which run of that id it is."""
_OWN: Final = f"{_RUN} AND startsWith(key, 'bench/')"


class ClickHouse:
    """Its HTTP interface. Raises BenchError from every method."""

    def __init__(self, http: Http, database: Database) -> None:
        self._http, self._url = http, f"{database.url}/"
        self._name = database.name
        self._headers = {"X-ClickHouse-User": database.user, "X-ClickHouse-Key": database.password}

    def make(self, word: str) -> str:
        """A table as that of scalars, for direct inserts; its name."""
        table = replace(SCALAR, name=TABLES + word)
        self._ask(table.definition())
        return table.name

    def insert(self, table: str, body: bytes) -> None:
        """Rows that `points.rows` has made; they are in a part when this returns."""
        query = f"INSERT INTO {table} ({', '.join(SCALAR.columns)}) FORMAT JSONCompactEachRow"
        self._ask("", body=body, query=query, **_WRITE)

    def rows(self, table: str) -> int:
        """How many there are."""
        return int(self._ask(f"SELECT count() FROM {table} FINAL FORMAT TabSeparated"))  # noqa: S608  # a name of ours

    def stored(self, uid: str) -> int:
        """Points of a run, each step of a key once."""
        statement = f"SELECT count() FROM scalar FINAL WHERE {_OWN} FORMAT TabSeparated"  # noqa: S608  # a constant
        return int(self._ask(statement, param_uid=uid))

    def series(self, uid: str, key: str) -> bytes:
        """Steps, values and times of a series in order, as text."""
        return self._ask(
            "SELECT step, value, toUnixTimestamp64Milli(timestamp) FROM scalar FINAL"  # noqa: S608  # a constant
            f" WHERE {_RUN} AND key = {{key:String}} ORDER BY step FORMAT TabSeparated",
            param_uid=uid,
            param_key=key,
        )

    def summaries(self, uid: str) -> bytes:
        """The statistics that a summary tells of each series."""
        return self._ask(
            "SELECT key, argMax(value, step), max(step), min(value), max(value), avg(value),"  # noqa: S608  # a constant
            f" quantileExactInclusive(0.5)(value), stddevPop(value) FROM scalar FINAL WHERE {_OWN}"
            " GROUP BY key ORDER BY key FORMAT TabSeparated",
            param_uid=uid,
        )

    def forget(self, runs: Iterable[str]) -> None:
        """Delete every row of these runs, those too that were still on their way when the run was deleted."""
        for run in runs:
            for table in ALL:
                statement = f"ALTER TABLE {table.name} DELETE WHERE {_RUN}"
                self._ask(statement, param_uid=run, mutations_sync="1")

    def tables(self) -> list[str]:
        """Tables of any bench."""
        found = self._ask(
            "SELECT name FROM system.tables WHERE database = {database:String} AND startsWith(name, {begin:String})"
            " FORMAT TabSeparated",
            param_database=self._name,
            param_begin=TABLES,
        )
        return found.decode().split()

    def drop(self, tables: Iterable[str]) -> None:
        """Remove them for good."""
        for table in tables:
            self._ask(f"DROP TABLE IF EXISTS {table} SYNC")

    def _ask(self, statement: str, *, body: bytes | None = None, **parameters: str) -> bytes:
        headers = self._headers if body is None else {**self._headers, "Content-Encoding": "gzip"}
        answer = self._http.ask(
            "POST",
            self._url,
            params={"database": self._name, **parameters},
            data=statement.encode() if body is None else body,
            headers=headers,
        )
        return bytes(answer.content)


class Store:
    """The object store, with the key that SwanLab has. Addresses are signed before anything is measured."""

    def __init__(self, site: Site) -> None:
        parts = urlsplit(site.store)
        key = site.store_key
        self._bucket = site.bucket
        self._signer = Minio(parts.netloc, key.access, key.secret, secure=parts.scheme == "https", region=REGION)
        self._objects = Objects("object store", lambda: site.store, lambda: None, key)

    def places(self, names: Sequence[str]) -> list[str]:
        """Addresses at which these objects may be put."""
        return [self._signer.presigned_put_object(self._bucket, PREFIX + name, expires=_VALID) for name in names]

    def addresses(self, names: Sequence[str]) -> list[str]:
        """Addresses from which they can be had."""
        return [self._signer.presigned_get_object(self._bucket, PREFIX + name, expires=_VALID) for name in names]

    def names(self) -> list[str]:
        """Objects of any bench. Raises BenchError."""
        try:
            return self._objects.names(self._bucket, PREFIX)
        except AccessError as error:
            raise BenchError(f"objects of the bench cannot be listed: {error}") from error

    def remove(self, names: Iterable[str]) -> None:
        """Delete objects. Raises BenchError."""
        try:
            for name in names:
                self._objects.delete(self._bucket, name)
        except AccessError as error:
            raise BenchError(f"objects of the bench cannot be removed: {error}") from error

    def close(self) -> None:
        """Close the connections."""
        self._objects.close()
