"""`write` and `clean` as a drill calls them, and what is judged of a run that nothing happened to."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from smoke.drill import main as command
from smoke.drill.errors import JournalError
from smoke.drill.journal import NAME
from smoke.drill.journal_reader import read
from smoke.drill.main import main
from tests.offline.smoke.fake_swanlab import CUT, KEY, USER

if TYPE_CHECKING:
    from tests.offline.smoke.drill.drill_site import Drill


def test_what_is_written_is_judged_green(written: Drill) -> None:
    journal = written.read()
    assert journal.begin is not None
    assert (journal.begin.workspace, journal.begin.project, journal.ended) == (USER, "plumbline-drill", True)
    assert journal.sdk is not None
    assert sum(len(points) for points in journal.sdk.run.logged.values()) == 4 * 200 + 6
    assert written.source.named().state == "FINISHED"
    # Six requests: the numbers of five steps, and the image of the first.
    assert [len(sent.values) for sent in journal.sent] == [2, 0, 2, 2, 2, 2]
    assert all(sent.acked is not None and sent.acked >= sent.at for sent in journal.sent)
    code, found = written.judge()
    assert (code, found["verdict"], found["reasons"]) == (0, "green", [])
    assert (found["values_equal"], found["media_equal"], found["rpo_seconds"]) == (806 + 10, 7, 0.0)
    assert (found["login"], found["old_key"], found["key_of"]) == (True, True, "source")
    assert found["runs_found"] == sorted([journal.begin.run, journal.begin.sdk_run])


def test_no_file_has_the_key(written: Drill) -> None:
    written.judge()
    assert KEY not in (written.journal / NAME).read_text()
    assert KEY not in written.out.read_text()


@pytest.mark.parametrize("answer", [(503, b"no"), (403, b"no"), (CUT, b"")])
def test_what_was_refused_is_not_acknowledged(drill: Drill, answer: tuple[int, bytes]) -> None:
    """The third request of points: the numbers of step 1."""
    drill.source.refuses = {3: answer}
    assert drill.write() == 0
    assert [sent.step for sent in drill.read().sent if sent.acked is None] == [1]


@pytest.mark.parametrize("kept", [True, False])
def test_what_was_not_acknowledged_may_be_there_or_not(drill: Drill, *, kept: bool) -> None:
    drill.source.refuses, drill.source.keeps_refused = {3: (503, b"no")}, kept
    assert drill.write() == 0
    drill.restored.base = drill.addresses[1]
    code, found = drill.judge()
    assert (code, found["values_acknowledged"], found["values_equal"]) == (0, 806 + 8, 806 + 8)


def test_clean_deletes_both_runs_of_the_journal_and_no_other(written: Drill) -> None:
    written.source.store("drill-00000000", "other")
    argv = ["clean", *written.arguments("source")]
    assert [main(argv), main(argv)] == [0, 0]
    assert list(written.source.runs) == ["other"]
    (written.journal / NAME).write_bytes(b"")
    assert main(argv) == 3


def test_a_second_start_with_the_same_journal_is_refused(written: Drill, capsys: pytest.CaptureFixture[str]) -> None:
    before = (written.journal / NAME).read_bytes()
    assert written.write() == 3
    assert "is not empty" in capsys.readouterr().err
    assert (written.journal / NAME).read_bytes() == before


def test_a_source_that_lets_nobody_in_does_not_use_up_the_directory(drill: Drill) -> None:
    drill.source.answers["/api/login/api_key"] = (401, b"")
    assert drill.write() == 3
    assert not drill.journal.exists()


def test_a_run_of_the_sdk_that_is_not_whole_in_the_source_begins_no_drill(drill: Drill) -> None:
    drill.source.damage = lambda run: run.points["sentinel/k0"].pop()
    assert drill.write() == 3
    journal = drill.read()
    assert (journal.sdk, journal.sent) == (None, ())
    assert drill.judge()[0] == 1


def test_a_timed_run_that_was_never_acknowledged_is_told(drill: Drill) -> None:
    drill.source.refuses = dict.fromkeys(range(1, 20), (503, b"no"))
    assert drill.write() == 1
    code, found = drill.judge()
    assert code == 1
    assert "no value of the timed run was acknowledged before the disaster: nothing was compared" in found["reasons"]


def test_a_run_that_cannot_be_ended_is_told_and_its_journal_is_whole(drill: Drill) -> None:
    drill.source.finishes = False
    assert drill.write() == 1
    assert drill.read().ended


def test_a_signal_before_the_timed_run_ends_the_command(drill: Drill, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr("smoke.drill.sdk_run.record", interrupted)
    assert drill.write() == command.INTERRUPTED
    with pytest.raises(JournalError):
        read(drill.directory)
