"""Fixtures of the drill's commands."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from smoke.drill import timed
from tests.offline.smoke.drill.drill_site import Drill, Late
from tests.offline.smoke.drill.written import WrittenSwanLab
from tests.offline.smoke.fake_swanlab import served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.offline.smoke.lab import Lab


@pytest.fixture
def drill(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Iterator[Drill]:
    """Everything healthy; the signals of this process are given back."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    monkeypatch.setattr(timed.Timed.__init__, "__defaults__", (0.01,))
    monkeypatch.setattr(timed.Timed.finish, "__defaults__", (0.0,))
    source, restored = WrittenSwanLab(), Late()
    restored.state = WrittenSwanLab()
    with served(source) as first, served(restored) as second:
        source.base = first
        made = Drill(lab, source, restored, (first, second))
        yield made
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def written(drill: Drill) -> Drill:
    """A drill whose source was written to."""
    assert drill.write() == 0
    drill.restored.base = drill.addresses[1]
    return drill
