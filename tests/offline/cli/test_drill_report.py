"""What people read of a drill says what was measured, and what was not met."""

from __future__ import annotations

from cli import drill_report
from cli.drill_state import State, stamp
from tests.offline.cli.drill_facts import POINT, contract, judgement

DONE = State(
    source="local",
    destroy=True,
    journal="journal",
    began=1_000_000.0,
    phase="judged",
    point=POINT,
    disaster=1_000_100.5,
    spent=1900.0,
    attempts=2,
    seconds={"restore": 61.25},
    verdict=0,
)


def test_moments_are_told_in_utc() -> None:
    assert stamp(1_000_100.5) == "1970-01-12T13:48:20.500Z"


def test_table_has_every_figure_beside_its_aim() -> None:
    judged = judgement() | {"old_key": False, "values_equal": 118, "values_acknowledged": 120, "values_lost": 2}
    found = drill_report.document(DONE, contract(), judged, 0)
    lines = [line.split(maxsplit=1) for line in drill_report.table(found).splitlines() if line]
    shown = drill_report.table(found)
    assert "red (SwanLab of the stack, destroyed)" in shown
    assert f"{POINT} (online)" in shown
    assert "42.5 s, aim 28800 s: met" in shown
    assert "1900.0 s, aim 1800 s: missed, of 2 attempts" in shown
    assert "118 of 120 acknowledged are equal, 2 lost" in shown
    assert "lets in, and NOT with the old key" in shown
    assert ["restore", "61.2 s"] in lines
    assert lines[-1] == ["-", "rto was 1900.0 s, and plumbline:recovery.rto is 1800 s"]


def test_aim_that_is_just_met_is_met() -> None:
    state = State(**{**DONE.__dict__, "spent": 1800.0})
    assert drill_report.document(state, contract(), judgement() | {"rpo_seconds": 28800}, 0)["verdict"] == "green"


def test_document_keeps_what_was_judged() -> None:
    found = drill_report.document(DONE, contract(), judgement(), 3)
    assert found["judged"] == judgement()
    assert found["reasons"] == [
        "make smoke of the source ended with 3 after the drill",
        "rto was 1900.0 s, and plumbline:recovery.rto is 1800 s",
    ]
    assert (found["began"], found["disaster"]) == ("1970-01-12T13:46:40.000Z", "1970-01-12T13:48:20.500Z")
