"""The program in processes of its own, which may give themselves a signal at a line that they tell.

The signal comes once the line is out and before anything after it is done: the same place in every run. Processes are
forked from one that has imported the program: a second each is saved.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import re
import signal
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from recovery.__main__ import main

if TYPE_CHECKING:
    from pathlib import Path

_SECONDS: Final = 300
_NUMBERS: Final = re.compile(r"\b[0-9a-f]*\d[0-9a-f]*\b", re.IGNORECASE)
"""Hexadecimal ones too; PostgreSQL writes those of its snapshots in capitals."""
_TABLE: Final = re.compile(r"(: table ).*")
_STAMP: Final = re.compile(r"\d{4}-\d\d-\d\d \S+ (.*)")
_FORKED: Final = multiprocessing.get_context("forkserver")
_FORKED.set_forkserver_preload([__name__])


@dataclass(frozen=True)
class Ended:
    """code: the exit code, negative for a signal that ended the process. facts: for machines. said: for people."""

    code: int
    facts: dict[str, Any]
    said: str

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of the lines that were told, each once."""
        told = (match[1] for line in self.said.splitlines() if (match := _STAMP.fullmatch(line)))
        return tuple(dict.fromkeys(kind(line) for line in told))


def kind(line: str) -> str:
    """What a line has in common with others of its kind: figures and names of tables are left out.

    The place within a row of stores is no figure: the first line of each store counts.
    """
    head, of, rest = line.partition(": ") if re.match(r"\d+ of \d+: ", line) else ("", "", line)
    return head + of + _NUMBERS.sub("N", _TABLE.sub(r"\1…", rest))


def run(home: Path, config: Path, *words: str, at: str = "", number: int = signal.SIGKILL) -> Ended:
    """Run it to its end, or until it gives itself the signal at the first line of a kind."""
    out, err = home / "told.out", home / "told.err"
    argv = ("--config", str(config), "--json", *words)
    process = _FORKED.Process(target=_program, args=(argv, str(out), str(err), os.environ["PATH"], at, number))
    process.start()
    process.join(_SECONDS)
    if process.exitcode is None:
        process.kill()
        raise AssertionError(f"{words} does not end:\n{err.read_text(encoding='utf-8')}")
    lines = out.read_text(encoding="utf-8").splitlines()
    return Ended(process.exitcode, json.loads(lines[-1]) if lines else {}, err.read_text(encoding="utf-8"))


class _Ending(logging.Handler):
    """Gives the signal at the first line of a kind, after the program's own handler has written it."""

    def __init__(self, wanted: str, number: int) -> None:
        super().__init__()
        self._wanted, self._number = wanted, number

    def emit(self, record: logging.LogRecord) -> None:
        """See logging.Handler."""
        if self._wanted and kind(record.getMessage()).startswith(self._wanted):
            self._wanted = ""
            os.kill(os.getpid(), self._number)


def _program(argv: tuple[str, ...], out: str, err: str, path: str, at: str, number: int) -> None:
    for name, stream in ((out, 1), (err, 2)):
        opened = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(opened, stream)
        os.close(opened)
    os.environ["PATH"] = path
    # As the program does it first: then its own handler is the first.
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(message)s")
    logging.getLogger().addHandler(_Ending(at, number))
    sys.exit(main(argv))
