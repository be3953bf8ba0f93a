"""What is sent, to SwanLab as SDKs send it and to ClickHouse as the buffer does, and what must come back."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from sandbox.swanlab_server.vector.events import Clock, route
from tests.bench.experiments.sdk_logger import key_name, value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tests.bench.experiments.plan import Plan

_BEGIN: Final = 1_767_225_600_000
"""The time of step 0: 2026-01-01, in milliseconds since 1970. Each step is a millisecond later."""
Series = dict[int, float]


def body(plan: Plan, batch: int, project: str, experiment: str) -> bytes:
    """One request to /api/house/metrics."""
    metrics = [
        {"key": key_name(key), "index": step, "data": value(key, step), "create_time": _time(step)}
        for step in plan.span(batch)
        for key in range(plan.keys)
    ]
    return json.dumps({"type": "scalar", "projectId": project, "experimentId": experiment, "metrics": metrics}).encode()


def rows(plan: Plan, batch: int, project: str, experiment: str) -> bytes:
    """The same records as the body of an INSERT: what the buffer makes of them, compressed as it does."""
    events: list[dict[str, Any]] = [
        {
            **{"type": "scalar", "project": project, "uid": experiment, "epoch": 0, "time": _BEGIN + step},
            **{"key": key_name(key), "step": step, "value": value(key, step)},
        }
        for step in plan.span(batch)
        for key in range(plan.keys)
    ]
    return gzip.compress(b"\n".join(route(events, Clock()).rows["scalar"]), compresslevel=1)


def sent(plan: Plan, batches: Iterable[int]) -> dict[str, Series]:
    """Key → step → value of all records of these requests."""
    steps = [step for batch in batches for step in plan.span(batch)]
    return {key_name(key): {step: value(key, step) for step in steps} for key in range(plan.keys)}


def logged(keys: int, steps: int) -> dict[str, Series]:
    """Key → step → value of what the SDK logged."""
    return {key_name(key): {step: value(key, step) for step in range(steps)} for key in range(keys)}


def compared(expected: Series, read: Mapping[int, str]) -> int:
    """How many points of a series came back with their value. read: step → text. Raises ValueError for no number."""
    return sum(1 for step, number in expected.items() if step in read and float(read[step]) == number)


def _time(step: int) -> str:
    return datetime.fromtimestamp((_BEGIN + step) / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
