"""Writes until it is told to stop: first the run of the SDK, then the timed run, and of both what was acknowledged."""

from __future__ import annotations

import secrets
import signal
import threading
import time
from typing import TYPE_CHECKING

from smoke import poll
from smoke.drill import keys, sdk_run
from smoke.drill.journal import Writer
from smoke.drill.model import IMAGE, PREFIX, PROJECT, SCALARS, SDK_SUFFIX, Begin
from smoke.drill.sites import Source, identify
from smoke.drill.timed import Timed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from stacks.contract import Contract


def write(contract: Contract, kubeconfig: Path, directory: Path, cache: Path, say: Callable[[str], None]) -> bool:
    """Log both runs; whether the timed one was acknowledged at all, and ended.

    SIGTERM and SIGINT end the timed run; before it has begun they raise KeyboardInterrupt. Raises DrillError, OSError,
    CheckFailedError and AccessError.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    source = Source(contract, kubeconfig)
    try:
        identify(source)
        word = secrets.token_hex(4)
        run = f"{PREFIX}{word}"
        marked = keys.mark(poll.fetch(source.api_key))
        begin = Begin(run, f"{run}{SDK_SUFFIX}", PROJECT, poll.fetch(source.swanlab.user), marked)
        # Made no earlier, so that a stack that does not answer does not use up the directory.
        journal = Writer(directory)
        try:
            return _both(source, begin, journal, cache, say)
        finally:
            journal.close()
    finally:
        source.close()


def _both(source: Source, begin: Begin, journal: Writer, cache: Path, say: Callable[[str], None]) -> bool:
    journal.begin(begin, time.time())
    proven = sdk_run.record(source, begin.sdk_run, cache, say)
    journal.sdk(proven)
    run = begin.run
    target = poll.fetch(lambda: source.swanlab.start(PROJECT, run, SCALARS, (IMAGE,)))
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    journal.run(target.run_id, target.project_id, time.time())
    say(f"run {run} is being written; SIGTERM or Ctrl-C ends it")
    timed = Timed(source.swanlab, target, journal, run)
    timed.run(stop)
    finished = timed.finish()
    journal.end(finished=finished, at=time.time())
    say(f"run {run}: {timed.acknowledged} requests were acknowledged{'' if finished else '; it could not be ended'}")
    return finished and timed.acknowledged > 0
