"""Slow one GPU of a run down for one step, and the step with it.

    python3 -m sandbox.workloads.training.throttle --exporter http://127.0.0.1:9401 --run http://127.0.0.1:9402 \
        --gpu 1 --rank 1 --step 40 --factor 5

Both addresses are control interfaces of simulators, reached by a port-forward. The GPU is hot from just before the step
until just after it: the run waits until the exporter plays it. Exit code: 0 it was played, 1 it could not be.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING, Final

from sandbox.workloads.gpu import incidents
from sandbox.workloads.training import control

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

POLL: Final = 0.1
CELSIUS: Final = 93
_PATIENCE: Final = 600.0


def throttle(exporter: str, run: str, gpu: int, rank: int, step: int, factor: float) -> None:
    """Play it. gpu: index on the node. Raises ControlError of either side, and TimeoutError after ten minutes."""
    control.hold(run, step)
    _until(lambda: bool(control.status(run)["held"]))
    # A sample before and after: what the exporter counts as throttled is then the step, not the time between samples.
    incidents.tick(exporter)
    incident = incidents.play(exporter, "hot", gpu=gpu, celsius=CELSIUS)
    try:
        incidents.tick(exporter)
        control.release(run, {rank: factor}, hold=step + 1)
        _until(lambda: bool(control.status(run)["held"]))
        incidents.tick(exporter)
    finally:
        incidents.end(exporter, incident)
    incidents.tick(exporter)
    control.release(run, {})


def _until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not reached():
        if time.monotonic() > deadline:
            raise TimeoutError(f"the run did not reach the step within {_PATIENCE:.0f} s")
        time.sleep(POLL)


def main(arguments: Sequence[str]) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="throttle", description="slow one GPU of a run down for one step")
    parser.add_argument("--exporter", required=True, help="control interface of the simulated dcgm-exporter")
    parser.add_argument("--run", required=True, help="control interface of the run")
    parser.add_argument("--gpu", type=int, required=True, help="index of the GPU on its node")
    parser.add_argument("--rank", type=int, required=True, help="rank that has this GPU")
    parser.add_argument("--step", type=int, required=True, help="a step that has not begun, and is not the last")
    parser.add_argument("--factor", type=float, default=3.0, help="how much longer the rank computes")
    given = parser.parse_args(arguments)
    try:
        throttle(given.exporter, given.run, given.gpu, given.rank, given.step, given.factor)
    except (control.ControlError, incidents.ControlError, TimeoutError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
