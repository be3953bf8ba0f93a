"""What comes from outside stays text on every kind of paper, and holds no secret."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from smoke.run_evidence.facts import Finding, Unseen
from smoke.run_evidence.main import seconds_of, step_of
from smoke.run_evidence.paper import file_name, write
from smoke.run_evidence.report import Report, Table
from smoke.usage import UsageError

if TYPE_CHECKING:
    from pathlib import Path

EVIL = '<img src=x onerror="alert(1)"> | **bold** [a](http://x) password=hunter2hunter2\n# head'


def report(text: str) -> Report:
    return Report(
        "step",
        "local",
        text,
        "2026-01-01T00:00:00.000Z",
        (("pods", text),),
        (Finding("alert", text, 1, {"labels": {"a": text}, "authorization": text}),),
        (Unseen(text, text),),
        (text,),
        (Table(text, ("a",), ((text,),), text),),
        {"run": text},
    )


def test_note_below_a_table_is_no_row_of_it(tmp_path: Path) -> None:
    made = replace(report("x"), tables=(Table("Runs", ("run",), (("r-42",),), "All are shown."),))
    ticket = write(made, tmp_path, "evidence-x")[2].read_text()
    assert "| r-42 |\n\nAll are shown.\n" in ticket


def test_text_from_outside_is_escaped_and_redacted_everywhere(tmp_path: Path) -> None:
    page, document, ticket = (path.read_text() for path in write(report(EVIL), tmp_path, "evidence-x"))
    assert "<img" not in page
    assert "&lt;img" in page
    assert "hunter2" not in page + document + ticket
    assert json.loads(document)["run"].startswith("<img src=x")
    assert "\n# head" not in ticket
    assert "\\<img" in ticket
    assert "\\*\\*bold" in ticket
    rows = [line for line in ticket.splitlines() if line.startswith("| ")]
    assert all(line.replace("\\|", "").count("|") == 2 for line in rows)


def test_nothing_is_left_of_a_page_that_was_there(tmp_path: Path) -> None:
    write(report("first"), tmp_path, "evidence-x")
    write(report("second"), tmp_path, "evidence-x")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["evidence-x.html", "evidence-x.json", "evidence-x.md"]
    assert "first" not in (tmp_path / "evidence-x.html").read_text()


@pytest.mark.parametrize(
    ("parts", "name"), [(("r-42", "40"), "evidence-r-42-40"), (("../../etc/x y",), "evidence-.._.._etc_x_y")]
)
def test_run_makes_no_path(parts: tuple[str, ...], name: str) -> None:
    assert file_name(*parts) == name


@pytest.mark.parametrize(("text", "seconds"), [("60s", 60), ("30m", 1800), ("24h", 86400), ("7d", 604800)])
def test_lengths_of_time(text: str, seconds: float) -> None:
    assert seconds_of(text, "WINDOW") == seconds


@pytest.mark.parametrize("text", ["", "60", "1.5h", "-1s", "1w"])
def test_wrong_length_of_time_is_named(text: str) -> None:
    with pytest.raises(UsageError, match="WINDOW is"):
        seconds_of(text, "WINDOW")


def test_steps() -> None:
    assert (step_of("all"), step_of("0"), step_of("40")) == (None, 0, 40)
    with pytest.raises(UsageError, match=r"STEP is '4\.0'"):
        step_of("4.0")
