"""Runs every side of both collectors, one after the other, before the same sink."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.bench import interrupt
from tests.bench.telemetry import sides
from tests.bench.telemetry.agent import agent
from tests.bench.telemetry.figures import Measured, Report
from tests.bench.telemetry.gateway import gateway
from tests.bench.telemetry.phases import Bench
from tests.bench.telemetry.plan import check_room
from tests.bench.telemetry.programs import collector, sink

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sandbox.progress import Progress
    from tests.bench.telemetry.plan import Plan
    from tests.bench.telemetry.programs import Sink

_MEASURES: Final = {sides.GATEWAY: gateway, sides.AGENT: agent}
ALL: Final = tuple(itertools.product(_MEASURES, sides.SIDES))


@dataclass(frozen=True, kw_only=True)
class _Run:
    plan: Plan
    program: Path
    home: Path
    sink: Sink
    change: sides.Change
    phases: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def side(self, name: str, side: str, say: Callable[[str], None]) -> tuple[Measured, ...]:
        """One collector by one side's configuration, in a directory that is removed afterwards."""
        directory = self.home / name / str(sides.SIDES.index(side))
        directory.mkdir(parents=True)
        place = sides.Place(
            directory=directory, ports=sides.Ports(), sink_http=self.sink.http, sink_grpc=self.sink.grpc
        )
        files = sides.files(name, side, self.plan, place, self.change)
        memory = memory_of(self.plan)[name]
        with collector(self.program, directory, place.ports, files, memory) as running:
            bench = Bench(plan=self.plan, sink=self.sink, collector=running, side=side, phases=self.phases, say=say)
            found = _MEASURES[name](bench)
        shutil.rmtree(directory)
        return found


def memory_of(plan: Plan) -> dict[str, int]:
    """Limit of each collector's container, bytes."""
    args = sides.arguments(plan)
    return {sides.GATEWAY: args.gateway.memory_bytes, sides.AGENT: args.agent.memory_bytes}


def run(
    plan: Plan,
    program: Path,
    progress: Progress,
    change: sides.Change = sides.unchanged,
    only: Sequence[tuple[str, str]] = ALL,
) -> Report:
    """All of it; nothing is left behind, whatever happens. Raises BenchError.

    program: the collector. change: see sides.Change. only: pairs of collector and side.
    """
    top = Path(tempfile.gettempdir())
    check_room(plan, top)
    begun, before = time.monotonic(), os.getloadavg()[0]
    measured: list[Measured] = []
    temporary = tempfile.TemporaryDirectory(prefix="plumbline-bench-", ignore_cleanup_errors=True)
    with temporary as name, sink(Path(name) / "sink.log") as found:
        of = _Run(plan=plan, program=program, home=Path(name), sink=found, change=change)
        for which, side in only:
            interrupt.check()
            with progress.step(f"{which}: {side}"):
                measured += of.side(which, side, progress.say)
    return Report(
        cores=os.cpu_count() or 1,
        load=(before, os.getloadavg()[0]),
        seconds=time.monotonic() - begun,
        wait=sides.arguments(plan).sampling.decision_wait_after_root_seconds,
        memory=memory_of(plan),
        measured=tuple(measured),
    )
