"""Ten thousand collected tests are a large heap, and it never becomes garbage."""

from __future__ import annotations

import gc

from tests.offline import yamlonce

yamlonce.install()


def pytest_collection_finish() -> None:
    """Leave the heap out of collections: every smoke run inside a test ends with five full ones."""
    gc.collect()
    gc.freeze()
