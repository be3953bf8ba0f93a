"""Take the steps of a run: `python3 -P -m sandbox.workloads.training`. Settings: TRAINING_*, see `settings.py`."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import TYPE_CHECKING

from sandbox.workloads.training import control
from sandbox.workloads.training.journal import Journal
from sandbox.workloads.training.run import RealClock, Told, train
from sandbox.workloads.training.script import Script
from sandbox.workloads.training.settings import Settings, SettingsError, parse

if TYPE_CHECKING:
    from sandbox.workloads.training.experiment import Experiment
    from sandbox.workloads.training.traces import Traces

DONE, UNUSABLE, WRONG, ENDED = 0, 1, 2, 143


def main() -> int:
    """The program; exit codes as in the package's docstring."""
    try:
        settings = parse(os.environ)
    except SettingsError as error:
        print(f"error: {error}", file=sys.stderr)
        return WRONG
    clock = RealClock()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: clock.stop.set())
    script = Script(range(settings.first_rank, settings.first_rank + settings.ranks))
    journal = Journal(settings.identity, clock.now)
    try:
        experiment = _experiment(settings)
        server = control.serve(settings.control, script) if settings.control else None
    except Exception as error:  # the SDK raises what it likes; the pod's log must say why it ended
        journal.write("ERROR", "cannot begin", error=f"{type(error).__name__}: {error}")
        return UNUSABLE
    if server:
        threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True).start()
    traces = _traces(settings)
    journal.write("INFO", "run begins", ranks=settings.ranks, steps=settings.steps, otlp=settings.otlp)
    done = train(settings, script, clock, Told(journal, traces, experiment))
    whole = done == settings.steps
    if traces:
        traces.close()
    if not _finished(experiment, journal, whole=whole):
        return UNUSABLE
    journal.write("INFO", "run ended", steps=done)
    return DONE if whole else ENDED


def _finished(experiment: Experiment | None, journal: Journal, *, whole: bool) -> bool:
    """Whether the run in SwanLab is ended too. One that takes too long ends the process: nothing else would."""

    def late() -> None:
        journal.write("ERROR", "SwanLab did not end the run in time")
        os._exit(UNUSABLE)

    try:
        if experiment:
            experiment.finish(aborted=not whole, late=late)
    except Exception as error:  # as at the begin
        journal.write("ERROR", "SwanLab did not end the run", error=f"{type(error).__name__}: {error}")
        return False
    return True


def _experiment(settings: Settings) -> Experiment | None:
    """Rank 0 alone logs to SwanLab, where there is one."""
    if not settings.host or settings.first_rank:
        return None
    from sandbox.workloads.training.experiment import Experiment  # noqa: PLC0415  a run without SwanLab needs no SDK

    return Experiment(settings)


def _traces(settings: Settings) -> Traces | None:
    if not settings.otlp:
        return None
    from sandbox.workloads.training.traces import Traces  # noqa: PLC0415  a run without OTLP needs no SDK

    return Traces(settings.identity)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # a thread of the SDK that waits for a server must not keep the pod
