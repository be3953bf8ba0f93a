"""Asks an ASGI application without a network, and starts the real stores that it needs."""

from __future__ import annotations

import asyncio
import json
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import psycopg
import redis

from sandbox.home import find_home
from sandbox.images import debian, trees
from sandbox.progress import Progress
from tests.offline.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from starlette.applications import Starlette
    from starlette.types import Message

NOBODY = "nobody"


@dataclass(frozen=True)
class Answered:
    """What came back. headers: names in lower case."""

    status: int
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> Any:  # noqa: ANN401  # whatever JSON holds
        """The body as JSON."""
        return json.loads(self.raw)


@dataclass
class Client:
    """Sends requests as an SDK would. cookie: session, headers: sent with each."""

    app: Starlette
    headers: dict[str, str] = field(default_factory=dict)
    sid: str = ""

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Answered:
        """One request; body is sent as JSON, bytes as they are."""
        raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        sent = {"host": "swanlab.test", **self.headers, **{name.replace("_", "-"): v for name, v in headers.items()}}
        if self.sid:
            sent["cookie"] = f"sid={self.sid}"
        return asyncio.run(_exchange(self.app, method, path, raw, sent))


async def _exchange(app: Starlette, method: str, path: str, raw: bytes, headers: Mapping[str, str]) -> Answered:
    place, _, query = path.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(place),
        "raw_path": place.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "server": ("swanlab.test", 80),
        "client": ("192.0.2.1", 1),
    }
    messages: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": raw, "more_body": False}

    async def send(message: Message) -> None:
        messages.append(message)

    await app(scope, receive, send)
    start = messages[0]
    found = {name.decode().lower(): value.decode() for name, value in start["headers"]}
    return Answered(start["status"], found, b"".join(message.get("body", b"") for message in messages[1:]))


@dataclass(frozen=True)
class Cluster:
    """A PostgreSQL that has been made, in a directory: started any number of times over the same data."""

    top: Path
    tree: Path

    @property
    def log(self) -> Path:
        """What it says."""
        return self.top / "log"

    @contextmanager
    def running(self, *options: str) -> Iterator[str]:
        """The server; its address without a database. options: `name=value` each."""
        port = free_port()
        own = ("listen_addresses=127.0.0.1", "fsync=off", "unix_socket_directories=", *options)
        argv = [str(_programs(self.tree) / "postgres"), "-D", str(self.top / "data"), "-p", str(port)]
        argv += [word for option in own for word in ("-c", option)]
        with _running(argv, self.log, **_as_nobody(self.tree)):
            address = f"postgresql://swanlab:pw@127.0.0.1:{port}"
            _wait(lambda: psycopg.connect(f"{address}/postgres", connect_timeout=2).close(), psycopg.Error)
            yield address


@contextmanager
def cluster(above: Path | None = None, *, log_elsewhere: bool = False) -> Iterator[Cluster]:
    """A PostgreSQL of the images' own files, made and not running.

    above: where its directory is made, one that every account may enter; None for the machine's own place.
    log_elsewhere: its log of changes is not there, but in the machine's own place.
    """
    tree = debian.ensure(find_home(), Progress()).tree(debian.POSTGRES)
    share = next(iter(tree.glob("usr/share/postgresql/*")))
    # Not below pytest's own directory: that is closed to the account which PostgreSQL needs.
    top = Path(tempfile.mkdtemp(prefix="plumbline-postgres-", dir=above))
    log = Path(tempfile.mkdtemp(prefix="plumbline-postgres-"))
    try:
        data = top / "data"
        data.mkdir(mode=0o700)
        (top / "password").write_text("pw\n")
        for path in (top, data, top / "password", log):
            _give_away(path)
        start = (f"--pwfile={top / 'password'}", "-U", "swanlab", "-A", "scram-sha-256", "-E", "UTF8")
        place = [f"--waldir={log}"] if log_elsewhere else []
        argv = [str(_programs(tree) / "initdb"), "-D", str(data), *start, *place, "--locale=C.UTF-8", "-L", str(share)]
        subprocess.run([*argv, "--no-sync"], check=True, capture_output=True, timeout=120, **_as_nobody(tree))
        yield Cluster(top, tree)
    finally:
        shutil.rmtree(top)
        shutil.rmtree(log)


@contextmanager
def postgres() -> Iterator[str]:
    """A PostgreSQL of the images' own files with an empty database `app`; its address without a database."""
    with cluster() as found, found.running() as address:
        yield address


def _programs(tree: Path) -> Path:
    return next(iter(tree.glob("usr/lib/postgresql/*/bin")))


@contextmanager
def redis_server(directory: Path) -> Iterator[str]:
    """A Redis of the images' own files that keeps nothing; its address."""
    tree = debian.ensure(find_home(), Progress()).tree(debian.REDIS)
    port = free_port()
    argv = [str(tree / "usr/bin/redis-server"), "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    with _running(argv, directory / "redis.log", env={"LD_LIBRARY_PATH": str(trees.libraries(tree))}):
        address = f"redis://127.0.0.1:{port}"
        _wait(lambda: redis.Redis.from_url(address).ping(), redis.RedisError)
        yield address


def _as_nobody(tree: Path) -> dict[str, Any]:
    found: dict[str, Any] = {"env": {"LD_LIBRARY_PATH": str(trees.libraries(tree))}, "cwd": "/"}
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        account = pwd.getpwnam(NOBODY)
        found |= {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    return found


def _give_away(path: Path) -> None:
    if os.geteuid() == 0:
        account = pwd.getpwnam(NOBODY)
        os.chown(path, account.pw_uid, account.pw_gid)


@contextmanager
def _running(argv: list[str], log: Path, **how: Any) -> Iterator[None]:  # noqa: ANN401  # options of Popen
    with log.open("wb") as output, subprocess.Popen(argv, stdout=output, stderr=output, **how) as process:
        try:
            yield
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(60)
            process.kill()


def _wait(ask: Any, error: type[Exception]) -> None:  # noqa: ANN401  # a call whose result nobody needs
    end = time.monotonic() + 60
    while True:
        try:
            ask()
        except error:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
        else:
            return
