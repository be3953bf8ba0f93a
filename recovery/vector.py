"""What Vector tells of itself, as far as it says whether events wait anywhere.

Events of a buffer on disk count as held until the sink has acknowledged them. Its gauge drifts upwards in Vector 0.50
to 0.54, and its totals vanish when nothing moved for five minutes (`expire_metrics_secs`); what components received and
sent never does. So a gauge is not believed against totals that are even, and no sink may have anything in flight: one
that cannot deliver always has.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from prometheus_client.parser import text_string_to_metric_families

from recovery.errors import RecoveryError

if TYPE_CHECKING:
    from collections.abc import Mapping

_UPTIME: Final = "vector_uptime_seconds"
_LIMITS: Final = ("vector_buffer_max_byte_size", "vector_buffer_max_size_bytes")
_GAUGES: Final = ("vector_buffer_events", "vector_buffer_size_events")
"""Of a buffer: names up to 0.57, and later ones."""
_OWN: Final = frozenset({"internal_metrics", "internal_logs", "host_metrics", "static_metrics"})
"""Types of sources through which Vector tells of itself: they never rest."""


class UnreadableError(RecoveryError):
    """The buffer's figures cannot be had now; they may be in a moment."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Figures of one process. where: its address. uptime: seconds.

    held: events of each buffer, None where it tells none. flying: events that a sink took and did not deliver. counts:
    component, total and value, of those that stand still when nobody writes. taken: events that sources took. lost:
    events that were dropped by an error.
    """

    where: str
    uptime: float
    held: Mapping[str, int | None]
    flying: Mapping[str, int]
    counts: tuple[tuple[str, str, int], ...]
    taken: int
    lost: int

    @property
    def rest(self) -> tuple[str, ...]:
        """What is not stored yet, a sentence for each sink; none if all is."""
        held = (f"{name} holds {count} events" for name, count in sorted(self.held.items()) if count)
        flying = (f"{name} has {count} events in flight" for name, count in sorted(self.flying.items()) if count)
        return (*held, *flying)


def parse(where: str, page: str) -> Reading:
    """A page of Vector's internal metrics. Raises UnreadableError if it is none, or shows no buffer on disk."""
    figures: Counter[tuple[str, str, str]] = Counter()
    uptime: float | None = None
    kinds: dict[str, tuple[str, str]] = {}
    sinks = set[str]()
    try:
        samples = [sample for family in text_string_to_metric_families(page) for sample in family.samples]
    except ValueError as error:
        raise UnreadableError(f"{where} is no page of metrics; name the port of Vector's metrics") from error
    for sample in samples:
        labels, name = sample.labels, sample.name
        component = labels.get("component_id", "")
        if name == _UPTIME:
            uptime = sample.value
        elif name in _LIMITS and labels.get("buffer_type", "disk") == "disk":
            sinks.add(component)
        if component and (name in _GAUGES or name.endswith("_events_total")):
            kinds.setdefault(component, (labels.get("component_kind", ""), labels.get("component_type", "")))
            figures[component, "vector_buffer_events" if name in _GAUGES else name, labels.get("intentional", "")] += (
                int(sample.value)
            )
    if uptime is None or not sinks:
        raise UnreadableError(
            f"{where} shows {'no age' if uptime is None else 'no buffer on disk'}, so it is not Vector's, or Vector "
            "has just been started; name the port of the delivery buffer's metrics"
        )
    return _reading(where, uptime, kinds, sinks, figures)


def _reading(
    where: str,
    uptime: float,
    kinds: Mapping[str, tuple[str, str]],
    disks: set[str],
    figures: Mapping[tuple[str, str, str], int],
) -> Reading:
    def total(component: str, name: str) -> int | None:
        found = [value for key, value in figures.items() if key[:2] == (component, f"vector_{name}")]
        return sum(found) if found else None

    sinks = disks | {name for name, (kind, type_) in kinds.items() if (kind, type_) == ("sink", "clickhouse")}
    sources = {name for name, (kind, type_) in kinds.items() if kind == "source" and type_ not in _OWN}
    received, sent, gone = (f"component_{what}_events_total" for what in ("received", "sent", "discarded"))
    return Reading(
        where=where,
        uptime=uptime,
        held={
            name: _held(
                total(name, "buffer_events"),
                total(name, "buffer_received_events_total"),
                total(name, "buffer_sent_events_total"),
                total(name, "buffer_discarded_events_total"),
            )
            for name in sorted(disks)
        },
        flying={
            name: (total(name, received) or 0) - (total(name, sent) or 0) - (total(name, gone) or 0)
            for name in sorted(sinks)
        },
        counts=tuple(
            sorted((name, what, total(name, what) or 0) for name in sinks | sources for what in (received, sent, gone))
        ),
        taken=sum(total(name, received) or 0 for name in sources),
        lost=sum(
            value
            for (_, name, intentional), value in figures.items()
            if name.endswith("_discarded_events_total") and intentional == "false"
        ),
    )


def _held(gauge: int | None, received: int | None, sent: int | None, gone: int | None) -> int | None:
    """Events of one buffer. Totals are exact unless they expired; the gauge may say too much and never too little."""
    if received is None and sent is None:
        return gauge
    difference = (received or 0) - (sent or 0) - (gone or 0)
    if difference < 0:
        # More left than came: the total of what came has expired.
        return -difference if gauge is None else gauge
    return max(gauge or 0, difference) if difference else 0
