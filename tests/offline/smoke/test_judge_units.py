"""Numbers as Kubernetes and Prometheus write them."""

from __future__ import annotations

import pytest

from smoke.judge.units import duration, prometheus_bytes, quantity, timestamp


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("10Gi", 10 * 1024**3), ("10G", 10**10), ("1.5Ki", 1536), ("500m", 0.5), ("7", 7), ("3k", 3000)),
        *(("+4Gi", 4 * 1024**3), (".5Gi", 512 * 1024**2), ("5.Ki", 5120), ("-1", -1), ("0", 0)),
        *(("4e9", 4e9), ("1E3", 1000), ("1e10", 1e10), ("25e-1", 2.5), ("1e+3", 1000), ("1E", 1e18), ("2Ei", 2**61)),
        *(("100m", 0.1), ("100u", 1e-4), ("100n", 1e-7), ("1e400", float("inf"))),
    ],
)
def test_quantities(text: str, value: float) -> None:
    assert quantity(text) == value


@pytest.mark.parametrize("text", ["10 GB", "", ".", "Gi", "1e", "1e3Gi", "1K", "1 ", "7\n"])
def test_malformed_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a quantity"):
        quantity(text)


def test_units_of_prometheus() -> None:
    assert (duration("1m30s"), duration("1d"), duration("500ms"), duration("0")) == (90, 86400, 0.5, 0)
    assert (prometheus_bytes("8GB"), prometheus_bytes("8GiB"), prometheus_bytes("5B")) == (8 << 30, 8 << 30, 5)
    for wrong in ("", "1x", "m", "1m 3s"):
        with pytest.raises(ValueError, match="not a duration"):
            duration(wrong)


def test_nanoseconds_and_the_zero_time_are_read() -> None:
    assert timestamp("2026-01-01T00:00:00.123456789Z") == pytest.approx(timestamp("2026-01-01T00:00:00Z") + 0.123456)
    assert timestamp("0001-01-01T00:00:00Z") < 0
