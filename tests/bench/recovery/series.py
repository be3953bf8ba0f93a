"""ClickHouse: points of runs, beside the engine's own SELECT, BACKUP and RESTORE."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import requests

from sandbox.swanlab_server.tables import SCALAR
from tests.bench.errors import BenchError
from tests.bench.recovery import content, steps
from tests.bench.recovery.figures import Measured, Step
from tests.bench.recovery.site import ENGINE
from tests.offline.recovery import clickhouse_servers
from tests.offline.sandbox.clickhouse_engine.process import DATABASE, PASSWORD, USER

if TYPE_CHECKING:
    from pathlib import Path

    from tests.bench.recovery.cost import Ended
    from tests.bench.recovery.steps import Bench

NAME: Final = "series"
COPY, RAW, RESTORED = "verification", "raw_insert", "raw_restore"
"""Databases: what a verification restores beside, and what the raw tools restore into."""
NOWHERE, FILE, INSERT = "SELECT … FORMAT Native to /dev/null", "SELECT … FORMAT Native to a file", "INSERT of that file"
BACKUP, BACK = "BACKUP DATABASE to a file", "RESTORE DATABASE"
_PATIENCE: Final = 3600.0


@dataclass(frozen=True)
class Series:
    """The store."""

    bench: Bench
    name: str = NAME

    def fill(self) -> None:
        """Parts as INSERTs leave them, and no merge that would take the processor while something is measured."""
        self.ask(SCALAR.definition())
        self.ask(f"SYSTEM STOP MERGES {DATABASE}.{SCALAR.name}")
        self.ask(content.points(self.bench.plan, SCALAR.name))
        self.ask(f"CREATE DATABASE {COPY} ENGINE = Atomic")

    def measure(self) -> Measured:
        """See steps.Store."""
        bench, source = self.bench, self.content(DATABASE)
        first, again, point = steps.taken(bench, ENGINE, self._section(DATABASE))
        verify = steps.verified(bench, ENGINE, [self._section(COPY)], point)
        bench.meanwhile(f"{self.name} restored", bench.site)
        verify = steps.with_problems(verify, steps.differences(source, self.content(f"{COPY}__restored")))
        self._drop(COPY, f"{COPY}__restored")
        size, raw = self._raw(source)
        return Measured(
            name=self.name,
            kind=f"ClickHouse {self.ask('SELECT version()').strip()}",
            unit="rows",
            count=int(source[SCALAR.name][0]),
            wanted=bench.plan.points,
            size=size,
            steps=(first, again, verify, *raw),
            beside=(
                (steps.FIRST, (FILE,)),
                (steps.FIRST, (BACKUP,)),
                (steps.VERIFY, (INSERT,)),
                (steps.VERIFY, (BACK,)),
            ),
        )

    def content(self, database: str) -> steps.Content:
        """Rows of the table and a sum of hashes over all that they hold; none where there is no such database."""
        if not self.ask(f"SELECT name FROM system.tables WHERE database = '{database}'"):  # noqa: S608  # names of ours
            return {}
        text = self.ask(
            f"SELECT count(), sum(cityHash64(*)) FROM {database}.{SCALAR.name} FINAL FORMAT JSONCompactEachRow"  # noqa: S608  # names of ours
        )
        return {SCALAR.name: [str(cell) for cell in json.loads(text)]}

    def ask(self, text: str) -> str:
        """Run a statement in the source's database. Raises BenchError."""
        answer = requests.post(
            f"{self.bench.site.engine.url}/",
            params={"database": DATABASE},
            headers={"X-ClickHouse-User": USER, "X-ClickHouse-Key": PASSWORD},
            data=text.encode(),
            timeout=_PATIENCE,
        )
        if not answer.ok:
            raise BenchError(f"the engine refused {text[:80]!r}: {answer.text[:500]}")
        return answer.text

    def _raw(self, source: steps.Content) -> tuple[int, list[Step]]:
        """Bytes of all rows in Native format, and the raw tools' steps."""
        table, file = f"{DATABASE}.{SCALAR.name}", self.bench.site.home / "scalar.native"
        select = f"SELECT * FROM {table} FORMAT Native"  # noqa: S608  # names of ours
        nowhere = self._statement(NOWHERE, select)
        filed = self._statement(FILE, select, out=file)
        self.ask(f"CREATE DATABASE {RAW} ENGINE = Atomic")
        self.ask(SCALAR.definition().replace(SCALAR.name, f"{RAW}.{SCALAR.name}", 1))
        inserted = self._statement(INSERT, f"INSERT INTO {RAW}.{SCALAR.name} FORMAT Native", data=file)
        inserts = _step(INSERT, inserted, steps.differences(source, self.content(RAW)))
        size = file.stat().st_size
        file.unlink()
        self._drop(RAW)
        where = f"File('{self.bench.site.backups / 'own'}')"
        backed = self._statement(BACKUP, f"BACKUP DATABASE {DATABASE} TO {where}")
        back = self._statement(BACK, f"RESTORE DATABASE {DATABASE} AS {RESTORED} FROM {where}")
        restores = _step(BACK, back, steps.differences(source, self.content(RESTORED)))
        self._drop(RESTORED)
        return size, [_step(NOWHERE, nowhere), _step(FILE, filed), inserts, _step(BACKUP, backed), restores]

    def _statement(self, name: str, text: str, out: Path | None = None, data: Path | None = None) -> Ended:
        self.bench.say(f"    {self.name}: {name}")
        order = {"url": self.bench.site.engine.url, "user": USER, "password": PASSWORD, "statement": text}
        files = {"out": str(out) if out else None, "data": str(data) if data else None}
        return steps.worked(self.bench.site.raw(ENGINE, do="statement", **order, **files), name)

    def _section(self, database: str) -> dict[str, Any]:
        settings = clickhouse_servers.opened(
            self.bench.site.engine, self.bench.site.keys, name=self.name, database=database, seconds=int(_PATIENCE)
        ).settings
        found: dict[str, Any] = json.loads(settings.model_dump_json())
        return found

    def _drop(self, *databases: str) -> None:
        for database in databases:
            self.ask(f"DROP DATABASE IF EXISTS {database} SYNC")


def _step(name: str, ended: Ended, problems: tuple[str, ...] = ()) -> Step:
    return Step(name=name, ours=False, cost=ended.cost, problems=problems)
