"""Values in words: the right prefix, digits that count, colours where Grafana changes them."""

from __future__ import annotations

import math

import pytest

from signals.dashboards.model import Good, Limits, Unit
from smoke.drawing.values import Scale, grade, scale, worded


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.875, Unit.RATIO, "87.5 %"),
        (1.0, Unit.RATIO, "100 %"),
        (0.00123, Unit.RATIO, "0.123 %"),
        (1024.0, Unit.COUNT, "1024"),
        (35.04, Unit.COUNT, "35.0"),
        (2_500_000.0, Unit.COUNT, "2.50 M"),
        (1.5 * 1024**3, Unit.BYTES, "1.50 GiB"),
        (1023.0, Unit.BYTES, "1023 B"),
        (2.0 * 1024**2, Unit.BYTES_PER_SECOND, "2 MiB/s"),
        (90.0, Unit.SECONDS, "1.50 min"),
        (0.25, Unit.SECONDS, "250 ms"),
        (0.000012, Unit.SECONDS, "12 µs"),
        (172800.0, Unit.SECONDS, "2 d"),
        (1234.0, Unit.PER_SECOND, "1.23 k/s"),
        (81.25, Unit.CELSIUS, "81.2 °C"),
        (38400.0, Unit.WATTS, "38.4 kW"),
        (0.0, Unit.BYTES, "0 B"),
        (-0.5, Unit.SECONDS, "-500 ms"),
        (0.00000012, Unit.COUNT, "1.20e-07"),
        (1.0, Unit.YES_OR_NO, "yes"),
        (0.0, Unit.YES_OR_NO, "no"),
        (math.nan, Unit.BYTES, "no number"),
        (math.inf, Unit.BYTES, "∞"),
        (-math.inf, Unit.BYTES, "-∞"),
    ],
)
def test_value_is_told_in_its_unit(value: float, unit: Unit, text: str) -> None:
    assert worded(value, unit) == text


def test_decimals_of_the_panel_are_kept() -> None:
    assert worded(0.87512, Unit.RATIO, decimals=2) == "87.51 %"


def test_point_in_time_is_told_from_now() -> None:
    assert worded(1000.0, Unit.TIMESTAMP, now=8200.0) == "2 h ago"
    assert worded(1090.0, Unit.TIMESTAMP, now=1000.0) == "in 1.50 min"


@pytest.mark.parametrize(
    ("unit", "greatest", "expected"),
    [
        (Unit.BYTES, 3.0 * 1024**3, Scale(1024.0**3, "GiB")),
        (Unit.BYTES, 0.0, Scale(1.0, "B")),
        (Unit.SECONDS, 0.0, Scale(1.0, "s")),
        (Unit.SECONDS, 1e-9, Scale(1e-6, "µs")),
        (Unit.RATIO, 0.0, Scale(0.01, "%")),
    ],
)
def test_scale_fits_the_greatest_value(unit: Unit, greatest: float, expected: Scale) -> None:
    assert scale(unit, greatest) == expected


@pytest.mark.parametrize("unit", list(Unit))
def test_every_unit_has_a_scale(unit: Unit) -> None:
    assert scale(unit, 5.0).size > 0


HOT = Limits(warn=80.0, bad=90.0)
PRESENT = Limits(warn=1.0, bad=0.5, good=Good.HIGH)


@pytest.mark.parametrize(
    ("value", "limits", "expected"),
    [
        *((79.9, HOT, "good"), (80.0, HOT, "warn"), (89.9, HOT, "warn"), (90.0, HOT, "bad")),
        *((1.0, PRESENT, "good"), (0.99, PRESENT, "warn"), (0.5, PRESENT, "warn"), (0.49, PRESENT, "bad")),
        *((80.0, Limits(warn=80.0), "warn"), (1e9, Limits(warn=80.0), "warn"), (0.0, None, ""), (math.nan, HOT, "")),
    ],
)
def test_colour_changes_at_the_limit(value: float, limits: Limits | None, expected: str) -> None:
    assert grade(value, limits) == expected
