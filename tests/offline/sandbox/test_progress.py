"""Long work says what it does, how long it took, and that it still runs."""

from __future__ import annotations

import io
import re
import threading

import pytest

from sandbox.progress import Progress
from tests.offline.sandbox.fakes import PATIENCE, silent


class Watched(io.StringIO):
    """A stream that tells when a sign of life was written."""

    def __init__(self) -> None:
        """Nothing seen yet."""
        super().__init__()
        self.seen = threading.Event()

    def write(self, text: str) -> int:
        """Note a sign of life."""
        if text.startswith("  … "):
            self.seen.set()
        return super().write(text)


def test_step_is_announced_and_its_time_is_told() -> None:
    progress, stream = silent()
    with progress.step("control plane"):
        pass
    assert re.fullmatch(r"  ▸ control plane\n  ✓ control plane: done in \d+\.\d s\n", stream.getvalue())


def test_failed_step_is_said_to_have_failed() -> None:
    progress, stream = silent()
    with pytest.raises(ValueError, match="broken"), progress.step("node"):
        raise ValueError("broken")
    assert re.search(r"  ✗ node: failed in \d+\.\d s\n$", stream.getvalue())


def test_long_step_gives_signs_of_life() -> None:
    stream = Watched()
    with Progress(stream=stream, heartbeat=0.01).step("program 1 of 9: etcd 3.6.16"):
        assert stream.seen.wait(PATIENCE)
    assert re.search(r"  … program 1 of 9: etcd 3\.6\.16: \d+ s so far\n", stream.getvalue())


def test_time_of_each_step_is_kept() -> None:
    progress, _ = silent()
    with progress.step("a"):
        pass
    with progress.step("b"):
        pass
    assert list(progress.seconds) == ["a", "b"]
