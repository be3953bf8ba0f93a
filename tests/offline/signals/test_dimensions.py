"""Units of expressions: by hand, and of every rule that is recorded."""

from __future__ import annotations

from fractions import Fraction

import pytest

from signals.catalogue import PRODUCERS
from signals.rules import groups
from signals.rules.model import Record
from tests.offline.signals.dimensions import (
    BY_A_NUMBER,
    BYTES,
    CELSIUS,
    COUNT,
    PER_SECOND,
    RATIO,
    SECONDS,
    WATTS,
    Dimension,
    Unlike,
    dimension,
    dimensions,
)
from tests.offline.signals.promtool_cases import INPUTS

RULES = [group for file in groups(INPUTS).values() for group in file]
KNOWN = {
    "b_bytes": BYTES,
    "f_mib": Dimension(Fraction(2**20), BYTES.bases),
    "ns_total": Dimension(Fraction(1, 10**9), SECONDS.bases),
    "n_total": COUNT,
    "t_celsius": CELSIUS,
    "util_percent": Dimension(Fraction(1, 100), ratio=True),
    "mj_total": Dimension(Fraction(1, 1000), (("joule", 1),)),
    "share": RATIO,
    "lat_seconds_bucket": SECONDS,
}


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("sum by (a) (b_bytes)", BYTES),
        ("rate(n_total[5m])", PER_SECOND),
        ("increase(n_total[5m])", COUNT),
        ("rate(ns_total[5m]) / 1e9", RATIO),
        ("rate(mj_total[5m]) / 1000", WATTS),
        ("util_percent / 100", RATIO),
        ("b_bytes / on (a) b_bytes", RATIO),
        ("f_mib * 1048576", BYTES),
        ("count(b_bytes)", COUNT),
        ("share * n_total", COUNT),
        ("sum(share * n_total) / (sum(n_total) > 0)", RATIO),
        ("avg(share)", RATIO),
        ("share or 0 * share", RATIO),
        ("histogram_quantile(0.9, sum by (le) (rate(lat_seconds_bucket[5m])))", SECONDS),
        ("sum(share)", COUNT),
        ("time() - 0 * t_celsius > 3", None),
        ("b_bytes - t_celsius", None),
        ("unknown", None),
    ],
)
def test_units_by_hand(expression: str, wanted: Dimension | None) -> None:
    if wanted is None:
        with pytest.raises(Unlike):
            dimension(expression, KNOWN)
    else:
        assert dimension(expression, KNOWN) == wanted


def test_every_record_is_in_the_unit_that_its_name_says() -> None:
    known = dimensions(RULES, PRODUCERS)
    records = {rule.record for group in RULES for rule in group.rules if isinstance(rule, Record)}
    wrong = {name: known.get(name) for name in sorted(records) if not _named(name, known.get(name))}
    assert wrong == {}


def test_what_is_divided_by_a_number_of_the_plan_has_no_unit_that_could_be_wrong() -> None:
    known = dimensions(RULES, PRODUCERS)
    records = [rule for group in RULES for rule in group.rules if isinstance(rule, Record)]
    found = [dimension(rule.expr, known) for rule in records if rule.record in BY_A_NUMBER]
    assert len(found) >= len(BY_A_NUMBER)
    assert {one.bases for one in found} == {()}


def _named(name: str, found: Dimension | None) -> bool:
    """Whether a record is what `level:metric:operation` says."""
    _, metric, operation = name.split(":")
    rate = operation.startswith("rate")
    for word, unit in UNITS.items():
        if metric.endswith(word) or operation == word:
            return found == (unit.times(SECONDS, -1) if rate else unit)
    if operation.startswith("ratio"):
        return found == RATIO
    return found is not None and not found.bases if not rate else found == PER_SECOND


UNITS = {
    "seconds": SECONDS,
    "bytes": BYTES,
    "celsius": CELSIUS,
    "watts": WATTS,
    "joules": Dimension(bases=(("joule", 1),)),
}
