"""How much the bench of recovery measures with, and what that needs."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tests.bench.errors import BenchError
from tests.bench.recovery import content

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

POINTS, OBJECTS = "BENCH_POINTS", "BENCH_OBJECTS"
_POINTS_OF_A_RUN: Final = 2000
"""Points for each run that the metadata knows: most runs that a team has ever made are small."""
_BYTES_OF_A_POINT: Final = 200
"""In the table, its copies, the backup, the point and a file, at once. Measured: 140, and room."""
_BYTES_OF_A_RUN: Final = 100_000
_COPIES: Final = 5
"""Of each object: source, point, restored copy, the raw tool's copy, and room."""
_BESIDE: Final = 512 * 1024**2
"""What empty servers take."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """points: rows of table `scalar`. objects: of the bucket. keys, steps: of each run that has points.

    threads: of the raw tools that read and write objects; as many as the program uses.
    """

    points: int = 10_000_000
    objects: int = 5_000
    keys: int = 40
    steps: int = 500
    threads: int = 8

    @property
    def runs(self) -> int:
        """Runs in the metadata, with `keys` columns each."""
        return max(10, self.points // _POINTS_OF_A_RUN)

    @property
    def object_bytes(self) -> int:
        """Of all objects."""
        return sum(content.size(number) for number in range(self.objects))

    @property
    def room(self) -> int:
        """Bytes that must be free on the disk."""
        return self.points * _BYTES_OF_A_POINT + self.runs * _BYTES_OF_A_RUN + self.object_bytes * _COPIES + _BESIDE


def plan(environment: Mapping[str, str]) -> Plan:
    """What BENCH_POINTS and BENCH_OBJECTS ask for. Raises BenchError."""
    return Plan(points=_number(environment, POINTS, Plan.points), objects=_number(environment, OBJECTS, Plan.objects))


def check_room(found: Plan, directory: Path) -> None:
    """Raises BenchError unless the bench fits. directory: where its files will be."""
    free = shutil.disk_usage(directory).free
    if free < found.room:
        raise BenchError(
            f"{directory} has {free / 1e9:.1f} GB free, the bench needs {found.room / 1e9:.1f} GB; free some, or set "
            f"TMPDIR to a directory on a larger disk, or ask for less with {POINTS} and {OBJECTS}"
        )


def _number(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name) or str(default)
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise BenchError(f"{name} is {text!r}; accepted is a number from 1 on")
    return int(text)
