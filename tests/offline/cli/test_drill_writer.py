"""Who writes until the disaster: a process of its own, awaited by its journal, and ended whatever happens."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from cli import drill_writer
from cli.drill_state import owned_by, stamp
from cli.drill_writer import Acknowledged, Writer, acknowledged, end_orphan
from sandbox.errors import SandboxError
from tests.offline.sandbox.fakes import wait_for_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# Stands where Python would be: `$0 -m smoke.drill write … --journal DIR`.
WRITES = """#!/bin/sh
for word; do last=$word; done
mkdir "$last"
{body}
"""
ENDS = 'trap "exit 0" TERM; while :; do sleep 0.05; done'
DEAF = 'trap "" TERM; while :; do sleep 0.05; done'


def line(kind: str, at: float, number: int, files: str = "") -> str:
    """Of a journal."""
    more = f',"values":{{}},"files":{{{files}}},"step":0' if kind == "sent" else ""
    return f'{{"kind":"{kind}","at":"{stamp(at)}","number":{number}{more}}}\n'


def journal(at: float) -> str:
    """A value and a file, acknowledged at a moment."""
    sent = line("sent", at, 1) + line("sent", at, 2, '"drill/image":"ab"')
    return sent + line("acked", at, 1) + line("acked", at, 2)


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Writer]]:
    """Starts a writer with this body; none survives the test."""
    made: list[Writer] = []

    def start(body: str) -> Writer:
        script = tmp_path / "python"
        script.write_text(WRITES.format(body=body))
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setattr(sys, "executable", str(script))
        made.append(Writer(["--contract", "c.json"], os.environ, tmp_path / "journal"))
        return made[-1]

    monkeypatch.setattr(drill_writer, "PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(drill_writer, "READY_SECONDS", 20.0)
    yield start
    for one in made:
        one._kill()


def said(text: str) -> str:
    return f"cat > \"$last/journal.jsonl\" <<'END'\n{text}END\n"


def test_journal_is_read_up_to_the_line_that_is_being_written(tmp_path: Path) -> None:
    assert acknowledged(tmp_path) == Acknowledged((), ())
    text = journal(1000.0) + line("sent", 1001.0, 3) + line("acked", 1001.0, 3)
    (tmp_path / "journal.jsonl").write_text(text.rstrip("\n"))
    assert acknowledged(tmp_path) == Acknowledged((1000.0,), (1000.0,))


def test_point_is_awaited_until_some_values_are_older_than_the_window(
    started: Callable[[str], Writer], tmp_path: Path
) -> None:
    writer = started(said(journal(time.time() - drill_writer.LEAD)) + ENDS)
    writer.await_lead()
    writer.end()
    assert (tmp_path / "journal.log").read_text() == ""
    assert not owned_by(writer.pid, str(tmp_path / "journal"))


@pytest.mark.parametrize("kind", ["young", "without a file", "none"])
def test_values_that_do_not_come_are_an_error(
    started: Callable[[str], Writer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    # Made here: a journal that is young when tests are collected may be old when this one is run.
    text, seen = {
        "young": (journal(time.time() - 5), "1 values and 1 files"),
        "without a file": (line("sent", 1.0, 1) + line("acked", 1.0, 1), "1 values and 0 files"),
        "none": ("", "0 values and 0 files"),
    }[kind]
    writer = started(said(text) + ENDS)
    if text:
        wait_for_file(tmp_path / "journal" / "journal.jsonl")
    monkeypatch.setattr(drill_writer, "READY_SECONDS", 0.3)
    with pytest.raises(SandboxError, match=rf"smoke\.drill write had {seen} acknowledged"):
        writer.await_lead()


def test_writer_that_ended_is_an_error_with_its_words(started: Callable[[str], Writer]) -> None:
    with pytest.raises(SandboxError, match=r"ended with 3 before the disaster.*\n?.*no such SDK"):
        started("echo no such SDK; exit 3").await_lead()


@pytest.mark.parametrize(("since", "age", "fine"), [(100, 1, True), (0.5, 1, False), (100, 60, False)])
def test_disaster_needs_values_that_can_be_lost(
    started: Callable[[str], Writer], tmp_path: Path, since: float, age: float, *, fine: bool
) -> None:
    """since: seconds ago the point was begun. age: of the last acknowledged value."""
    now = time.time()
    writer = started(ENDS)
    while not (tmp_path / "journal").is_dir():
        time.sleep(0.01)
    (tmp_path / "journal" / "journal.jsonl").write_text(journal(now - age))
    if fine:
        writer.demand_live(now - since, now)
        return
    with pytest.raises(SandboxError, match="would lose nothing, and prove nothing"):
        writer.demand_live(now - since, now)


def test_writer_that_does_not_end_is_killed(started: Callable[[str], Writer], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drill_writer, "END_SECONDS", 0.2)
    writer = started(DEAF)
    writer.end()
    assert writer._process.poll() is not None


def test_writer_of_a_killed_drill_is_ended(started: Callable[[str], Writer], tmp_path: Path) -> None:
    writer = started(ENDS)
    while not (tmp_path / "journal").is_dir():
        time.sleep(0.01)
    end_orphan(writer.pid, str(tmp_path / "journal"))
    assert writer._process.wait(60) is not None


def test_another_process_of_that_number_is_left_alone(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        end_orphan(other.pid, str(tmp_path / "journal"))
        end_orphan(None, str(tmp_path / "journal"))
        assert other.poll() is None
        other.terminate()
