"""How far a drill is, kept in a file: what one that was killed has done is not done twice."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from sandbox.errors import SandboxError

Json = dict[str, Any]
BEGUN, CREATED, VERIFIED, DISASTER, DESTROYED, DEPLOYED, RESTORED, PROMOTED, JUDGED, DONE = PHASES = (
    *("begun", "created", "verified", "disaster", "destroyed"),
    *("deployed", "restored", "promoted", "judged", "done"),
)
"""What has been done, in this order. `disaster`: its moment is set, the point is verified, nothing was destroyed yet;
from then on a drill goes on where it stopped. Before that it starts anew, for its writer died with it."""
ATTEMPTS: Final = 2
"""How often a drill that destroys nothing is tried with one restore point, before it takes another."""
_MODE: Final = 0o600


@dataclass(frozen=True, kw_only=True)
class State:
    """One drill. Moments are Unix time of this machine.

    source: stack. destroy: whether its SwanLab is destroyed. journal: directory of what was written. writer: process
    that writes. point: restore point, begun at point_began. recovering: since when the clock of the RTO runs, None
    while it stands; spent: seconds that it ran before. attempts: to bring the point back. doomed: `kind namespace/name`
    → uid of what the disaster takes. seconds: step → how long it took. verdict: exit code of the comparison.
    """

    source: str
    destroy: bool
    journal: str
    began: float
    phase: str = BEGUN
    writer: int | None = None
    point: str | None = None
    point_began: float | None = None
    disaster: float | None = None
    recovering: float | None = None
    spent: float = 0.0
    attempts: int = 0
    doomed: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    verdict: int | None = None

    def reached(self, phase: str) -> bool:
        """Whether this has been done."""
        return PHASES.index(self.phase) >= PHASES.index(phase)

    @property
    def going_on(self) -> bool:
        """Whether it stopped after its disaster, and is to go on from there."""
        return self.reached(DISASTER) and not self.reached(DONE)

    @property
    def ruined(self) -> bool:
        """Whether SwanLab of the source may be gone, or hold less than it did."""
        return self.destroy and self.going_on and not self.reached(JUDGED)

    def goes_on(self, source: str, *, destroy: bool) -> bool:
        """Whether a drill of this kind goes on with this one: it has to if the source is ruined.

        A point that failed often enough beside the source is given up.
        """
        same = self.going_on and self.source == source and self.destroy == destroy
        return same and (destroy or self.reached(JUDGED) or self.attempts < ATTEMPTS)


class Book:
    """The file of a drill, and the directory around it with its journal."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.file = directory / "drill.json"

    def read(self) -> State | None:
        """The last drill, None if there was none. Raises SandboxError for a file that says nothing."""
        try:
            found = State(**json.loads(self.file.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError) as error:
            raise self._damaged(type(error).__name__) from error
        if found.phase not in PHASES:
            raise self._damaged(f"phase {found.phase!r}")
        return found

    def write(self, state: State) -> State:
        """Keep it; it is on the disk when this returns."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = self.file.with_suffix(f".{os.getpid()}")
        text = json.dumps(dataclasses.asdict(state), indent=2, sort_keys=True) + "\n"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _MODE)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.file)
        return state

    def clear(self) -> None:
        """Delete what earlier drills left. The writer of none of them may run any more."""
        if self.directory.is_dir():
            for path in self.directory.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def _damaged(self, why: str) -> SandboxError:
        return SandboxError(
            f"{self.file} does not say how far the last drill came ({why})",
            "if it was one with DESTROY=yes, bring the point back by hand (docs/recovery.md); then delete the file",
        )


def stamp(moment: float) -> str:
    """Unix time in RFC 3339."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def owned_by(pid: int, word: str) -> bool:
    """Whether a process runs and has this word among its arguments: the ids of ended ones are given to others."""
    try:
        return word in Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return False
