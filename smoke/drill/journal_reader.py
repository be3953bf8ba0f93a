"""Reads a journal back, however its writer ended."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from smoke.drill.errors import JournalError
from smoke.drill.journal import FORMAT, NAME
from smoke.drill.model import Begin, Journal, KeyMark, SdkRun, Sent
from smoke.drill.times import moment
from smoke.sdk.model import LoggedFile, LoggedRun

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

Json = dict[str, Any]
_BACKWARDS: Final = 1.0
"""Seconds by which a clock may be set back while a journal is written: more makes its moments worthless."""


def read(directory: Path) -> Journal:
    """The journal of a directory. A line without an end was never finished, and is left out.

    Raises JournalError when there is none, and where any other line is damaged.
    """
    path = directory / NAME
    try:
        *lines, _cut = path.read_bytes().split(b"\n")
    except OSError as error:
        raise JournalError(f"the journal {path} cannot be read ({error.strerror}); `write` makes it") from error
    entries = _Entries()
    for number, line in enumerate(lines, 1):
        try:
            entries.add(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise JournalError(
                f"{path}, line {number}, is no line of a journal ({type(error).__name__}: {error})\n"
                "  next: nothing can be judged by it; drill anew"
            ) from error
    return entries.journal()


class _Entries:
    """The journal while it is read. Raises ValueError, KeyError, TypeError and AttributeError for a wrong line."""

    def __init__(self) -> None:
        self._last = 0.0
        self._journal = Journal()
        self._sent: dict[int, Sent] = {}
        self._steps: set[tuple[str, int]] = set()

    def journal(self) -> Journal:
        """What was read until now."""
        return replace(self._journal, sent=tuple(self._sent.values()))

    def add(self, record: Json) -> None:
        """One line."""
        kind, at = record["kind"], moment(record["at"])
        if at < self._last - _BACKWARDS:
            raise ValueError(
                "it is older than the line before it: the clock was set back while the journal was written"
            )
        if (kind == "begin") != (self._journal.begin is None):
            raise ValueError("the first line, and no other, is 'begin'")
        self._last = max(self._last, at)
        _KINDS[kind](self, record, at)

    def begin(self, record: Json, _: float) -> None:
        if record["format"] != FORMAT:
            raise ValueError(f"its format is {record['format']!r}; accepted is {FORMAT}")
        names = {name: str(record[name]) for name in ("run", "sdk_run", "project", "workspace")}
        self._journal = replace(self._journal, begin=Begin(**names, key=KeyMark(**record["key"])))

    def sdk(self, record: Json, at: float) -> None:
        run = _logged(record["run"])
        found = SdkRun(moment(record["began"]), at, str(record["odd"]), str(record["run_id"]), run)
        self._journal = replace(self._journal, sdk=found)

    def run(self, record: Json, _: float) -> None:
        self._journal = replace(self._journal, run_id=str(record["run_id"]))

    def sent(self, record: Json, at: float) -> None:
        values, files = dict(record["values"]), dict(record["files"])
        sent = Sent(int(record["number"]), int(record["step"]), at, values, files)
        steps = {(key, sent.step) for key in (*values, *files)}
        if sent.number in self._sent or steps & self._steps:
            raise ValueError("a request, or a step of a key, was sent before")
        self._steps |= steps
        self._sent[sent.number] = sent

    def acked(self, record: Json, at: float) -> None:
        sent = self._sent[record["number"]]
        if sent.acked is not None:
            raise ValueError("the request was acknowledged before")
        self._sent[sent.number] = replace(sent, acked=at)

    def failed(self, record: Json, _: float) -> None:
        if self._sent[record["number"]].acked is not None:
            raise ValueError("the request was acknowledged before")

    def end(self, _: Json, __: float) -> None:
        self._journal = replace(self._journal, ended=True)


def _logged(found: Json) -> LoggedRun:
    logged = {key: tuple((int(step), str(text)) for step, text in points) for key, points in found["logged"].items()}
    media = {key: tuple(LoggedFile(**file) for file in files) for key, files in found["media"].items()}
    return LoggedRun(**{**found, "logged": logged, "media": media, "lines": tuple(found["lines"])})


_KINDS: Final[Mapping[str, Callable[[_Entries, Json, float], None]]] = {
    "begin": _Entries.begin,
    "sdk": _Entries.sdk,
    "run": _Entries.run,
    "sent": _Entries.sent,
    "acked": _Entries.acked,
    "failed": _Entries.failed,
    "end": _Entries.end,
}
