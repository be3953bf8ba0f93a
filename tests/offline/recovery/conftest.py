"""Real servers for the tests that leave them alive and make databases of their own: started once per process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.offline.recovery import crosscheck_site
from tests.offline.sandbox.clickhouse_engine.process import Server, engine
from tests.offline.sandbox.swanlab_server import server_driver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.offline.recovery.crosscheck_site import Stores


@pytest.fixture(scope="session")
def shared_postgres() -> Iterator[str]:
    """A PostgreSQL; its address without a database."""
    with server_driver.postgres() as address:
        yield address


@pytest.fixture(scope="session")
def shared_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A ClickHouse engine."""
    with engine(tmp_path_factory.mktemp("engine")) as found:
        yield found


@pytest.fixture(scope="session")
def shared_stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    """What one SwanLab needs; each that is laid over them empties them first."""
    with crosscheck_site.stores(tmp_path_factory.mktemp("crosscheck")) as found:
        yield found
