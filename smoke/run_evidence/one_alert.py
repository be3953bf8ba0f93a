"""The way back: which runs an alert hit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from smoke.run_evidence import judge_alerts
from smoke.run_evidence.facts import Finding, Span
from smoke.run_evidence.looking import BlindError, UnknownError
from smoke.run_evidence.near import near
from smoke.run_evidence.read_logs import stamp
from smoke.run_evidence.read_metrics import equal, step_of
from smoke.run_evidence.report import Report, Table
from smoke.run_evidence.whose import SLACK

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from smoke.run_evidence.facts import Device, Pod
    from smoke.run_evidence.judge_alerts import Alert
    from smoke.run_evidence.looking import Looking

Placed = tuple[tuple[str, str], str, Span]
"""Pod, node, and when it was there."""


@dataclass(frozen=True)
class Hit:
    """A pod of a run that an alert was about. how: `pod`, `GPU` or `node`."""

    run: str
    pod: Pod
    alert: Alert
    how: str


def report(look: Looking, stack: str, name: str, span: Span) -> Report:
    """Raises UnknownError for an alert that no rule has, BlindError where Prometheus cannot be asked."""
    step = step_of(span)
    mine = equal("alertname", name)
    series = look.ask("when the alert fired", lambda: look.metrics.alert_history(span, mine, pending=True))
    pods = look.ask("pods of runs", lambda: look.metrics.pods(span))
    if series is None or pods is None:
        raise BlindError("; ".join(f"{one.what}: {one.why}" for one in look.unseen))
    fired = [one for one in judge_alerts.alerts(series, 2.5 * step) if one.fired]
    back = look.ask("how far its rule looks back", lambda: look.metrics.looks_back(name)) or 0.0
    known = look.ask("which alerts there are", look.metrics.alert_names, essential=False)
    if not fired and known is not None and name not in known:
        raise UnknownError(f"no rule has an alert {name}", near(name, known))
    uuids = {alert.labels["UUID"] for alert in fired if alert.labels.get("UUID")}
    nodes = {alert.labels["node"] for alert in fired if alert.labels.get("node")}
    devices = look.ask("who held its GPUs", lambda: look.metrics.devices(span, boards=uuids)) if uuids else []
    placed = look.ask("which pods were on its nodes", lambda: look.metrics.on_nodes(nodes, span)) if nodes else []
    hits = hit(fired, pods, devices or [], placed or [], back)
    missing = look.ask("gaps of the history", lambda: look.metrics.gaps(span), essential=False) or 0.0
    if missing > 2 * step:
        look.miss("a part of the time", f"Prometheus recorded nothing for {missing:.0f} s of {span.seconds:.0f} s")
    if not look.ask("whether rules were evaluated", lambda: look.metrics.remembers(span)):
        look.miss("alerts", "no rule was evaluated in this time")
    return Report(
        "alert",
        stack,
        f"Runs that {name} hit",
        stamp(look.now),
        (
            ("time", f"{stamp(span.begin)} to {stamp(span.end)}, in points {step:.0f} s apart"),
            ("fired", f"{len(fired)} times"),
            ("looks back", f"{back:.0f} s: what a run had so long before counts, since the rule judges it then"),
        ),
        tuple(_findings(hits, name)),
        tuple(look.unseen),
        (f"{len(fired)} alerts, {len(pods)} pods of {len({pod.identity.get('run_id') for pod in pods})} runs",),
        (_table(hits), _fired(fired)),
        {
            "alert": name,
            "runs": [
                {
                    "run": one.run,
                    "pod": str(one.pod),
                    "concerns": one.how,
                    "begin": stamp(one.alert.span.begin),
                    "end": stamp(one.alert.span.end),
                    "labels": dict(one.alert.labels),
                }
                for one in hits
            ],
        },
    )


def hit(
    fired: Sequence[Alert],
    pods: Collection[Pod],
    devices: Collection[Device],
    placed: Collection[Placed],
    back: float = 0.0,
) -> list[Hit]:
    """Each pod of a run is judged as if it were the run: what concerns it, hit the run.

    back: seconds before an alert in which what it tells of may have been; a run may be over when it begins.
    """
    found = []
    for pod in pods:
        held = [device for device in devices if device.pod == pod.key]
        there = {node: when for key, node, when in placed if key == pod.key}
        scope = judge_alerts.Scope({pod.key: pod.life}, there, {device.board: device.held for device in held})
        found += [
            Hit(pod.identity.get("run_id", ""), pod, alert, how)
            for alert in fired
            if (how := judge_alerts.concerns(alert.earlier(back), scope, SLACK))
        ]
    return sorted(found, key=lambda one: (one.alert.span.begin, one.run, str(one.pod)))


def _findings(hits: Sequence[Hit], name: str) -> list[Finding]:
    runs: dict[str, list[Hit]] = {}
    for one in hits:
        runs.setdefault(one.run, []).append(one)
    return [
        Finding(
            "alert",
            f"{name} hit run {run}: {', '.join(sorted({f'{one.how} of pod {one.pod}' for one in many}))}, "
            f"first {stamp(many[0].alert.span.begin)}",
            80,
            {"run": run},
        )
        for run, many in sorted(runs.items())
    ]


def _table(hits: Sequence[Hit]) -> Table:
    rows = (
        (one.run, str(one.pod), one.how, stamp(one.alert.span.begin), stamp(one.alert.span.end), str(one.alert))
        for one in hits
    )
    note = "" if hits else "No run: no pod with a run was concerned while it fired."
    return Table("Runs", ("run", "pod", "concerns its", "from", "to", "alert"), tuple(rows), note)


def _fired(fired: Sequence[Alert]) -> Table:
    rows = ((stamp(one.span.begin), stamp(one.span.end), str(one)) for one in fired)
    return Table("When it fired", ("from", "to", "alert"), tuple(rows), "" if fired else "It did not fire.")
