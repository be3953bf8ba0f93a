"""The whole stand-in for SwanLab on this machine: its servers, its delivery buffer, and the real stores behind them."""

from __future__ import annotations

import contextlib
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import psycopg
import requests
import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount

from components.object_store.args import Bucket
from sandbox.swanlab_server import server, settings, tables
from sandbox.swanlab_server.house import program as house
from tests.offline.components.object_store.program import Store, secret_key
from tests.offline.components.object_store.test_manifests import ARGS
from tests.offline.programs import free_port
from tests.offline.sandbox.clickhouse_engine import process
from tests.offline.sandbox.swanlab_server import server_driver

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from minio import Minio
    from starlette.types import Receive, Scope, Send

PRIVATE = "swanlab-private"
OWNER = "swanlab"
_PASSWORD = "correct-horse"  # noqa: S105  # of an account that lives for seconds
_PATIENCE = 60.0


@dataclass(frozen=True)
class StandIn:
    """One installation, activated. url: of its gateway. key: of the root account."""

    url: str
    key: str
    engine: process.Server
    database: str
    objects: Minio
    metrics_port: int

    def drained(self) -> None:
        """Return once nothing waits in the delivery buffer."""
        until = time.monotonic() + _PATIENCE
        while self._waiting():
            assert time.monotonic() < until, "the buffer does not drain"
            time.sleep(0.05)

    def _waiting(self) -> float:
        page = requests.get(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=60).text
        held = [line for line in page.splitlines() if line.startswith("vector_buffer_events{")]
        assert held, "the buffer tells nothing of what it holds"
        return sum(float(line.rsplit(" ", 1)[1]) for line in held)


@contextmanager
def stand_in(directory: Path) -> Iterator[StandIn]:
    """Start everything on empty stores."""
    for name in ("engine", "buffer", "store"):
        (directory / name).mkdir()
    args = replace(ARGS, buckets=(Bucket(name=PRIVATE, owner=OWNER),))
    store = Store(directory / "store")
    with ExitStack() as open_:
        database = f"{open_.enter_context(server_driver.postgres())}/app"
        with psycopg.connect(database.replace("/app", "/postgres"), autocommit=True) as connection:
            connection.execute("CREATE DATABASE app")
        redis = open_.enter_context(server_driver.redis_server(directory))
        engine = open_.enter_context(process.engine(directory / "engine"))
        open_.enter_context(store.running(args))
        port, metrics = process.free_port(), process.free_port()
        environment = _environment(directory, engine, port, metrics)
        tables.make(settings.vector(environment).clickhouse)
        open_.enter_context(_buffer(environment, port))
        environment |= {"PRIMARY_URL": database, "REDIS_URL": redis, "VECTOR_URL": f"http://127.0.0.1:{port}"}
        environment |= {"S3_ENDPOINT": store.url, "S3_PUBLIC_URL": store.url}
        environment |= {"S3_ACCESS_KEY": OWNER, "S3_SECRET_KEY": secret_key(OWNER, args.generation)}
        url = open_.enter_context(_served(_gateway(settings.api(environment))))
        yield StandIn(url, _activated(url), engine, database, store.client(OWNER), metrics)


def _environment(directory: Path, engine: process.Server, port: int, metrics: int) -> dict[str, str]:
    return {
        "PORT": str(port),
        "METRICS_PORT": str(metrics),
        "DATA_DIR": str(directory / "buffer"),
        "FLUSH_SECONDS": "0.1",
        "CLICKHOUSE_URL": engine.url,
        "CLICKHOUSE_DATABASE": process.DATABASE,
        "CLICKHOUSE_USER": process.USER,
        "CLICKHOUSE_PASSWORD": process.PASSWORD,
    }


@contextmanager
def _buffer(environment: dict[str, str], port: int) -> Iterator[None]:
    buffer = process.start(["sandbox.swanlab_server", "vector"], environment)
    try:
        process.wait_for_port(buffer, port)
        yield
    finally:
        buffer.kill()
        buffer.wait()


def _gateway(parsed: settings.ApiSettings) -> Starlette:
    """Routes as the chart's gateway does: house has its own paths, the rest is the server's."""
    servers = {"house": house.app(parsed), "server": server.app(parsed)}

    async def route(scope: Scope, receive: Receive, send: Send) -> None:
        name = "house" if scope["path"].startswith("/api/house") else "server"
        await servers[name](scope, receive, send)

    @contextlib.asynccontextmanager
    async def both(_: Starlette) -> AsyncIterator[None]:
        async with contextlib.AsyncExitStack() as open_:
            for app in servers.values():
                await open_.enter_async_context(app.router.lifespan_context(app))
            yield

    return Starlette(routes=[Mount("/", app=route)], lifespan=both)


@contextmanager
def _served(app: Starlette) -> Iterator[str]:
    port = free_port()
    running = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning"))
    thread = threading.Thread(target=running.run)
    thread.start()
    try:
        until = time.monotonic() + _PATIENCE
        while not running.started:
            assert thread.is_alive(), "the servers did not start"
            assert time.monotonic() < until, "the servers do not start"
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
    finally:
        running.should_exit = True
        thread.join(_PATIENCE)


def _activated(url: str) -> str:
    """Activate; gives a new API key of the root account."""
    session = requests.Session()
    session.trust_env = False
    account: dict[str, Any] = {"username": "root", "password": _PASSWORD}
    licence = '{"seats": 5, "expiredAt": "2999-01-01T00:00:00.000Z"}'
    answer = session.post(f"{url}/api/self_hosted/activate", json={**account, "licence": licence}, timeout=30)
    assert answer.ok, answer.text
    sid = session.post(f"{url}/api/login", json=account, timeout=30).json()["sid"]
    made = session.post(f"{url}/api/user/api_key", headers={"Cookie": f"sid={sid}"}, timeout=30)
    key: str = made.json()["key"]
    return key
