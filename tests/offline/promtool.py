"""promtool for tests: there, or a failure that says how to get it. A skip would read as success."""

from __future__ import annotations

import shutil

import pytest


def require_promtool() -> str:
    """Path of promtool; fails the test if there is none."""
    found = shutil.which("promtool")
    if found is None:
        pytest.fail("promtool is not on PATH; run `make check`, which builds promtool")
    return found
