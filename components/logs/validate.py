"""Judges what VictoriaLogs is told before anything exists."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from components.errors import DeployError
from components.otel_collector.sizes import above_limit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from components.logs.args import LogsArgs

MAX_VOLUME_PERCENT: Final = 80
"""Data grows past its limit until whole days are dropped, and merging needs room beside what it merges."""
_RETENTION: Final = re.compile(r"(?P<number>[1-9]\d{0,4})(?P<unit>[hdwy])")
_HOURS: Final = {"h": 1, "d": 24, "w": 7 * 24, "y": 365 * 24}
_DAY: Final = 24


def validate(args: LogsArgs) -> None:
    """Raise DeployError with everything that is wrong, if anything is."""
    found = complaints(args)
    if found:
        raise DeployError("the settings of VictoriaLogs:\n" + "\n".join(f"- {line}" for line in found))


def complaints(args: LogsArgs) -> list[str]:
    """What is wrong, each as `argument: what; what is accepted`."""
    return [*_age(args), *_size(args), *above_limit(args.memory_bytes, args.resources)]


def _age(args: LogsArgs) -> Iterator[str]:
    """Partitions are days: less than one is refused by the program, and a part of one keeps the whole of it."""
    found = _RETENTION.fullmatch(args.retention)
    hours = int(found["number"]) * _HOURS[found["unit"]] if found else 0
    if hours < _DAY or hours % _DAY:
        yield f"retention: `{args.retention}`; accepted are whole days, at least one, as `7d`"


def _size(args: LogsArgs) -> Iterator[str]:
    most = args.volume_bytes * MAX_VOLUME_PERCENT // 100
    if args.retention_bytes <= 0:
        yield f"retention_bytes: {args.retention_bytes}; accepted is more than 0, so that a volume does not fill up"
    elif args.retention_bytes > most:
        yield (
            f"retention_bytes: {args.retention_bytes} of a volume of {args.volume_bytes}; accepted are at most {most}, "
            f"{MAX_VOLUME_PERCENT} per cent of it: raise the volume or lower the retention by size"
        )
