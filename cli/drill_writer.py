"""Who writes to the source while a restore point is taken, until the disaster: `smoke.drill write` beside us."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from cli.drill_state import owned_by
from cli.engine import ROOT
from sandbox.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

WINDOW: Final = 60.0
"""Seconds before a restore point within which an acknowledged value may still lie in the delivery buffer."""
LEAD: Final = WINDOW + 15.0
"""Seconds of the series that are written before the point: some of them must then be in it, without excuse."""
FRESH: Final = 30.0
"""Seconds before the disaster within which something was acknowledged, else nothing was lost because nothing came."""
READY_SECONDS: Final = 1800.0
"""An SDK is installed, logs a whole run, and that is read back before the series begins."""
END_SECONDS: Final = 90.0
PAUSE_SECONDS: Final = 1.0
_SHOWN: Final = 15


@dataclass(frozen=True)
class Acknowledged:
    """Moments of the journal, in Unix time. values, files: when each request with such was acknowledged."""

    values: tuple[float, ...]
    files: tuple[float, ...]


def acknowledged(journal: Path) -> Acknowledged:
    """What a journal says until now; a line that is just being written is not one yet."""
    with_files, values, files = set[int](), list[float](), list[float]()
    path = journal / "journal.jsonl"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    for line in text.splitlines(keepends=True):
        if not line.endswith("\n"):
            break
        record = json.loads(line)
        if record["kind"] == "sent" and record["files"]:
            with_files.add(record["number"])
        if record["kind"] == "acked":
            kept = files if record["number"] in with_files else values
            kept.append(datetime.fromisoformat(record["at"]).timestamp())
    return Acknowledged(tuple(values), tuple(files))


class Writer:
    """The program, started at once. It is ended with `end`, whatever happens."""

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str], journal: Path) -> None:
        """arguments: of `smoke.drill write`, without --journal."""
        self._journal = journal
        self._log = journal.with_suffix(".log")
        argv = [sys.executable, "-m", "smoke.drill", "write", *arguments, "--journal", str(journal)]
        with self._log.open("wb") as log:
            # A session of its own: Ctrl-C reaches us alone, and we end it in order.
            self._process = subprocess.Popen(
                argv,
                cwd=ROOT,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.pid = self._process.pid

    def await_lead(self) -> None:
        """Until the series was written for long enough to take a point. Raises SandboxError."""
        deadline = time.monotonic() + READY_SECONDS
        while True:
            self.demand()
            found = acknowledged(self._journal)
            if found.files and found.values and time.time() - max(found.values[0], found.files[0]) >= LEAD:
                return
            if time.monotonic() >= deadline:
                raise SandboxError(
                    f"smoke.drill write had {len(found.values)} values and {len(found.files)} files acknowledged in "
                    f"{READY_SECONDS:.0f} s, and a drill needs both: {self._said()}",
                    "make smoke says whether SwanLab takes runs; then drill again",
                )
            time.sleep(PAUSE_SECONDS)

    def demand(self) -> None:
        """Raises SandboxError unless it still writes."""
        code = self._process.poll()
        if code is not None:
            raise SandboxError(
                f"smoke.drill write ended with {code} before the disaster: {self._said()}",
                "make smoke says whether SwanLab takes runs; then drill again",
            )

    def demand_live(self, since: float, now: float) -> None:
        """Raises SandboxError unless values were acknowledged since a moment and until now, so that some get lost."""
        self.demand()
        late = [moment for moment in acknowledged(self._journal).values if moment > since]
        if not late or now - max(late) > FRESH:
            raise SandboxError(
                f"SwanLab acknowledged {len(late)} values since the restore point was begun, none of them in the last "
                f"{FRESH:.0f} s: a disaster now would lose nothing, and prove nothing; {self._said()}",
                "make smoke says whether SwanLab takes runs; then drill again",
            )

    def end(self) -> None:
        """Let it end in order; killed if it does not, which its journal outlives."""
        self._process.terminate()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._kill()
        except KeyboardInterrupt:
            self._kill()
            raise

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _said(self) -> str:
        lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-_SHOWN:]
        return f"{self._log}: " + ("\n".join(lines) or "it said nothing")


def end_orphan(pid: int | None, journal: str) -> None:
    """End the writer of a drill that was killed. journal: its argument, by which it is known."""
    if pid is None or not owned_by(pid, journal):
        return
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + END_SECONDS
    while owned_by(pid, journal):
        if time.monotonic() >= deadline:
            os.kill(pid, signal.SIGKILL)
            return
        time.sleep(PAUSE_SECONDS)
