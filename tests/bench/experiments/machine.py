"""How busy the machine is while something is measured."""

from __future__ import annotations

import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.bench.experiments.figures import Phase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_IDLE: Final = (3, 4)
_COUNTED: Final = 8
"""Fields of `cpu` in /proc/stat: idle and iowait; and the first eight, because guests are counted in user already."""


def ticks(stat: str) -> tuple[int, int]:
    """Busy and all ticks since boot, of all cores. stat: text of /proc/stat, see proc_stat(5)."""
    fields = [int(field) for field in stat.splitlines()[0].split()[1 : 1 + _COUNTED]]
    return sum(fields) - sum(fields[at] for at in _IDLE), sum(fields)


class Phases:
    """Parts of the bench, in order."""

    def __init__(self, say: Callable[[str], None]) -> None:
        """say: told the name of each part when it begins."""
        self.done: list[Phase] = []
        self._say = say

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Note a part that comes to its end."""
        self._say(name)
        begun, (busy, everything) = time.monotonic(), ticks(_stat())
        yield
        busy_now, everything_now = ticks(_stat())
        share = (busy_now - busy) / max(1, everything_now - everything)
        self.done.append(Phase(name=name, seconds=time.monotonic() - begun, busy=share))


def _stat() -> str:
    return Path("/proc/stat").read_text(encoding="ascii")
