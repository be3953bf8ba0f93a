"""What was lost within a time: a count that sees the first loss, and is zero only where somebody answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from signals.catalogue.jaeger import PRODUCER as JAEGER
from signals.catalogue.otel_collector import AGENT, GATEWAY, ITEMS
from signals.catalogue.span_metrics import PRODUCER as SPANS
from signals.catalogue.victoria_logs import PRODUCER as LOGS
from signals.dashboards.variables import chosen

if TYPE_CHECKING:
    from collections.abc import Collection

PARTS: Final = (AGENT.job, GATEWAY.job, SPANS.job, LOGS.job, JAEGER.job)
COLLECTORS: Final = f'job=~"{AGENT.job}|{GATEWAY.job}"'
_KINDS: Final = ("receiver_failed", "exporter_send_failed", "exporter_enqueue_failed")
"""Could not be read; refused for ever; did not fit a queue."""
_IN_STORES: Final[dict[str, tuple[tuple[str, str, str], ...]]] = {
    "traces": ((JAEGER.job, "otelcol_exporter_send_failed_spans_total", ""),),
    "logs": (
        (LOGS.job, "vl_rows_dropped_total", 'reason!="debug"'),
        (LOGS.job, "vl_too_long_lines_skipped_total", ""),
    ),
    "metrics": (),
}
"""Signal → job, counter and further matchers of what a store had answered for, and threw away."""


def lost(signal: str, window: str, by: str = "") -> str:
    """By collectors. window: a duration. by: grouping of the sums, ` by (cluster, job)`; empty for one number."""
    return _together(_of_collectors(signal), window, by, COLLECTORS)


def lost_on_the_way(signal: str, window: str, jobs: Collection[str]) -> str:
    """By collectors and by the stack's own stores, as one number.

    A loss that was counted is told whoever is dead; none is said only while a target of each job answers.
    """
    stores = [(job, counter) for job, counter in _of_stores(signal) if job in jobs]
    counters = [*_of_collectors(signal), *(counter for _, counter in stores)]
    own = (f'job="{job}"' for job in dict.fromkeys(job for job, _ in stores))
    none = " + ".join(zero("", matcher) for matcher in (COLLECTORS, *own))
    return f"{_sum(counters, window)}\nor ({none})"


def lost_in_store(signal: str, window: str, jobs: Collection[str], by: str = "") -> dict[str, str]:
    """Job → by this store of the stack's own; none where the stack has none."""
    found: dict[str, list[str]] = {}
    for job, counter in _of_stores(signal):
        if job in jobs:
            found.setdefault(job, []).append(counter)
    return {job: _together(counters, window, by, f'job="{job}"') for job, counters in found.items()}


def _of_collectors(signal: str) -> list[str]:
    return [chosen(f"otelcol_{kind}_{ITEMS[signal]}", COLLECTORS) for kind in _KINDS]


def _of_stores(signal: str) -> list[tuple[str, str]]:
    """Job and counter."""
    return [
        (job, chosen(counter, f'job="{job}"{", " + more if more else ""}')) for job, counter, more in _IN_STORES[signal]
    ]


def grown(counter: str, window: str) -> str:
    """How much each series has grown within the window, with what one that is new had already when it was first seen.

    `increase` knows nothing of that, and a loss is counted from the first one on: it would be missed.
    """
    return f"max_over_time({counter}[{window}])\n  unless {counter} offset {window}\n  or increase({counter}[{window}])"


def zero(by: str, jobs: str) -> str:
    """Zero where a target answers, and nothing where none does: then nobody knows. jobs: matcher."""
    return f"0 * (sum{by} ({chosen('up', jobs)}) > 0)"


def _together(counters: list[str], window: str, by: str, jobs: str) -> str:
    return f"{_sum(counters, window, by)}\nor {zero(by, jobs)}"


def _sum(counters: list[str], window: str, by: str = "") -> str:
    """What has not grown is left out, or its zero would outlive whoever counts."""
    each = (
        f'label_replace((\n  {grown(one, window)}\n  ) > 0, "counted", "{place}", "", "")'
        for place, one in enumerate(counters)
    )
    joined = "\n  or ".join(each)
    return f"sum{by} (\n  {joined}\n)"
