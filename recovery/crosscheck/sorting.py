"""Sorting what does not fit into memory: sorted runs in files, merged."""

from __future__ import annotations

import heapq
import itertools
import json
import tempfile
from typing import IO, TYPE_CHECKING, Final

from recovery.crosscheck.model import Row

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from pathlib import Path

_RUN: Final = 10_000
"""Rows that are sorted in memory."""
_RUN_CHARACTERS: Final = 2 * 1024**2
"""The same in characters of their keys, whichever comes first."""
_MOST_FILES: Final = 64
"""Files of one level that become one of the next: a row is written once for each level, whatever their number."""


def in_order(rows: Iterable[Row], directory: Path) -> Generator[Row]:
    """The same rows by ascending key. directory: takes as many bytes as the rows have, until the iterator ends.

    Raises OSError if there is no room.
    """
    levels: list[list[IO[str]]] = []
    try:
        for run in _runs(rows):
            _put(levels, 0, _written(run, directory), directory)
        yield from _merged(itertools.chain.from_iterable(levels))
    finally:
        for files in levels:
            _close(files)


def _put(levels: list[list[IO[str]]], level: int, file: IO[str], directory: Path) -> None:
    if level == len(levels):
        levels.append([])
    files = levels[level]
    files.append(file)
    if len(files) == _MOST_FILES:
        whole = _written(_merged(files), directory)
        _close(files)
        _put(levels, level + 1, whole, directory)


def _runs(rows: Iterable[Row]) -> Iterator[list[Row]]:
    run: list[Row] = []
    characters = 0
    for row in rows:
        run.append(row)
        characters += sum(map(len, row.key))
        if len(run) == _RUN or characters >= _RUN_CHARACTERS:
            yield sorted(run, key=_key)
            run, characters = [], 0
    yield sorted(run, key=_key)


def _written(rows: Iterable[Row], directory: Path) -> IO[str]:
    file = tempfile.TemporaryFile("w+", dir=directory, encoding="utf-8")  # noqa: SIM115  # handed to the caller
    for row in rows:
        file.write(json.dumps(row))
        file.write("\n")
    return file


def _merged(files: Iterable[IO[str]]) -> Iterator[Row]:
    return heapq.merge(*map(_read, files), key=_key)


def _read(file: IO[str]) -> Iterator[Row]:
    file.seek(0)
    for line in file:
        key, fields = json.loads(line)
        yield Row(tuple(key), fields)


def _close(files: list[IO[str]]) -> None:
    for file in files:
        file.close()
    files.clear()


def _key(row: Row) -> tuple[str, ...]:
    return row.key
