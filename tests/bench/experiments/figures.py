"""What the bench of experiments found: plain records, and what follows from them."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Rate:
    """How many, in how many seconds."""

    count: int
    seconds: float

    @property
    def per_second(self) -> float:
        """0 when nothing was done."""
        return self.count / self.seconds if self.count else 0.0


@dataclass(frozen=True)
class Latency:
    """Milliseconds of single questions, in the order in which they were asked."""

    samples: tuple[float, ...]

    def at(self, share: float) -> float:
        """The smallest sample that so large a share of them does not exceed (nearest rank); NaN without samples."""
        if not self.samples:
            return math.nan
        return sorted(self.samples)[max(0, math.ceil(share * len(self.samples)) - 1)]


@dataclass(frozen=True)
class Both:
    """The same asked of SwanLab and of its store, in turn."""

    ours: Latency
    store: Latency


@dataclass(frozen=True, kw_only=True)
class Stored:
    """Points on their way. Times in seconds.

    wanted: what was to be sent. acknowledged: what SwanLab said that it has. intact: read back as CSV with its value;
    rows: lines of those CSV files. sending: from the first point to the last acknowledgement. lag: from there until
    ClickHouse counted all of them.
    """

    name: str
    wanted: int
    acknowledged: int
    intact: int
    rows: int
    sending: float
    lag: float

    @property
    def taken(self) -> float:
        """Points per second, acknowledged."""
        return Rate(self.acknowledged, self.sending).per_second

    @property
    def end_to_end(self) -> float:
        """Points per second, from the first that is sent until the last can be read."""
        return Rate(self.acknowledged, self.sending + self.lag).per_second


@dataclass(frozen=True)
class Sender:
    """The SDK's own share, in seconds of `sending`. calls: until log() had returned for all. computed: CPU time."""

    calls: float
    computed: float


@dataclass(frozen=True, kw_only=True)
class Inserted:
    """Direct inserts. one: batch after batch, as the buffer does. many: threads side by side. rows: counted after."""

    one: Rate
    many: Rate
    rows: int


@dataclass(frozen=True, kw_only=True)
class Media:
    """Objects. put, get: rates with threads side by side, first SwanLab's, then the store's. latency: one by one.

    wrong: objects that came back with other bytes.
    """

    objects: int
    size: int
    put: tuple[Rate, Rate]
    get: tuple[Rate, Rate]
    latency: Both
    wrong: int


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A part of the bench. busy: share of all cores that did something, 0 to 1, by whatever program."""

    name: str
    seconds: float
    busy: float


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything. series: length of the one whose latency is measured. load: averages of a minute, before and after.

    left: what could not be removed.
    """

    cores: int
    threads: int
    load: tuple[float, float]
    sdk: Stored
    sender: Sender
    raw: Stored
    inserted: Inserted
    series: int
    export: Both
    summaries: Both
    media: Media
    phases: tuple[Phase, ...]
    left: tuple[str, ...] = ()
