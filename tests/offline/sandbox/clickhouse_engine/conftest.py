"""One engine for the tests that leave it alive."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.offline.sandbox.clickhouse_engine.process import Server, engine

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A running engine."""
    with engine(tmp_path_factory.mktemp("engine")) as found:
        yield found
