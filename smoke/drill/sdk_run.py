"""One run by the pinned SDK, proven to be in the source before any restore point begins.

An SDK sends in the background and says nothing of what was acknowledged. So what counts is what was read back: all of
it, from the stores, and unchanged some time later.
"""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING, Any, Final

from smoke import limits, poll
from smoke.access.errors import RefusedError
from smoke.access.swanlab import NOT_FOUND
from smoke.drill.errors import DrillError
from smoke.drill.model import PROJECT, SdkRun
from smoke.judge import experiments
from smoke.model import Problem
from smoke.sdk.drive import Address, drive
from smoke.sdk.environments import EnvironmentFailedError, ensure, read_lock
from smoke.sdk.matrix import MatrixError, read_matrix
from smoke.sdk.reading import SwanLabReader, read_back

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smoke.sdk.model import Ended, LoggedRun
    from smoke.stack import Stack

SIZE: Final = {"keys": 4, "width": 0, "steps": 200, "lines": 20}
NAN_INF: Final = "nan_inf"


def record(stack: Stack, name: str, cache: Path, say: Callable[[str], None]) -> SdkRun:
    """Log the run and read it back. cache: of SDK environments.

    Raises DrillError, CheckFailedError and AccessError.
    """
    version = stack.experiments.sdk
    odd = _odd(version)
    plan = {"scenario": "roundtrip", "project": PROJECT, "run": name, "seed": secrets.randbelow(1 << 31), **SIZE}
    try:
        python = ensure(read_lock(version), cache, say)
    except EnvironmentFailedError as error:
        raise DrillError(str(error)) from error
    address = Address(stack.swanlab.address, poll.fetch(stack.api_key), proxies=stack.swanlab.uses_proxies)
    say(f"SDK {version} logs run {name}")
    began = time.time()
    run = _run(drive(python, plan, address, limits.SDK_RUN), version, plan)
    say(f"run {name}: {experiments.amount(run)} were logged; reading them back")
    reader = SwanLabReader(stack.swanlab)

    def differences() -> list[Problem]:
        try:
            return experiments.intact(run, read_back(reader, run), odd)
        except RefusedError as error:
            if error.status != NOT_FOUND:
                raise
            return [Problem(error.subject, str(error), "an answer")]

    poll.settle(differences, limits.READ_BACK)
    # What arrives twice, arrives later.
    time.sleep(limits.QUIET_AFTER)
    poll.demand(poll.fetch(differences))
    project, _, slug = run.path.rpartition("/")
    run_id = poll.fetch(lambda: stack.swanlab.target(project, slug)).run_id
    return SdkRun(began, time.time(), odd, run_id, run)


def _run(ended: Ended, version: str, plan: dict[str, Any]) -> LoggedRun:
    """What the driver has logged, all of its plan."""
    if ended.hang or ended.code or ended.result is None:
        how = f"did not end within {limits.SDK_RUN:.0f} s" if ended.hang else f"ended with {ended.code}: {ended.tail}"
        raise DrillError(f"the driver of SDK {version} {how}\n  next: make smoke checks swanlab.roundtrip by itself")
    poll.demand(experiments.whole(ended.result, version, plan))
    return ended.result.runs[0]


def _odd(version: str) -> str:
    """How NaN comes back from this SDK."""
    try:
        scenario = next(found for found in read_matrix().scenarios if found.name == NAN_INF)
        return scenario.expected[version].outcome
    except (MatrixError, StopIteration, KeyError) as error:
        raise DrillError(f"smoke/sdk_matrix.toml does not say how NaN comes back from SDK {version}") from error
