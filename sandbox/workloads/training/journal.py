"""Log lines of a run: one JSON object a line on standard output."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TextIO

    from sandbox.workloads.training.steps import Step


class Journal:
    """Writes lines. identity: on every line, since who reads the output of containers has no resource beside it."""

    def __init__(self, identity: Mapping[str, str], now: Callable[[], float], out: TextIO | None = None) -> None:
        self._identity, self._now, self._out = dict(identity), now, out or sys.stdout

    def write(self, level: str, message: str, **fields: Any) -> None:  # noqa: ANN401  # JSON
        """One line, at once: a pod that is killed has said what it did."""
        time = datetime.fromtimestamp(self._now(), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = {"time": time, "level": level, "message": message, **self._identity, **fields}
        self._out.write(json.dumps(line) + "\n")
        self._out.flush()

    def step(self, step: Step, ids: Mapping[str, str]) -> None:
        """The line of a step that has ended. ids: trace and span, empty where none were made."""
        parts = {f"{name}_time": round(seconds, 6) for name, seconds in step.parts.items()}
        self.write(
            "INFO",
            "step done",
            rank=step.rank,
            step=step.number,
            step_time=round(step.seconds, 6),
            **parts,
            loss=round(step.loss, 6),
            tokens_per_second=round(step.tokens_per_second, 3),
            **ids,
        )
