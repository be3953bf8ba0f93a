"""Runs, readings and results made by hand for tests."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from smoke.sdk.model import DriverResult, Ended, LoggedFile, LoggedRun, ReadBack

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

PICTURE = b"picture"
DIGEST = sha256(PICTURE).hexdigest()

RUN = LoggedRun(
    label="first",
    project="p",
    name="r",
    path="alice/p/1",
    logged={"loss": ((0, "0.5"), (1, "0.25"), (2, "nan"))},
    media={"image": (LoggedFile(0, DIGEST, len(PICTURE)),)},
    config={"lr": 0.1},
    lines=("line 0", "line 1"),
    finished=True,
)
READ = ReadBack(
    state="FINISHED",
    keys=frozenset({"loss", "image"}),
    series={"loss": ((0, "0.5"), (1, "0.25"), (2, "nan"))},
    media={"image": (DIGEST,)},
    config={"lr": 0.1},
    lines=("before", "line 0", "line 1"),
)
SECOND = replace(RUN, label="second", name="r-second", path="alice/p/2")


def result(*runs: LoggedRun, **more: Any) -> DriverResult:  # noqa: ANN401  # fields of a result
    """A driver's result of SDK 0.8.4 that came to its end."""
    fields: dict[str, Any] = {"sdk": "0.8.4", "script": "roundtrip", "stage": "done", "runs": runs, **more}
    return DriverResult(**fields)


def ended(*runs: LoggedRun, **more: Any) -> Ended:  # noqa: ANN401  # fields of a result
    """A process that ended well with that result."""
    return Ended(result(*runs, **more))


class World:
    """A server that tests fill: path of a run → what is read of it."""

    def __init__(self, reads: Mapping[str, ReadBack]) -> None:
        self.reads = dict(reads)
        self.swept: list[tuple[str, str]] = []
        self.names: list[tuple[str, str]] = []
        self.fail: Exception | None = None

    def _read(self, run: LoggedRun) -> ReadBack:
        if self.fail is not None:
            raise self.fail
        return self.reads[run.path]

    def keys(self, run: LoggedRun) -> Sequence[str]:
        """As Reader.keys."""
        return sorted(self._read(run).keys)

    def series(self, run: LoggedRun, key: str) -> Sequence[tuple[int, str]]:
        """As Reader.series."""
        return self._read(run).series.get(key, ())

    def media(self, run: LoggedRun, key: str) -> Sequence[bytes]:
        """As Reader.media: the one picture, if the reading has its digest."""
        return [PICTURE if digest == DIGEST else b"other" for digest in self._read(run).media.get(key, ())]

    def state(self, run: LoggedRun) -> str:
        """As Reader.state."""
        return self._read(run).state

    def config(self, run: LoggedRun) -> Mapping[str, Any]:
        """As Reader.config."""
        return self._read(run).config

    def logs(self, run: LoggedRun) -> Sequence[str]:
        """As Reader.logs."""
        return self._read(run).lines

    def sweep(self, project: str, doomed: Callable[[str, str], bool]) -> int:
        """As Reader.sweep, over `names`."""
        if self.fail is not None:
            raise self.fail
        gone = [one for one in self.names if doomed(*one)]
        self.swept += [(project, name) for name, _ in gone]
        return len(gone)
