"""The pinned SDK in a process of its own."""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from smoke.sdk.drive import DRIVER, Address, run_apart
from smoke.sdk.environments import EnvironmentFailedError, ensure, read_lock
from tests.bench.errors import BenchError
from tests.bench.experiments.plan import PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.bench.experiments.plan import Plan
    from tests.bench.experiments.site import Site

LOGGER: Final = Path(__file__).with_name("sdk_logger.py")
_FINISH: Final = 60.0
"""Seconds that an import, the start of a run, and the delivery of what is left in the SDK's queue may take."""
_TAIL: Final = 1200


@dataclass(frozen=True)
class Logged:
    """What the SDK did. slug: short name of the run. steps: of every key. Moments are those of time.monotonic.

    finished: finish() returned, which it does once the last batch is acknowledged and the run's state is told.
    computed: CPU seconds of the process from `begun` to `finished`.
    """

    slug: str
    steps: int
    begun: float
    logged: float
    finished: float
    computed: float


def interpreter(version: str, cache: Path, say: Callable[[str], None]) -> Path:
    """Python of the cached environment, made if need be. Raises BenchError."""
    try:
        return ensure(read_lock(version), cache, say)
    except EnvironmentFailedError as error:
        raise BenchError(str(error)) from error


def log(python: Path, site: Site, plan: Plan, run: str, until: float) -> Logged:
    """Log until all is logged or the plan's time is over. until: when the process is killed. Raises BenchError."""
    with tempfile.TemporaryDirectory(prefix="plumbline-bench-", ignore_cleanup_errors=True) as directory:
        paper, result, printed = (Path(directory) / name for name in ("plan.json", "result.json", "printed"))
        given: dict[str, object] = {"project": PROJECT, "run": run, "driver": str(DRIVER), "result": str(result)}
        given |= {"keys": plan.sdk_keys, "steps": plan.sdk_steps, "seconds": plan.sdk_seconds}
        paper.write_text(json.dumps(given), encoding="utf-8")
        address = Address(site.gateway, site.api_key)
        patience = min(until - time.monotonic(), plan.sdk_seconds + _FINISH)
        with printed.open("wb") as output:
            argv = [str(python), "-I", str(LOGGER), str(paper)]
            code = run_apart(argv, directory, address, output, max(1.0, patience))
        text = printed.read_text(encoding="utf-8", errors="replace")[-_TAIL:].replace(site.api_key, "***")
        if code is None:
            raise BenchError(f"the SDK did not come to its end within {patience:.0f} s:\n{text}")
        if code != 0:
            raise BenchError(f"the SDK ended with {code}:\n{text}")
        return Logged(**json.loads(result.read_text(encoding="utf-8")))
