"""What a bench found: plain records, written to the report as they are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Group:
    """A rule group. Times in seconds; last, worst: of an evaluation within the steady time; missed: evaluations.

    reach: how far back its longest window looks. A bench that is shorter than that reads less than a real system does.
    """

    name: str
    rules: int
    interval: float
    last: float
    worst: float
    missed: float
    reach: float

    @property
    def ratio(self) -> float:
        """Worst evaluation against the interval; at 1 evaluations are left out."""
        return self.worst / self.interval


@dataclass(frozen=True, kw_only=True)
class Load:
    """A span of time. cpu: seconds of Prometheus per minute. load: average of one minute, of the whole machine."""

    seconds: float
    cpu: float
    load: float
    samples_per_second: float
    head_series: float
    resident_mib: float
    peak_mib: float
    rules: int


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What must be so, or nothing was measured. unhealthy: rules and their errors. teams: that GPUs are counted for."""

    targets_up: int
    scrapes_failed: int
    gpus: int
    gpus_recorded: int
    gpu_series: int
    allocated: int
    teams: tuple[str, ...]
    unhealthy: tuple[str, ...]
    evaluation_failures: float


@dataclass(frozen=True, kw_only=True)
class Scrapes:
    """Seconds, of the fleet's targets: 99th percentiles of a scrape, and of the time between two."""

    duration_p99: float
    interval_p99: float


@dataclass(frozen=True)
class Timed:
    """Latency of a question in milliseconds, median of some runs: at one moment, and over the window of a panel."""

    instant: float
    window: float
    series: int


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A panel by scraped series, and by recorded ones if it has any. total: sums of values, for comparison."""

    title: str
    raw: Timed
    recorded: Timed | None = None
    raw_total: float = 0.0
    recorded_total: float = 0.0
    may_be_empty: bool = False


@dataclass(frozen=True, kw_only=True)
class Net:
    """What recording costs and saves. Costs in CPU seconds per minute, savings in seconds per refresh of all panels.

    all_rules: by difference of two spans. records: the share of it that recording rules have in the time of evaluation.
    """

    all_rules: float
    records: float
    saved_instant: float
    saved_window: float

    def pays_at(self, cost: float, saved: float) -> float | None:
        """Refreshes per minute from which on recording is cheaper; None when nothing is saved."""
        return max(cost, 0.0) / saved if saved > 0 else None


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything. record_share: of the time in which rules are evaluated, 0 to 1. board: our own, by query."""

    nodes: int
    gpus_per_node: int
    fields: tuple[str, ...]
    cores: int
    interval: int
    truth: Truth
    with_rules: Load
    without_rules: Load
    groups: tuple[Group, ...]
    record_share: float
    scrapes: Scrapes
    panels: tuple[Asked, ...]
    rival: tuple[Asked, ...]
    board: tuple[Asked, ...] = ()

    @property
    def net(self) -> Net:
        """Rules' cost and what panels save by them."""
        cost = self.with_rules.cpu - self.without_rules.cpu
        both = [(panel.raw, panel.recorded) for panel in self.panels if panel.recorded is not None]
        return Net(
            all_rules=cost,
            records=cost * self.record_share,
            saved_instant=sum(raw.instant - recorded.instant for raw, recorded in both) / 1000,
            saved_window=sum(raw.window - recorded.window for raw, recorded in both) / 1000,
        )
