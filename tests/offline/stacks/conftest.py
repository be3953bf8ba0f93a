"""Fixtures of the tests of stacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.offline.stacks.api_server import Server, serve

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def server() -> Iterator[Server]:
    """An API server."""
    yield from serve()
