"""Stores elsewhere are asked whether they answer as what they should be; what cannot be asked is told."""

from __future__ import annotations

import socket
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from components.swanlab.args import (
    Bucket,
    ExternalClickHouse,
    ExternalPostgres,
    ExternalRedis,
    ExternalS3,
    SwanlabArgs,
)
from stacks import swanlab_endpoints
from stacks.swanlab_endpoints import Answers, ask, in_cluster
from tests.offline.components.swanlab.examples import LOGIN, local, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HTTP_OK = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nOk.\n"
NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
DENIED = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"
BROKEN = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"


@pytest.fixture
def listen() -> Iterator[Callable[[bytes], int]]:
    """Starts a server that gives one answer to whatever it is sent, and returns its port."""
    servers: list[tuple[socket.socket, threading.Thread]] = []

    def started(answer: bytes) -> int:
        server = socket.create_server(("127.0.0.1", 0))
        thread = threading.Thread(target=serve, args=(server, answer))
        thread.start()
        servers.append((server, thread))
        return int(server.getsockname()[1])

    def serve(server: socket.socket, answer: bytes) -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                connection.recv(4096)
                connection.sendall(answer)

    yield started
    for server, thread in servers:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join()


def postgres(port: int, host: str = "127.0.0.1") -> SwanlabArgs:
    return replace(whole(), postgres=ExternalPostgres(host=host, port=port, database="app", secret=LOGIN["postgres"]))


def redis(port: int) -> SwanlabArgs:
    return replace(whole(), redis=ExternalRedis(host="127.0.0.1", port=port, database=0, secret=LOGIN["redis"]))


def clickhouse(port: int) -> SwanlabArgs:
    login = LOGIN["clickhouse"]
    store = ExternalClickHouse(host="127.0.0.1", http_port=port, tcp_port=9000, database="app", secret=login)
    return replace(whole(), clickhouse=store)


def s3(port: int) -> SwanlabArgs:
    bucket = Bucket(endpoint="127.0.0.1", port=port, bucket="b", ssl=False, region="r", path_style=True)
    return replace(whole(), s3=ExternalS3(public=bucket, private=bucket, credentials=LOGIN["s3"]))


def closed() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.mark.parametrize(
    ("made", "answer"),
    [
        (postgres, b"S"),
        (postgres, b"N"),
        (redis, b"+PONG\r\n"),
        (redis, b"-NOAUTH Authentication required.\r\n"),
        (clickhouse, HTTP_OK),
        (s3, DENIED),
        (s3, HTTP_OK),
    ],
)
def test_store_that_answers_is_accepted(
    listen: Callable[[bytes], int], made: Callable[[int], SwanlabArgs], answer: bytes
) -> None:
    assert ask(made(listen(answer))) == Answers(faults=(), unasked=())


@pytest.mark.parametrize(
    ("made", "answer", "message"),
    [
        (postgres, b"-ERR unknown command\r\n", "does not answer as a PostgreSQL does"),
        (postgres, b"", "does not answer as a PostgreSQL does"),
        (redis, HTTP_OK, "does not answer as a Redis does"),
        (clickhouse, NOT_FOUND, "answers /ping with HTTP status 404, not `Ok.`"),
        (s3, NOT_FOUND, "has no bucket b"),
        (s3, BROKEN, "answers with HTTP status 503"),
    ],
)
def test_something_else_at_the_address_is_a_fault(
    listen: Callable[[bytes], int], made: Callable[[int], SwanlabArgs], answer: bytes, message: str
) -> None:
    found = ask(made(listen(answer)))
    assert found.unasked == ()
    assert message in found.faults[0]
    assert "fix:" in found.faults[0]


@pytest.mark.parametrize("made", [postgres, redis, clickhouse, s3])
def test_nobody_at_the_address_is_a_fault(made: Callable[[int], SwanlabArgs]) -> None:
    found = ask(made(closed()))
    assert "cannot be reached from here" in found.faults[0]


def test_redis_that_does_not_speak_in_clear_is_told_and_not_refused(listen: Callable[[bytes], int]) -> None:
    found = ask(redis(listen(b"")))
    assert found.faults == ()
    assert "is it a Redis with TLS?" in found.unasked[0]


@pytest.mark.parametrize("host", ["pg.stores.svc", "pg.stores.svc.cluster.local", "pg"])
def test_name_that_only_pods_can_resolve_is_not_asked_and_that_is_told(host: str) -> None:
    found = ask(postgres(5432, host))
    assert found.faults == ()
    assert found.unasked == (
        f"PostgreSQL {host}:5432 (plumbline:swanlab.stores.postgres) was not asked whether it answers: only pods can "
        "resolve its name",
    )


def test_addresses_are_no_names_of_pods() -> None:
    assert [in_cluster(host) for host in ("10.1.2.3", "localhost", "pg.example.org")] == [False] * 3


def test_stores_of_the_stack_itself_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("asked")

    monkeypatch.setattr(swanlab_endpoints, "_http", never)
    monkeypatch.setattr(swanlab_endpoints, "_exchange", never)
    assert ask(local()) == ask(whole()) == Answers(faults=(), unasked=())
