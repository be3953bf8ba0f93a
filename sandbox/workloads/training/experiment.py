"""The run in SwanLab, by the real SDK. Loaded only where a run is logged."""

from __future__ import annotations

import importlib
import os
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sandbox.workloads.training.settings import Settings
    from sandbox.workloads.training.steps import Step


class Experiment:
    """Rank 0's run. Raises whatever the SDK raises when it cannot begin."""

    def __init__(self, settings: Settings) -> None:
        # What only an interactive machine needs, and what would be a second load beside the steps.
        os.environ.setdefault("SWANLAB_PROBE_MONITOR", "false")
        os.environ.setdefault("SWANLAB_WEB_HOST", settings.host)
        self._finish_seconds = settings.finish_seconds
        self._swanlab: Any = importlib.import_module("swanlab")
        config = {**settings.identity, "steps": settings.steps, "ranks": settings.ranks, "seed": settings.seed}
        self._swanlab.init(project=settings.project, name=settings.run_id, config=config, tags=["simulated-training"])

    def step(self, ranks: Sequence[Step]) -> None:
        """Log one step of all ranks of this pod."""
        first = ranks[0]
        found = {"loss": first.loss, "step_time": first.seconds, "tokens_per_second": first.tokens_per_second}
        found |= {f"{name}_time": seconds for name, seconds in first.parts.items()}
        values = {f"train/{key}": value for key, value in found.items()}
        values |= {f"rank/{one.rank}/step_time": one.seconds for one in ranks}
        self._swanlab.log(values, step=first.number)

    def finish(self, *, aborted: bool, late: Callable[[], None]) -> None:
        """End the run. late: called, in another thread, when that takes too long: the SDK waits for ever
        for a server that is away.

        In the thread that calls, since the SDK puts a signal handler back, which no other thread may. Raises whatever
        the SDK raises.
        """
        watch = threading.Timer(self._finish_seconds, late)
        watch.daemon = True
        watch.start()
        try:
            self._swanlab.finish("aborted" if aborted else "success")
        finally:
            watch.cancel()
