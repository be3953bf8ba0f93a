"""The journal: what was written is read, and one that is damaged says so instead of saying less."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING, Any

import pytest

from smoke.drill import keys
from smoke.drill.errors import JournalError
from smoke.drill.journal import NAME, Writer
from smoke.drill.journal_reader import read
from smoke.drill.model import Journal
from tests.offline.smoke.drill.made import BEGIN, IMAGES, JOURNAL, KEY, NUMBERS, SDK, T

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A journal of JOURNAL."""
    writer = Writer(tmp_path / "journal")
    writer.begin(BEGIN, T - 70)
    writer.sdk(SDK)
    writer.run("t1", "p1", T - 1)
    for sent in sorted((*NUMBERS, *IMAGES), key=lambda sent: sent.at):
        writer.sent(sent)
        if sent.acked is None:
            writer.failed(sent.number, "no answer", sent.at + 0.5)
        else:
            writer.acked(sent.number, sent.acked)
    writer.end(finished=True, at=T + 20)
    writer.close()
    return tmp_path / "journal"


def _change(directory: Path, change: Callable[[list[bytes]], list[bytes]]) -> None:
    path = directory / NAME
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))


def test_what_was_written_is_read(directory: Path) -> None:
    found = read(directory)
    assert sorted(found.sent, key=lambda sent: sent.number) == sorted(JOURNAL.sent, key=lambda sent: sent.number)
    assert (found.begin, found.run_id, found.sdk, found.ended) == (BEGIN, "t1", SDK, True)


def test_the_first_line_names_the_runs_and_no_line_has_the_key(directory: Path) -> None:
    text = (directory / NAME).read_text()
    first = json.loads(text.splitlines()[0])
    assert (first["run"], first["project"], first["workspace"]) == ("drill-1", "plumbline-drill", "alice")
    assert KEY not in text
    assert stat.S_IMODE((directory / NAME).stat().st_mode) == 0o600


def test_a_directory_that_holds_anything_is_refused(directory: Path, tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="is not empty"):
        Writer(directory)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "note").touch()
    with pytest.raises(JournalError, match="is not empty"):
        Writer(tmp_path / "other")


def test_an_acknowledgement_that_was_cut_off_is_none(directory: Path) -> None:
    """Cut behind any byte of the last acknowledgement: nobody may claim it."""
    lines = (directory / NAME).read_bytes().splitlines(keepends=True)
    assert b'"acked"' in lines[-2]
    for kept in range(len(lines[-2])):
        (directory / NAME).write_bytes(b"".join(lines[:-2]) + lines[-2][:kept])
        found = read(directory)
        assert [sent.number for sent in found.sent if sent.acked is None] == [5, 12]
        assert not found.ended


def test_an_empty_journal_holds_nothing(directory: Path) -> None:
    (directory / NAME).write_bytes(b"")
    assert read(directory) == Journal()
    (directory / NAME).write_bytes(b'{"kind":"begin","at":"2026')
    assert read(directory) == Journal()


def _edit(number: int, **fields: Any) -> Callable[[list[bytes]], list[bytes]]:  # noqa: ANN401  # any field
    def change(lines: list[bytes]) -> list[bytes]:
        record = json.loads(lines[number]) | fields
        return [*lines[:number], json.dumps(record).encode() + b"\n", *lines[number + 1 :]]

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda lines: [*lines[:4], lines[4][:-9] + b"\n", *lines[5:]], "line 5, is no line"),
        (lambda lines: [*lines[:4], b"\n", *lines[5:]], "line 5, is no line"),
        (lambda lines: lines[1:], "the first line, and no other, is 'begin'"),
        (lambda lines: [lines[0], *lines], "the first line, and no other, is 'begin'"),
        (_edit(0, format=2), "its format is 2; accepted is 1"),
        (lambda lines: [*lines[:3], *lines[4:]], "KeyError"),  # an acknowledgement of nothing
        (lambda lines: [*lines[:5], lines[4], *lines[5:]], "was acknowledged before"),
        (lambda lines: [*lines[:5], lines[3], *lines[5:]], "sent before"),
        (_edit(4, at="2025-12-31T23:00:00.000000Z"), "the clock was set back"),
        (_edit(4, at="2026-01-01T00:00:00"), "has no zone"),
        (_edit(4, kind="heard"), "KeyError: 'heard'"),
    ],
)
def test_a_damaged_journal_says_nothing(
    directory: Path, change: Callable[[list[bytes]], list[bytes]], words: str
) -> None:
    _change(directory, change)
    with pytest.raises(JournalError, match=words):
        read(directory)


def test_a_journal_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="cannot be read"):
        read(tmp_path)


def test_a_key_is_known_again_by_its_mark() -> None:
    first, second = keys.mark(KEY), keys.mark(KEY)
    assert first != second
    assert keys.same(KEY, first)
    assert not keys.same(f"{KEY[:-1]}x", first)
    assert KEY not in repr(first)
