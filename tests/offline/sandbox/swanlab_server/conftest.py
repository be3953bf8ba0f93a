"""Real stores for the tests of the stand-in's server, started once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from sandbox.swanlab_server.settings import Postgres
from tests.offline.sandbox.swanlab_server import server_driver
from tests.offline.sandbox.swanlab_server.server_site import NEW, OLD, Site, opened

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """A PostgreSQL for all tests; its address without a database."""
    with server_driver.postgres() as address:
        with psycopg.connect(f"{address}/postgres", autocommit=True) as connection:
            connection.execute("CREATE DATABASE app")
        yield address


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Redis for all tests."""
    with server_driver.redis_server(tmp_path_factory.mktemp("redis")) as address:
        yield address


@pytest.fixture
def postgres(server: str) -> Postgres:
    """The database `app`, emptied: making a database anew takes seconds."""
    with psycopg.connect(f"{server}/app", autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    return Postgres(primary=f"{server}/app", replica=f"{server}/app")


@pytest.fixture(params=[OLD, NEW], ids=["3.1.1", "3.2.0"])
def site(postgres: Postgres, redis_url: str, request: pytest.FixtureRequest) -> Iterator[Site]:
    """A server of either version."""
    found = opened(postgres, redis_url, request.param)
    yield found
    found.database.close()
