"""The journal: JSON lines, each on disk before what follows it begins.

`sent` is on disk before its request leaves, `acked` is written after its answer came. So a journal that ends anywhere,
also in the middle of a line, claims no acknowledgement that there was not, and knows of every value that may be there.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from smoke.drill.errors import JournalError
from smoke.drill.times import stamp

if TYPE_CHECKING:
    from pathlib import Path

    from smoke.drill.model import Begin, SdkRun, Sent

NAME: Final = "journal.jsonl"
FORMAT: Final = 1
_MODE: Final = 0o600


class Writer:
    """Appends to a new journal. Raises OSError from every method."""

    def __init__(self, directory: Path) -> None:
        """Make it. Raises JournalError for a directory that holds anything, OSError where nothing can be written."""
        directory.mkdir(parents=True, exist_ok=True)
        if any(directory.iterdir()):
            raise JournalError(f"{directory} is not empty: a journal is written once\n  next: name another directory")
        self._file = os.open(directory / NAME, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, _MODE)
        parent = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(parent)
        finally:
            os.close(parent)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def begin(self, begin: Begin, at: float) -> None:
        """The first line."""
        self._write("begin", at, format=FORMAT, **asdict(begin))

    def sdk(self, run: SdkRun) -> None:
        """The whole run of the SDK, proven to be there."""
        self._write("sdk", run.proven, began=stamp(run.began), odd=run.odd, run_id=run.run_id, run=asdict(run.run))

    def run(self, run_id: str, project_id: str, at: float) -> None:
        """The timed run was made."""
        self._write("run", at, run_id=run_id, project_id=project_id)

    def sent(self, sent: Sent) -> None:
        """A request is about to leave."""
        what = {"values": dict(sent.values), "files": dict(sent.files)}
        self._write("sent", sent.at, number=sent.number, step=sent.step, **what)

    def acked(self, number: int, at: float) -> None:
        """A request was acknowledged."""
        self._write("acked", at, number=number)

    def failed(self, number: int, why: str, at: float) -> None:
        """A request was not acknowledged; what it brought may be there or not."""
        self._write("failed", at, number=number, why=why)

    def end(self, *, finished: bool, at: float) -> None:
        """The last line. finished: the timed run was ended on the server, too."""
        self._write("end", at, finished=finished)

    def _write(self, kind: str, at: float, **more: object) -> None:
        line = json.dumps({"kind": kind, "at": stamp(at), **more}, separators=(",", ":")).encode() + b"\n"
        while line:
            line = line[os.write(self._file, line) :]
        os.fsync(self._file)
