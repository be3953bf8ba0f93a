"""Every real store beside the program itself: what is live, what is scratch, and a locked bucket for the points."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import requests

from recovery import seal
from tests.offline.recovery import buckets, clickhouse_servers, databases, killed_program, redises
from tests.offline.recovery.examples import document
from tests.offline.recovery.locked import LOCKED, Locked, locked
from tests.offline.sandbox.clickhouse_engine import process
from tests.offline.sandbox.swanlab_server import server_driver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.offline.recovery.buckets import Buckets
    from tests.offline.recovery.clickhouse_servers import Case
    from tests.offline.recovery.databases import Server
    from tests.offline.recovery.redises import Redises

ROOT: Final = Path(__file__).parents[3]


@dataclass
class Site:
    """home: for files. private: the private recovery key."""

    home: Path
    target: Locked
    bucket: str
    postgres: Server
    database: str
    clickhouse: Case
    redis: Redises
    objects: Buckets
    private: Path

    def config(self, name: str, **other: Any) -> Path:  # noqa: ANN401  # whatever JSON holds
        """A configuration file with all accounts. other: top-level keys that are different."""
        target = json.loads(self.target.target(self.bucket).model_dump_json())
        own = {"target": target, "work": str(self.home / "work"), "stores": self.sections()}
        content = document(**{**own, **other})
        path = self.home / f"{name}.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        return path

    def sections(self, database: str = "", series: str = "", number: int = redises.LIVE) -> list[dict[str, Any]]:
        """Sections of all stores. Other databases: a verification's."""
        postgres = self.postgres.store(database or self.database, self.home / "postgres").settings
        clickhouse = clickhouse_servers.opened(
            self.clickhouse.server, self.home / "keys", database=series or self.clickhouse.database
        ).settings
        redis = self.redis.store(number, redises.BESIDE if number == redises.LIVE else redises.OTHER).settings
        found = [postgres, clickhouse, redis, self.objects.settings()]
        return [json.loads(section.model_dump_json()) for section in found]

    def scratch(self) -> list[dict[str, Any]]:
        """Stores of a verification: new databases of the same servers. It has none for objects, which are read back."""
        series = f"@_scratch_{uuid.uuid4().hex[:12]}"
        self.clickhouse.run(f"CREATE DATABASE {series} ENGINE = Atomic")
        database = self.clickhouse.database
        sections = self.sections(self.postgres.database(), series.replace("@", database), redises.OTHER - 1)
        return [section for section in sections if section["kind"] != "objects"]

    def sealed(self, directory: Path) -> dict[str, Any]:
        """Section of a Secret that is sealed."""
        public = seal.public_of(self.private.read_text(encoding="utf-8"))
        return {
            "kind": "secrets",
            "name": "stack-secrets",
            "directories": [str(directory)],
            "recovery_public_key": public,
        }

    def lose(self, key: str) -> None:
        """What a failing disk does, behind the back of every lock: an object is gone with all its versions."""
        filer = f"http://127.0.0.1:{self.target.ports['filer.port']}/buckets/{self.bucket}"
        for path in (key, f"{key}.versions"):
            requests.delete(f"{filer}/{path}", params={"recursive": "true"}, timeout=60).raise_for_status()

    def run(self, config: Path, *words: str) -> tuple[int, dict[str, Any], str]:
        """The program in a process of its own: exit code, what it says to machines, what it says to people."""
        done = killed_program.run(self.home, config, *words)
        return done.code, done.facts, done.said

    def run_as_a_pod(self, config: Path, *words: str) -> tuple[int, dict[str, Any], str]:
        """The same by the command of a pod: a second more, in which it is imported."""
        argv = [sys.executable, "-m", "recovery", "--config", str(config), "--json", *words]
        done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
        lines = done.stdout.splitlines()
        return done.returncode, json.loads(lines[-1]) if lines else {}, done.stderr


@contextmanager
def site(home: Path) -> Iterator[Site]:
    """All of it, with little in it."""
    directories = {
        name: home / name for name in ("target", "objects", "programs", "engine", "redis", "keys", "postgres", "work")
    }
    for directory in directories.values():
        directory.mkdir()
    with contextlib.ExitStack() as stack:
        target = stack.enter_context(locked(directories["target"]))
        live = stack.enter_context(buckets.buckets(directories["objects"]))
        postgres = stack.enter_context(databases.server(directories["programs"]))
        engine = stack.enter_context(process.engine(directories["engine"]))
        address = stack.enter_context(server_driver.redis_server(directories["redis"]))
        private = home / "recovery-key"
        secret, _ = seal.generate()
        private.touch(mode=0o600)
        private.write_text(secret, encoding="utf-8")
        case = clickhouse_servers.case(engine, directories["keys"])
        found = Site(
            home=home,
            target=target,
            bucket=LOCKED,
            postgres=postgres,
            database=postgres.database(databases.AWKWARD),
            clickhouse=case,
            redis=redises.Redises(address, directories["keys"]),
            objects=live,
            private=private,
        )
        fill(found)
        yield found


def fill(found: Site) -> None:
    """Something in every store."""
    found.clickhouse.run(
        "CREATE TABLE @.scalar (uid String, step Int64, value Float64) ENGINE = MergeTree ORDER BY (uid, step)"
    )
    found.clickhouse.run("INSERT INTO @.scalar SELECT 'run', number, number / 7 FROM numbers(1000)")
    redises.fill(found.redis.client())
    for number in range(5):
        found.objects.put(f"runs/{number} ü+%.png", bytes([number]) * (number * 1000))
