"""PostgreSQL: what SwanLab knows of runs, beside pg_dump and pg_restore."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict

from tests.bench.recovery import content, steps
from tests.bench.recovery.figures import Measured, Step
from tests.bench.recovery.site import DATABASES
from tests.offline.recovery import databases

if TYPE_CHECKING:
    from tests.bench.recovery.cost import Ended
    from tests.bench.recovery.steps import Bench

NAME: Final = "metadata"
SOURCE, COPY, RESTORED = "app", "verification", "raw_restore"
"""Databases: the source, what a verification restores beside, what pg_restore restores into."""
DUMP, BACK = "pg_dump --format=custom to a file", "pg_restore"
_TABLES: Final = "SELECT quote_ident(relname) FROM pg_stat_user_tables WHERE schemaname = 'public'"
_CONTENT: Final = "SELECT count(*), coalesce(sum(hashtextextended(t::text, 0)), 0)::text FROM {} AS t"
_RUN_TABLES: Final = 2


@dataclass(frozen=True)
class Metadata:
    """The store."""

    bench: Bench
    name: str = NAME

    def fill(self) -> None:
        """The stand-in's own schema, and as many runs as made the points."""
        server = self.bench.site.databases
        server.database(databases.schema() + content.metadata(self.bench.plan), name=SOURCE)
        server.database(name=COPY)

    def measure(self) -> Measured:
        """See steps.Store."""
        bench, source = self.bench, self.content(SOURCE)
        first, again, point = steps.taken(bench, DATABASES, self._section(SOURCE))
        verify = steps.verified(bench, DATABASES, [self._section(COPY)], point)
        bench.meanwhile(f"{self.name} restored", bench.site)
        verify = steps.with_problems(verify, steps.differences(source, self.content(f"{COPY}__restored")))
        raw = self._raw(source)
        plan = bench.plan
        return Measured(
            name=self.name,
            kind=f"PostgreSQL {bench.site.databases.ask('postgres', 'SHOW server_version')}",
            unit="rows",
            count=sum(int(found[0]) for found in source.values()),
            # Users and projects; runs with their profiles and columns; files.
            wanted=50 + 40 + plan.runs * (_RUN_TABLES + plan.keys) + plan.objects,
            size=int(bench.site.databases.ask("postgres", f"SELECT pg_database_size('{SOURCE}')")),
            steps=(first, again, verify, *raw),
            beside=((steps.FIRST, (DUMP,)), (steps.VERIFY, (BACK,))),
        )

    def content(self, database: str) -> steps.Content:
        """Rows of every table and a sum of hashes over all that they hold; none where there is no such database."""
        try:
            with self.bench.site.databases.connect(database) as connection:
                names = [str(row[0]) for row in connection.execute(_TABLES)]
                return {name: list(connection.execute(_CONTENT.format(name)).fetchone() or ()) for name in names}
        except psycopg.OperationalError:
            return {}

    def _raw(self, source: steps.Content) -> list[Step]:
        server, file = self.bench.site.databases, self.bench.site.home / "app.dump"
        dumped = self._tool(DUMP, ["pg_dump", "--format=custom", f"--file={file}", f"--dbname={SOURCE}"])
        server.database(name=RESTORED)
        back = self._tool(BACK, ["pg_restore", "--exit-on-error", f"--dbname={RESTORED}", str(file)])
        wrong = steps.differences(source, self.content(RESTORED))
        return [
            Step(name=DUMP, ours=False, cost=dumped.cost),
            Step(name=BACK, ours=False, cost=back.cost, problems=wrong),
        ]

    def _tool(self, name: str, argv: list[str]) -> Ended:
        self.bench.say(f"    {self.name}: {name}")
        site = self.bench.site
        place = conninfo_to_dict(site.databases.address)
        file = site.keys / "pgpass"
        file.touch(mode=0o600)
        file.write_text(f"*:*:*:*:{place['password']}\n", encoding="utf-8")
        variables = {"PGHOST": place["host"], "PGPORT": place["port"], "PGUSER": place["user"], "PGPASSFILE": file}
        program = str(site.databases.programs / argv[0])
        ended = site.measured(DATABASES, [program, *argv[1:]], **{key: str(value) for key, value in variables.items()})
        return steps.worked(ended, name)

    def _section(self, database: str) -> dict[str, Any]:
        settings = self.bench.site.databases.store(database, self.bench.site.keys).settings
        found: dict[str, Any] = json.loads(settings.model_dump_json())
        return found
