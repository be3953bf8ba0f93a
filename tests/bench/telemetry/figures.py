"""What the bench of telemetry found: plain records, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass

SPANS, RECORDS, LINES = "spans", "log records", "lines"


@dataclass(frozen=True, kw_only=True)
class Throughput:
    """As much as a collector takes. count: items. seconds: until it had taken all. delivered: until the last of those
    that it was to deliver was at the sink. cpu: processor seconds of the collector until then. peak: MiB.

    refused: requests that had to be sent again. kept: items at the sink. again: items that came more than once.
    """

    count: int
    seconds: float
    delivered: float
    cpu: float
    peak: float
    refused: int
    kept: int
    again: int
    problems: tuple[str, ...] = ()

    @property
    def per_second(self) -> float:
        """Items by the clock."""
        return self.count / self.seconds

    @property
    def per_cpu_second(self) -> float:
        """Items by the collector's processor time: what one core takes."""
        return self.count / self.cpu if self.cpu else float("nan")


@dataclass(frozen=True, kw_only=True)
class Latency:
    """From sending to arrival at the sink, at a fixed rate, in seconds. count: traces, records or lines."""

    count: int
    median: float
    p99: float
    most: float
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One signal through one side. side: see sides.py."""

    collector: str
    signal: str
    side: str
    throughput: Throughput
    latency: Latency


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """The configuration of the stack by another side. added: seconds of the median, and of the 99th percentile."""

    signal: str
    beside: str
    per_second: float
    per_cpu_second: float
    peak: float
    added_median: float
    added_p99: float


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything. wait: seconds of tail sampling once a root is there, taken off the latency of spans as rendered."""

    cores: int
    load: tuple[float, float]
    seconds: float
    wait: int
    memory: dict[str, int]
    measured: tuple[Measured, ...]


def latency(seconds: list[float], problems: tuple[str, ...] = ()) -> Latency:
    """Of what arrived."""
    ordered = sorted(seconds) or [float("nan")]
    last = len(ordered) - 1
    return Latency(
        count=len(seconds),
        median=ordered[round(last * 0.5)],
        p99=ordered[round(last * 0.99)],
        most=ordered[last],
        problems=problems,
    )


def ratios(report: Report, ours: str) -> tuple[Ratio, ...]:
    """Every signal of `ours` by each of the other sides."""
    of = {(one.signal, one.side): one for one in report.measured}
    return tuple(
        _ratio(of[signal, ours], other) for (signal, side), other in of.items() if side != ours and (signal, ours) in of
    )


def _ratio(ours: Measured, other: Measured) -> Ratio:
    mine, theirs = ours.throughput, other.throughput
    return Ratio(
        signal=ours.signal,
        beside=other.side,
        per_second=mine.per_second / theirs.per_second,
        per_cpu_second=mine.per_cpu_second / theirs.per_cpu_second,
        peak=mine.peak / theirs.peak,
        added_median=ours.latency.median - other.latency.median,
        added_p99=ours.latency.p99 - other.latency.p99,
    )
