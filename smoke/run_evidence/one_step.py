"""A step of a run, and all that the infrastructure did meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from smoke.run_evidence import judge_alerts, judge_step, step_paper, whose
from smoke.run_evidence.facts import Finding, Span
from smoke.run_evidence.judge_board import METRICS, judge
from smoke.run_evidence.judge_throttle import WIDEST
from smoke.run_evidence.looking import BlindError, UnknownError
from smoke.run_evidence.near import near_runs
from smoke.run_evidence.read_logs import stamp
from smoke.run_evidence.report import Report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smoke.run_evidence.facts import Pod, StepRecord
    from smoke.run_evidence.judge_alerts import Alert
    from smoke.run_evidence.judge_board import BoardEvidence
    from smoke.run_evidence.judge_step import Taken
    from smoke.run_evidence.looking import Looking
    from smoke.run_evidence.read_logs import Logs
    from smoke.run_evidence.read_traces import Traces
    from smoke.run_evidence.whose import Whose

BEFORE: Final = 3600.0
"""Seconds of the run before the step that its medians are taken of at most."""
EVALUATED: Final = 120.0
"""Seconds between two samples of one alert beyond which it was gone meanwhile: rules run every minute at most."""
TRACES_NAMED: Final = 8


@dataclass(frozen=True)
class Asked:
    """margin: seconds on both sides of the step in which alerts, XIDs and lines count. span: in which is searched."""

    stack: str
    run: str
    step: int
    margin: float
    span: Span


def report(look: Looking, asked: Asked) -> Report:
    """Raises UnknownError for a run or a step that nobody knows, BlindError where that cannot even be told."""
    logs, traces = look.logs(asked.run, asked.span), look.traces(asked.run, asked.span)
    records = _records(look, asked, logs, traces)
    pods = look.ask("pods of the run, by their identity", lambda: look.metrics.pods(asked.span, asked.run)) or []
    step = judge_step.taken(records)
    if step is None:
        raise _nothing(look, asked, logs, pods, seen=bool(logs or traces))
    window = step.span.wider(asked.margin)
    if window.end > look.now:
        look.miss("the end of the window", f"it lies ahead: ask again after {stamp(window.end)}")
    run = whose.at(look, pods, logs, window, every=15)
    boards = _boards(look, run, step.span, window)
    alerts = _alerts(look, run, window)
    findings = [one for evidence in boards for one in evidence.findings]
    findings += [_alert_finding(alert, how) for alert, how in alerts or [] if judge_alerts.weighs(alert, how)]
    findings += _slowness(look, step, logs)
    told = judge_step.contradictions(records, step)
    shown = look.ask("lines of the window", lambda: logs.lines(window), essential=False) if logs else None
    return Report(
        "step",
        asked.stack,
        f"Step {step.step} of run {asked.run}",
        stamp(look.now),
        step_paper.facts(step, window, asked.margin, run),
        tuple(sorted(findings, key=lambda one: (-one.weight, one.text))),
        (*look.unseen, *(one for evidence in boards for one in evidence.unseen)),
        step_paper.looked(boards, window, step, alerts=alerts is not None),
        (
            step_paper.ranks(step, told),
            step_paper.gpus(boards, run),
            step_paper.alerts_seen(alerts),
            step_paper.traces(records),
            step_paper.lines(shown),
        ),
        step_paper.data(asked.run, step, window, run, boards, told),
    )


def _records(look: Looking, asked: Asked, logs: Logs | None, traces: Traces | None) -> list[StepRecord]:
    """Lines first: they name the traces."""
    lines = (look.ask("lines of the step", lambda: logs.step(asked.step), essential=False) or []) if logs else []
    if traces is None:
        return lines
    ids = [one.trace_id for one in sorted(lines, key=lambda one: -one.end) if one.trace_id]
    if ids:
        kept = look.ask("traces of the step", lambda: traces.by_id(ids, asked.step), essential=False)
    else:
        kept = look.ask("traces of the step", lambda: traces.by_tags(asked.step), essential=False)
    if kept == []:
        look.miss("traces of the step", "none was kept: sampling keeps some, and all that are slow", essential=False)
    return [*lines, *(kept or [])]


def _nothing(look: Looking, asked: Asked, logs: Logs | None, pods: Sequence[Pod], *, seen: bool) -> Exception:
    """Why there is no step to speak of."""
    if not seen or any(one.essential or one.what == "lines of the step" for one in look.unseen):
        why = "; ".join(f"{one.what}: {one.why}" for one in look.unseen)
        return BlindError(f"when step {asked.step} of run {asked.run} was cannot be told: {why}")
    if logs is None:
        return BlindError(
            f"when step {asked.step} of run {asked.run} was cannot be told: no trace of it was kept, and this stack "
            "has no store of logs that can be asked"
        )
    steps = look.ask("steps of the run", logs.steps)
    if steps:
        return UnknownError(
            f"run {asked.run} has no step {asked.step} that it logged", [f"steps {steps[0]} to {steps[1]}"]
        )
    if pods and max(pod.life.end for pod in pods) < look.logs_since:
        return BlindError(f"lines of run {asked.run} are gone: logs are kept since {stamp(look.logs_since)}")
    if pods:
        return UnknownError(
            f"run {asked.run} has pods ({', '.join(map(str, pods[:4]))}), and logged no step with its time",
            ["the keys that it must log, in docs/evidence.md"],
        )
    wrote = asked.run in (look.ask("which runs wrote lines", logs.runs, essential=False) or [])
    since = f"there is no run {asked.run} since {stamp(asked.span.begin)}"
    if wrote:
        since = f"run {asked.run} wrote lines, none with a step and its time, and no pod has its label"
    return UnknownError(since, near_runs(look, asked.run, asked.span, logs))


def _boards(look: Looking, run: Whose, step: Span, window: Span) -> list[BoardEvidence]:
    first = min((pod.life.begin for pod in run.pods), default=step.begin)
    since = max(first, step.begin - BEFORE)
    span = Span(min(since, window.begin) - WIDEST, window.end + WIDEST)
    samples = look.ask("samples of its GPUs", lambda: look.metrics.samples(run.boards, METRICS, span))
    if samples is None:
        return []
    return [judge(board, series, step, window, since) for board, series in samples.items()]


def _alerts(look: Looking, run: Whose, window: Span) -> list[tuple[Alert, str]] | None:
    """Those that concern the run, and how; None where they could not be looked at."""
    if not look.ask("whether rules were evaluated", lambda: look.metrics.remembers(window)):
        look.miss("alerts", f"no rule was evaluated in the window; Prometheus keeps {_keeps(look)}")
        return None
    series = look.ask("alerts of the window", lambda: look.metrics.alerts(window))
    if series is None:
        return None
    mine = judge_alerts.scope(run.pods, run.devices, run.nodes)
    found = judge_alerts.alerts(series, EVALUATED)
    return [(alert, how) for alert in found if (how := judge_alerts.concerns(alert, mine, whose.SLACK))]


def _keeps(look: Looking) -> str:
    return look.ask("how long Prometheus keeps samples", look.metrics.keeps, essential=False) or "samples for a time"


def _alert_finding(alert: Alert, how: str) -> Finding:
    state, weight = ("fired", 70 if how == "node" else 85) if alert.fired else ("was pending", 40)
    about = {"alert": alert.name, "concerns": how, "fired": alert.fired, "labels": dict(alert.labels)}
    return Finding("alert", f"alert {alert} {state}, about the run's {how}", weight, about)


def _slowness(look: Looking, step: Taken, logs: Logs | None) -> list[Finding]:
    found = look.ask("other steps of the run", lambda: logs.beside(step.step), essential=False) if logs else None
    times, usual = found or ({}, {})
    other = judge_step.beside(step.step, times)
    if other is None:
        look.miss("whether the step was slow", "too few other steps were logged with their time", essential=False)
    return judge_step.slowness(step, other, usual)
