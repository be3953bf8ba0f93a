"""Marks in time: one where a stretch of values begins, however long it lasts."""

from __future__ import annotations

from signals.dashboards.model import Annotation
from smoke.boards import Mark, marks
from tests.offline.smoke.report.records import START, STEP, series

ANNOTATION = Annotation(title="Alerts", expr="ALERTS", text="{{severity}} {{alertname}} {{gone}}.", colour="red")


def test_stretch_of_values_is_one_mark_at_its_beginning() -> None:
    found = marks(ANNOTATION, series([None, 1, 1, 1], severity="P1", alertname="{{x}}"), STEP)
    assert found == [Mark("Alerts", "P1 {{x}} .", "red", START + STEP)]


def test_what_begins_anew_is_another_mark() -> None:
    found = marks(ANNOTATION, series([1, 1, None, 1, None, None, 1]), STEP)
    assert [(mark.seconds - START) / STEP for mark in found] == [0, 3, 6]


def test_nothing_is_no_mark() -> None:
    assert marks(ANNOTATION, series([]), STEP) == []
