"""Every program of the bench, outside of any cluster: what is live, what a verification restores into, the target."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import psycopg
import pytest

from tests.bench.errors import BenchError
from tests.bench.recovery import cost
from tests.offline.recovery import buckets, databases
from tests.offline.recovery.examples import document
from tests.offline.recovery.locked import LOCKED, Locked, locked
from tests.offline.sandbox.clickhouse_engine import process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from tests.bench.recovery.cost import Ended, Servers

ROOT: Final = Path(__file__).parents[3]
ENGINE, DATABASES, BUCKETS, TARGET = "engine", "databases", "buckets", "target"


@dataclass
class Site:
    """home: for all files. servers: their processes. backups: where the engine may write its own. disk: see used."""

    home: Path
    target: Locked
    databases: databases.Server
    engine: process.Server
    buckets: buckets.Buckets
    servers: Servers
    disk: int = 0
    _runs: int = field(default=0)

    @property
    def backups(self) -> Path:
        """Where the engine may write backups of its own."""
        return self.home / "backups"

    @property
    def keys(self) -> Path:
        """For files that hold an account's name or password."""
        return self.home / "keys"

    def config(self, **other: Any) -> Path:  # noqa: ANN401  # whatever JSON holds
        """A configuration of the program. other: its keys that are not those of the tests."""
        target = json.loads(self.target.target(LOCKED).model_dump_json())
        return self.file("config", document(target=target, work=str(self.home / "work"), **other))

    def file(self, name: str, text: object) -> Path:
        """A new file of mode 600 with JSON in it."""
        self._runs += 1
        path = self.home / f"{name}-{self._runs}.json"
        path.touch(mode=0o600)
        path.write_text(json.dumps(text), encoding="utf-8")
        return path

    def program(self, asked: str, config: Path, *words: str) -> Ended:
        """Run the bench's subject as a pod runs it."""
        return self.measured(asked, [sys.executable, "-m", "recovery", "--config", str(config), "--json", *words])

    def raw(self, asked: str, **order: Any) -> Ended:  # noqa: ANN401  # whatever JSON holds
        """Run what needs no tool but HTTP."""
        return self.measured(asked, [sys.executable, "-m", "tests.bench.recovery.raw", str(self.file("order", order))])

    def measured(self, asked: str, argv: list[str], **variables: str) -> Ended:
        """Run a program, and look how much of the disk is taken afterwards."""
        log = self.home / f"program-{self._runs}.log"
        ended = cost.measured(argv, self.servers, asked, log, {"PYTHONPATH": str(ROOT), **variables})
        self.used()
        return ended

    def used(self) -> None:
        """Keep the largest number of bytes that all files have taken. PostgreSQL's are not below `home`."""
        total = 0
        for path in self.home.rglob("*"):
            try:
                found = path.lstat()
            except OSError:  # a server deleted it meanwhile
                continue
            total += found.st_blocks * 512
        self.disk = max(self.disk, total)


@contextmanager
def engine(home: Path, backups: Path) -> Iterator[process.Server]:
    """The engine of the tests, which reads the file config.xml of its directory: it may write backups."""
    (home / "config.xml").write_text(
        f"<clickhouse><backups><allowed_path>{backups}</allowed_path></backups></clickhouse>", encoding="utf-8"
    )
    port, metrics = process.free_port(), process.free_port()
    own = {"PYTHONPATH": str(ROOT), **process.environment(home / "data", port, metrics)}
    with (home / "log").open("wb") as log:
        running = subprocess.Popen(
            [sys.executable, "-m", "sandbox.clickhouse_engine"],
            cwd=home,
            env={**os.environ, **own},
            stdin=subprocess.DEVNULL,
            stderr=log,
        )
    try:
        process.wait_for_port(running, port)
        yield process.Server(port, metrics, running)
    finally:
        running.kill()
        running.wait()


@contextmanager
def site(home: Path, say: Callable[[str], None]) -> Iterator[Site]:
    """All of it, empty. say: told which program is started."""
    names = ("target", "buckets", "programs", "engine", "keys", "work", "backups")
    for name in names:
        (home / name).mkdir()
    servers = cost.Servers()
    starts: Mapping[str, Callable[[], AbstractContextManager[Any]]] = {
        TARGET: partial(locked, home / "target"),
        BUCKETS: partial(buckets.buckets, home / "buckets"),
        DATABASES: partial(databases.server, home / "programs"),
        ENGINE: partial(engine, home / "engine", home / "backups"),
    }
    with ExitStack() as stack:
        running: dict[str, Any] = {}
        for name, start in starts.items():
            begun = time.monotonic()
            with servers.added(name), _said(name):
                running[name] = stack.enter_context(start())
            say(f"    {name}: started in {time.monotonic() - begun:.1f} s")
        yield Site(
            home=home,
            target=running[TARGET],
            databases=running[DATABASES],
            engine=running[ENGINE],
            buckets=running[BUCKETS],
            servers=servers,
        )


@contextmanager
def _said(name: str) -> Iterator[None]:
    """The tests' servers tell as a failed assertion, or as their client's error, that they do not start."""
    try:
        yield
    except (AssertionError, OSError, subprocess.SubprocessError, psycopg.Error, pytest.fail.Exception) as error:
        raise BenchError(f"{name} cannot be started: {type(error).__name__}: {error}") from error
