"""Ten thousand collected tests are a large heap, and it never becomes garbage."""

from __future__ import annotations

import gc
import signal
from typing import TYPE_CHECKING

import pytest

from tests.offline import yamlonce

if TYPE_CHECKING:
    from collections.abc import Iterator

yamlonce.install()


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """A test that runs a program's `main` leaves no handler of its signals to the tests behind it."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        if signal.getsignal(number) is not handler:
            signal.signal(number, handler)


def pytest_collection_finish() -> None:
    """Leave the heap out of collections: every smoke run inside a test ends with five full ones."""
    gc.collect()
    gc.freeze()
