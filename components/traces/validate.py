"""Judges what Jaeger is told before anything exists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from components.errors import DeployError
from components.otel_collector.sizes import above_limit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from components.traces.args import TracesArgs

MIN_RETENTION_SECONDS: Final = 86_400
MIN_VOLUME_BYTES: Final = 2 * 2**30
"""Expired spans leave the disk only when a file of values, up to 1 GiB, is written anew beside the old one."""
MIN_MEMORY_BYTES: Final = 512 * 2**20
"""Tables in memory of 64 MiB, of which one is written out while the next one fills, must fit below the limiter."""


def validate(args: TracesArgs) -> None:
    """Raise DeployError with everything that is wrong, if anything is."""
    found = complaints(args)
    if found:
        raise DeployError("the settings of Jaeger:\n" + "\n".join(f"- {line}" for line in found))


def complaints(args: TracesArgs) -> list[str]:
    """What is wrong, each as `argument: what; what is accepted`."""
    return [*_least(args), *above_limit(args.memory_bytes, args.resources)]


def _least(args: TracesArgs) -> Iterator[str]:
    if args.retention_seconds < MIN_RETENTION_SECONDS:
        yield f"retention_seconds: {args.retention_seconds}; accepted are {MIN_RETENTION_SECONDS}, one day, or more"
    if args.volume_bytes < MIN_VOLUME_BYTES:
        yield f"volume_bytes: {args.volume_bytes}; accepted are {MIN_VOLUME_BYTES}, 2Gi, or more"
    if args.memory_bytes < MIN_MEMORY_BYTES:
        yield f"memory_bytes: {args.memory_bytes}; accepted are {MIN_MEMORY_BYTES}, 512Mi, or more"
