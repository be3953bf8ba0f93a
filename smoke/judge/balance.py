"""Accounting: what a stage of a pipeline took has gone somewhere, by the counters of the programs themselves.

Counters move on while they are read, and what has been taken is on its way for a while. So the question is asked of
the past: what had been taken `lag` seconds ago must be accounted for now.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from signals.catalogue.victoria_logs import UNCOUNTED, WARNINGS
from smoke.model import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from smoke.access.exposition import Sample

LOGS, SPANS = "log_records", "spans"
SIGNAL: Final = {LOGS: "logs", SPANS: "traces"}
FILTERED: Final = "filtered"
TAIL: Final = "otelcol_processor_tail_sampling_"
DROPPED_ROWS: Final = "vl_rows_dropped_total"
INGESTED_ROWS: Final = "vl_rows_ingested_total"


@dataclass(frozen=True)
class Stage:
    """Counters of one stage. unit: of what is counted. took: what came in. went: outcome → what of it had that outcome.

    lost: outcomes that nobody wants, which are accounted for and red all the same. closed: all of it is counted by the
    same processes, so that what is on its way at any time is what they took and have not accounted for since they run.
    """

    unit: str
    took: float
    went: Mapping[str, float] = field(default_factory=dict)
    lost: Mapping[str, float] = field(default_factory=dict)
    closed: bool = False

    @property
    def under_way(self) -> float:
        """What is on its way; nothing where a queue outlived the process that took what is in it."""
        rest = self.took - sum(self.went.values()) - sum(self.lost.values())
        return max(rest, 0.0) if self.closed else 0.0


@dataclass(frozen=True)
class Reading:
    """Every stage at one time. at: seconds of a clock that only goes forward."""

    at: float
    stages: Mapping[str, Stage]


def relay(samples: list[Sample], item: str) -> Stage:
    """A collector that takes and sends, with no decision in between. item: LOGS or SPANS. samples: of all its pods."""
    filtered = _sum(samples, "otelcol_processor_incoming_items", otel_signal=SIGNAL[item])
    filtered -= _sum(samples, "otelcol_processor_outgoing_items", otel_signal=SIGNAL[item])
    return Stage(
        item.replace("_", " "),
        _sum(samples, f"otelcol_receiver_accepted_{item}"),
        {FILTERED: filtered, "sent": _sum(samples, f"otelcol_exporter_sent_{item}")},
        _failed(samples, item),
        closed=True,
    )


def sampler(samples: list[Sample]) -> Stage:
    """The decisions of the gateways, in traces."""
    decided = f"{TAIL}global_count_traces_sampled"
    return Stage(
        "traces",
        _sum(samples, f"{TAIL}new_trace_id_received"),
        {"kept": _sum(samples, decided, sampled="true"), "not sampled": _sum(samples, decided, sampled="false")},
        {
            "dropped before their decision": _sum(samples, f"{TAIL}sampling_trace_dropped_too_early"),
            "dropped as too large": _sum(samples, f"{TAIL}traces_dropped_too_large"),
        },
        closed=True,
    )


def after_sampler(samples: list[Sample]) -> Stage:
    """Traces that were kept, against the spans of them that were sent: at least one each."""
    kept = _sum(samples, f"{TAIL}global_count_traces_sampled", sampled="true")
    return Stage(
        "kept traces", kept, {"sent spans": _sum(samples, "otelcol_exporter_sent_spans")}, _failed(samples, SPANS)
    )


def stored_logs(gateway: list[Sample], store: list[Sample]) -> Stage:
    """Records that the gateways sent, against the rows that VictoriaLogs took and kept."""
    dropped = {
        f"dropped by VictoriaLogs, {s.labels.get('reason', 'without a reason')}": s.value
        for s in store
        if s.name == DROPPED_ROWS
    }
    # Of the rest its log tells, once for several; they are among the ingested.
    warned = {
        f"dropped by VictoriaLogs, a warning of {s.labels['location']}": s.value
        for s in store
        if s.name == WARNINGS and s.labels.get("level") == "warn" and re.match(UNCOUNTED, s.labels.get("location", ""))
    }
    dropped |= warned
    sent = _sum(gateway, f"otelcol_exporter_sent_{LOGS}")
    return Stage("sent records", sent, {"ingested": _sum(store, INGESTED_ROWS)}, dropped)


def stored_spans(gateway: list[Sample], store: list[Sample]) -> Stage:
    """Spans that the gateways sent, against those that Jaeger's storage took."""
    written = _sum(store, "otelcol_exporter_sent_spans")
    sent = _sum(gateway, "otelcol_exporter_sent_spans")
    return Stage("sent spans", sent, {"written by Jaeger": written}, _failed(store, SPANS))


def balanced(readings: list[Reading], lags: Mapping[str, float], own: Mapping[str, int]) -> list[Problem]:
    """Every stage accounts for what it took, nothing is lost, and our own batch went through.

    readings: oldest first, the first from before the batch. lags: stage → seconds. own: stage → items of the batch.
    """
    first, last = readings[0], readings[-1]
    problems = []
    for name, now in last.stages.items():
        before = first.stages[name]
        past = [reading.stages[name] for reading in readings if reading.at <= last.at - lags[name]]
        if _went_back(before, now):
            problems.append(
                Problem(name, "its counters went back: it was restarted", "counters that go up", terminal=True)
            )
            continue
        problems += _lost(name, before, now)
        problems += _accounted(name, (before, past[-1] if past else before, now), own.get(name, 0))
    return problems


def told(readings: list[Reading]) -> str:
    """One line per stage."""
    first, last = readings[0].stages, readings[-1].stages
    return "\n".join(_line(name, first[name], now) for name, now in last.items())


def _line(name: str, before: Stage, now: Stage) -> str:
    went = [f"{_number(now.went[key] - before.went.get(key, 0.0))} {key}" for key in now.went]
    rest = [f"{_number(stage.under_way)} on their way {when}" for stage, when in ((before, "before"), (now, "now"))]
    return f"{name}: {_number(now.took - before.took)} {now.unit} taken, {' and '.join(went)}; {', '.join(rest)}"


def _went_back(before: Stage, now: Stage) -> bool:
    # What was filtered is a difference of two counters, and may be off for as long as an item is between them.
    sure = [key for key in now.went if key != FILTERED]
    return now.took < before.took or any(now.went[key] < before.went.get(key, 0.0) for key in sure)


def _lost(name: str, before: Stage, now: Stage) -> list[Problem]:
    return [
        Problem(f"{name}, {outcome}", f"{_number(grown)} {now.unit}", "none", terminal=True)
        for outcome in now.lost
        if (grown := now.lost[outcome] - before.lost.get(outcome, 0.0)) > 0
    ]


def _accounted(name: str, stages: tuple[Stage, Stage, Stage], own: int) -> list[Problem]:
    """stages: before the batch, `lag` seconds ago, and now."""
    before, past, now = stages
    took = past.took - before.took
    if took < own:
        seen = f"{_number(now.took - before.took)} {now.unit} taken"
        return [Problem(name, seen, f"at least the {own} of this check, for as long as they may be on their way")]
    took += before.under_way
    went = sum(now.went[key] - before.went.get(key, 0.0) for key in now.went)
    went += sum(now.lost[key] - before.lost.get(key, 0.0) for key in now.lost)
    if went >= took:
        return []
    seen = f"{_number(took)} {now.unit} taken or on their way before, {_number(went)} accounted for"
    return [Problem(name, seen, f"{_number(took)} accounted for: {', '.join(now.went)}")]


def _failed(samples: list[Sample], item: str) -> dict[str, float]:
    """Both are absent until they happen. A failure to send counts here once it is final, so it is a loss."""
    return {
        "send failed": _sum(samples, f"otelcol_exporter_send_failed_{item}"),
        "no room in the queue": _sum(samples, f"otelcol_exporter_enqueue_failed_{item}"),
    }


def _sum(samples: list[Sample], name: str, **labels: str) -> float:
    """Collectors write counters without `_total`, Jaeger with it."""
    names = (name, f"{name}_total")
    return sum(s.value for s in samples if s.name in names and labels.items() <= s.labels.items())


def _number(value: float) -> str:
    return f"{value:.0f}"
