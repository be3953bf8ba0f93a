"""The ledger of a run: every alert, XID and throttle that hit it over its life.

SwanLab's public interface reads runs and takes values of the process that writes a run; nobody else can add a note. So
the ledger is made when it is asked for, of what Prometheus remembers, and needs no store of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from smoke.run_evidence import judge_alerts, judge_xids, whose
from smoke.run_evidence.facts import Finding, Span
from smoke.run_evidence.judge_board import POWER, THERMAL
from smoke.run_evidence.judge_throttle import NANO
from smoke.run_evidence.looking import BlindError, UnknownError
from smoke.run_evidence.near import near_runs
from smoke.run_evidence.read_logs import stamp
from smoke.run_evidence.read_metrics import among, step_of
from smoke.run_evidence.report import Report, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from smoke.run_evidence.facts import Board, Pod, Sample, Series
    from smoke.run_evidence.looking import Looking
    from smoke.run_evidence.whose import Whose

WORTH_TELLING: Final = 0.01
"""Share of the time between two points from which on a board was held back in it."""
NOTE: Final = "note"
"""An alert that is no finding."""
WORTH_GAP: Final = 2
"""Points of a history that may be missing: the first one often is."""


@dataclass(frozen=True)
class Entry:
    """A line of the ledger. kind: `alert`, `note`, `xid`, `thermal_throttle`, `power_throttle`."""

    span: Span
    kind: str
    about: str
    text: str


def report(look: Looking, stack: str, run: str, span: Span) -> Report:
    """span: in which is searched. Raises UnknownError, and BlindError where Prometheus cannot be asked."""
    logs = look.logs(run, span)
    pods = look.ask("pods of the run, by their identity", lambda: look.metrics.pods(span, run))
    if pods is None:
        raise BlindError("; ".join(f"{one.what}: {one.why}" for one in look.unseen))
    if not pods:
        raise UnknownError(
            f"no pod of a run {run} was seen since {stamp(span.begin)}", near_runs(look, run, span, logs)
        )
    life = Span(min(pod.life.begin for pod in pods), max(pod.life.end for pod in pods))
    step = step_of(life)
    mine = whose.at(look, pods, logs, life, every=max(15, int(step) // 2))
    found = [*_throttles(look, mine, life), *_xids(look, mine, life), *_alerts(look, mine, life)]
    entries = sorted(found, key=lambda one: (one.span.begin, one.kind, one.about))
    _gaps(look, life)
    return Report(
        "run",
        stack,
        f"Ledger of run {run}",
        stamp(look.now),
        _facts(pods, mine, life, step),
        tuple(_summed(entries)),
        tuple(look.unseen),
        (
            f"throttling by heat and by power, and XIDs, of {len(mine.boards)} GPUs",
            "alerts that fired about its pods, their nodes and GPUs",
            f"from {stamp(life.begin)} to {stamp(life.end)}, in points {step:.0f} s apart",
        ),
        (_table(entries),),
        {
            "run": run,
            "life": {"begin": stamp(life.begin), "end": stamp(life.end)},
            "entries": [
                {
                    "begin": stamp(one.span.begin),
                    "end": stamp(one.span.end),
                    "kind": one.kind,
                    "about": one.about,
                    "text": one.text,
                }
                for one in entries
            ],
        },
    )


def held_back(samples: Sequence[Sample], held: Span) -> list[tuple[Span, float]]:
    """Spans in which a counter of nanoseconds grew, and by how many seconds. held: when the run had the board."""
    found: list[tuple[Span, float]] = []
    for (begin, before), (end, after) in pairwise(samples):
        grown = (after - before if after >= before else after) / NANO
        if end <= held.begin or begin >= held.end or grown < WORTH_TELLING * (end - begin):
            continue
        if found and found[-1][0].end == begin:
            found[-1] = Span(found[-1][0].begin, end), found[-1][1] + grown
        else:
            found.append((Span(begin, end), grown))
    return found


def _throttles(look: Looking, mine: Whose, life: Span) -> Iterable[Entry]:
    for kind, metric, words in (
        ("thermal_throttle", THERMAL, "thermally throttled"),
        ("power_throttle", POWER, "held back by its power limit"),
    ):
        series = look.ask(words, partial(look.metrics.board_history, metric, mine.boards, life)) or []
        for board, held, some in _of_boards(mine, series):
            if not some:
                look.miss(
                    f"whether {board} was {words}", f"no samples of {metric}", essential=kind == "thermal_throttle"
                )
            for one in some:
                for span, seconds in held_back(one.samples, held):
                    yield Entry(span, kind, str(board), f"{words} for {seconds:.1f} s")


def _xids(look: Looking, mine: Whose, life: Span) -> Iterable[Entry]:
    """A point has the largest value since the one before, so that a window of the exporter's falls between no two."""
    series = [
        *(look.ask("XIDs", lambda: _named(look, judge_xids.COUNTED, "xid", mine, life)) or []),
        *(look.ask("XIDs", lambda: _named(look, judge_xids.LAST, "err_code", mine, life)) or []),
    ]
    step = step_of(life)
    points = [life.begin + step * number for number in range(int(life.seconds // step) + 1)]
    for board, held, some in _of_boards(mine, series):
        rounded = [
            type(one)(
                one.metric, one.labels, tuple((min(points, key=lambda at: abs(at - t)), v) for t, v in one.samples)
            )
            for one in some
        ]
        for event in judge_xids.events(rounded, points):
            if event.between.meets(held):
                yield Entry(event.between, "xid", str(board), f"reported {event}")


def _named(look: Looking, metric: str, label: str, mine: Whose, life: Span) -> list[Series]:
    """Aggregations have no name; judges go by it."""
    found = look.metrics.board_history(metric, mine.boards, life, by=label)
    return [type(one)(metric, one.labels, one.samples) for one in found]


def _of_boards(mine: Whose, series: Sequence[Series]) -> Iterable[tuple[Board, Span, list[Series]]]:
    """Each board, when the run had it, and its series."""
    scope = judge_alerts.scope(mine.pods, mine.devices, {})
    for board, held in sorted(scope.boards.items()):
        yield board, held, [one for one in series if (one.get("node"), one.get("UUID")) == (board.node, board.uuid)]


def _alerts(look: Looking, mine: Whose, life: Span) -> Iterable[Entry]:
    if not look.ask("whether rules were evaluated", lambda: look.metrics.remembers(life)):
        look.miss("alerts", "no rule was evaluated in the life of the run")
        return
    nodes = {node for node in mine.nodes.values() if node}
    wanted = [("pod", {pod.name for pod in mine.pods}), ("node", nodes), ("UUID", {one.uuid for one in mine.boards})]
    series: list[Series] = []
    for label, names in wanted:
        few = look.ask("alerts", partial(look.metrics.alert_history, life, among(label, names)))
        series += (few or []) if names else []
    scope, step = judge_alerts.scope(mine.pods, mine.devices, mine.nodes), step_of(life)
    for alert in judge_alerts.alerts(series, 2.5 * step):
        how = judge_alerts.concerns(alert, scope, step)
        if how:
            kind = "alert" if judge_alerts.weighs(alert, how) else NOTE
            yield Entry(alert.span, kind, f"the run's {how}", f"{alert} fired")


def _gaps(look: Looking, life: Span) -> None:
    missing = look.ask("gaps of the history", lambda: look.metrics.gaps(life), essential=False) or 0.0
    if missing > WORTH_GAP * step_of(life):
        look.miss(
            "a part of the run's life", f"Prometheus recorded nothing for {missing:.0f} s of {life.seconds:.0f} s"
        )


def _summed(entries: Sequence[Entry]) -> list[Finding]:
    """One finding per kind and subject."""
    found: dict[tuple[str, str], list[Entry]] = {}
    for one in entries:
        if one.kind == NOTE:
            continue
        key = (one.kind, one.about if one.kind != "alert" else one.text)
        found.setdefault(key, []).append(one)
    weights = {"thermal_throttle": 100, "xid": 90, "alert": 80, "power_throttle": 30}
    return sorted(
        (
            Finding(
                kind,
                f"{many[0].about}: {many[0].text}{f' ({len(many)} times)' if len(many) > 1 else ''}, "
                f"first {stamp(many[0].span.begin)}",
                weights[kind],
            )
            for (kind, _), many in found.items()
        ),
        key=lambda one: (-one.weight, one.text),
    )


def _facts(pods: Sequence[Pod], mine: Whose, life: Span, step: float) -> tuple[tuple[str, str], ...]:
    return (
        ("life", f"{stamp(life.begin)} to {stamp(life.end)}, as far as its pods have an identity"),
        ("pods", ", ".join(f"{pod} on {mine.nodes.get(pod.key, 'an unknown node')}" for pod in pods)),
        ("GPUs", ", ".join(map(str, mine.boards)) or "none"),
        ("points", f"{step:.0f} s apart; a time of the ledger is no more exact than that"),
    )


def _table(entries: Sequence[Entry]) -> Table:
    rows = ((stamp(one.span.begin), stamp(one.span.end), one.kind, one.about, one.text) for one in entries)
    return Table("Ledger", ("from", "to", "kind", "about", "what"), tuple(rows), "" if entries else "No entries.")
