"""A step as facts, tables and records for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from smoke.run_evidence.judge_alerts import OWN
from smoke.run_evidence.judge_board import VALUES
from smoke.run_evidence.read_logs import stamp
from smoke.run_evidence.report import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smoke.run_evidence.facts import Line, Span, StepRecord
    from smoke.run_evidence.judge_alerts import Alert
    from smoke.run_evidence.judge_board import BoardEvidence
    from smoke.run_evidence.judge_step import Taken
    from smoke.run_evidence.whose import Whose

TRACES_NAMED: Final = 8


def facts(step: Taken, window: Span, margin: float, run: Whose) -> tuple[tuple[str, str], ...]:
    """When, where and who."""
    again = f"; it was taken {step.attempts} times, this is the last" if step.attempts > 1 else ""
    sources = " and ".join(sorted({one.source for one in step.records}))
    return (
        ("step", f"{stamp(step.span.begin)} to {stamp(step.span.end)}, {step.seconds:.2f} s, by {sources}{again}"),
        ("window", f"{stamp(window.begin)} to {stamp(window.end)}: the step and {margin:.0f} s on both sides"),
        ("ranks", str(len(step.records))),
        ("pods", ", ".join(f"{pod} on {run.nodes.get(pod.key, 'an unknown node')}" for pod in run.pods) or "none"),
        ("GPUs", ", ".join(map(str, run.boards)) or "none"),
    )


def looked(boards: Sequence[BoardEvidence], window: Span, step: Taken, *, alerts: bool) -> tuple[str, ...]:
    """What was looked at: nothing stands here that was not."""
    heat, power, scraped = (
        sum(one.thermal is not None for one in boards),
        sum(one.power is not None for one in boards),
        sum(one.scraped for one in boards),
    )
    return (
        f"the time of the step on {len(step.records)} ranks: {step.seconds:.2f} s",
        *([f"throttling by heat of {heat} GPUs, by power of {power}, in that time"] if heat or power else []),
        *([f"XIDs, clock events, temperature, power, clocks and use of {scraped} GPUs"] if scraped else []),
        *([f"alerts about its pods, their nodes and GPUs, in {window.seconds:.0f} s around it"] if alerts else []),
    )


def ranks(step: Taken, told: Sequence[str]) -> Table:
    """Times of each rank. told: contradictions."""
    names = sorted({name for one in step.records for name in one.parts})
    rows = (
        (
            one.rank or "unknown",
            one.pod,
            f"{one.seconds:.3f}",
            *(f"{one.parts[name]:.3f}" if name in one.parts else "" for name in names),
        )
        for one in step.records
    )
    note = f"Two sources contradict each other: {'; '.join(told)}." if told else ""
    return Table("Ranks, in seconds", ("rank", "pod", "step", *names), tuple(rows), note)


def gpus(boards: Sequence[BoardEvidence], run: Whose) -> Table:
    """What was held back, and values beside those of before."""
    rows = []
    for one in boards:
        values = (
            f"{value.least:.4g} to {value.most:.4g} ({_before(value.before)})"
            if value.least is not None and value.most is not None
            else "not known"
            for value in one.values
        )
        held = (f"{x.least:.1f} to {x.most:.1f}" if x else "not known" for x in (one.thermal, one.power))
        standing = ", ".join(map(str, one.standing)) or "none"
        rows.append((str(one.board), run.holders(one.board), *held, *values, standing))
    head = ("GPU", "held by", "heat, s", "power, s", *VALUES.values(), "last XID")
    title = "GPUs of the run: in the step, and the run's median before"
    return Table(title, head, tuple(rows), "" if rows else "No GPU was looked at.")


def alerts_seen(alerts: Sequence[tuple[Alert, str]] | None) -> Table:
    """None: they could not be looked at."""
    rows = (
        (
            one.name,
            "fired" if one.fired else "pending",
            how,
            stamp(one.span.begin),
            stamp(one.span.end),
            ", ".join(f"{key}={value}" for key, value in sorted(one.labels.items()) if key not in OWN),
        )
        for one, how in alerts or []
    )
    silence = "They could not be looked at." if alerts is None else "" if alerts else "None."
    head = ("alert", "state", "about", "from", "to", "labels")
    return Table("Alerts in the window", head, tuple(rows), silence)


def traces(records: Sequence[StepRecord]) -> Table:
    """Those that were kept."""
    seen = {one.trace_id: one for one in records if one.source == "traces"}
    rows = ((one.trace_id, one.rank, stamp(one.span.begin), f"{one.seconds:.3f}") for one in seen.values())
    note = f"{min(len(seen), TRACES_NAMED)} of {len(seen)} are shown." if seen else "None."
    return Table("Traces of the step", ("trace", "rank", "began", "seconds"), tuple(rows)[:TRACES_NAMED], note)


def lines(shown: tuple[Sequence[Line], int] | None) -> Table:
    """Lines and how many there are. None: they could not be looked at."""
    found, count = shown or ((), 0)
    rows = ((stamp(one.at), one.level, one.pod, one.text) for one in found)
    note = "They could not be looked at." if shown is None else f"{len(found)} of {count} are shown."
    return Table("Lines of the window", ("time", "level", "pod", "text"), tuple(rows), note)


def data(
    name: str, step: Taken, window: Span, run: Whose, boards: Sequence[BoardEvidence], told: Sequence[str]
) -> dict[str, Any]:
    """Records for machines. name: of the run."""
    return {
        "run": name,
        "step": {
            "number": step.step,
            "begin": stamp(step.span.begin),
            "end": stamp(step.span.end),
            "seconds": round(step.seconds, 6),
            "attempts": step.attempts,
        },
        "window": {"begin": stamp(window.begin), "end": stamp(window.end)},
        "pods": [{"namespace": one.namespace, "pod": one.name, "node": run.nodes.get(one.key, "")} for one in run.pods],
        "gpus": [
            {
                "node": one.board.node,
                "uuid": one.board.uuid,
                "gpu": one.board.index,
                "model": one.board.model,
                "instance": one.instance,
                "pod": "/".join(one.pod),
            }
            for one in run.devices
        ],
        "boards": [_board(one) for one in boards],
        "contradictions": list(told),
    }


def _board(one: BoardEvidence) -> dict[str, Any]:
    """Seconds of throttling as least and most, null where they are not known."""
    held = {
        name: [round(found.least, 3), round(found.most, 3)] if found else None
        for name, found in (("thermal_seconds", one.thermal), ("power_seconds", one.power))
    }
    return {
        "uuid": one.board.uuid,
        "node": one.board.node,
        **held,
        "xids": [event.code for event in one.xids],
        "clock_events": list(one.events),
        "values": {value.name: [value.least, value.most, value.before] for value in one.values},
    }


def _before(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"
