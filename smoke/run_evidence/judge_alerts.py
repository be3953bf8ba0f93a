"""Which alerts concern a run: those about its pods, their nodes as a whole, and the GPUs that they hold."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from signals.rules.model import Severity
from smoke.judge.units import DURATION, duration
from smoke.run_evidence.facts import Span

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from smoke.run_evidence.facts import Board, Device, Pod, Series

_RANGE: Final = re.compile(rf"\[((?:{DURATION.pattern})+)(?::[0-9a-z]*)?\]")
_NAME: Final = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
OWN: Final = frozenset({"alertname", "alertstate", "severity"})


@dataclass(frozen=True)
class Alert:
    """An alert, pending or firing, as long as it was seen. fired: whether it was more than pending."""

    name: str
    labels: Mapping[str, str]
    span: Span
    fired: bool

    def earlier(self, seconds: float) -> Alert:
        """The same, as if it had begun so much earlier."""
        return replace(self, span=Span(self.span.begin - seconds, self.span.end))

    def __str__(self) -> str:
        about = ", ".join(f"{key}={value}" for key, value in sorted(self.labels.items()) if key not in OWN)
        return f"{self.name} ({about})" if about else self.name


@dataclass(frozen=True)
class Scope:
    """What belongs to a run. nodes: node → when pods of it were there."""

    pods: Mapping[tuple[str, str], Span]
    nodes: Mapping[str, Span]
    boards: Mapping[Board, Span]


def scope(pods: Collection[Pod], devices: Collection[Device], nodes: Mapping[tuple[str, str], str]) -> Scope:
    """nodes: pod → node, for pods without a GPU as well."""
    lives = {pod.key: pod.life for pod in pods}
    homes: dict[str, Span] = {}
    boards: dict[Board, Span] = {}
    for key, node in nodes.items():
        if node and key in lives:
            homes[node] = _joined(homes.get(node), lives[key])
    for device in devices:
        homes[device.board.node] = _joined(homes.get(device.board.node), device.held)
        boards[device.board] = _joined(boards.get(device.board), device.held)
    return Scope(lives, homes, boards)


def concerns(alert: Alert, mine: Scope, slack: float) -> str:
    """How it concerns a run: `pod`, `GPU`, `node`; "" where it does not. slack: seconds by which it may come later.

    The narrowest label decides: an alert about a GPU is not about everybody on its node, and one about another pod that
    holds the same GPU is about that pod.
    """
    labels = alert.labels
    pod, node, uuid = (labels.get(name, "") for name in ("pod", "node", "UUID"))
    if pod:
        held = mine.pods.get((labels.get("namespace", ""), pod))
        return "pod" if held and alert.span.meets(held.wider(slack)) else ""
    if uuid:
        spans = [span for board, span in mine.boards.items() if board.uuid == uuid and node in ("", board.node)]
        return "GPU" if any(alert.span.meets(span.wider(slack)) for span in spans) else ""
    home = mine.nodes.get(node)
    return "node" if home and alert.span.meets(home.wider(slack)) else ""


def reach(query: str, records: Mapping[str, str]) -> float:
    """Seconds that an expression looks back at most. records: name of a recorded series → its expression."""
    own = max((duration(found[1]) for found in _RANGE.finditer(query)), default=0.0)
    others = {name: text for name, text in records.items() if text != query}
    read = [reach(others[name], others) for name in set(_NAME.findall(query)) if name in others]
    return own + max(read, default=0.0)


def weighs(alert: Alert, how: str) -> bool:
    """Whether it is a finding about a run. how: see `concerns`.

    Every run on a node would have its alerts: those that never fired, and those for which nobody is woken, stand in the
    table alone.
    """
    return how != "node" or (alert.fired and alert.labels.get("severity") != Severity.P3)


def alerts(series: Sequence[Series], apart: float) -> list[Alert]:
    """Alerts of series of ALERTS, pending and firing joined; the oldest first.

    apart: seconds between two samples beyond which they are two alerts.
    """
    seen: dict[tuple[tuple[str, str], ...], dict[float, bool]] = {}
    for one in series:
        key = tuple(sorted((name, value) for name, value in one.labels.items() if name != "alertstate"))
        times = seen.setdefault(key, {})
        for time, _ in one.samples:
            times[time] = times.get(time, False) or one.get("alertstate") == "firing"
    found = [alert for key, times in seen.items() for alert in _parts(dict(key), times, apart)]
    return sorted(found, key=lambda alert: (alert.span.begin, alert.name))


def _parts(labels: Mapping[str, str], times: Mapping[float, bool], apart: float) -> list[Alert]:
    found: list[Alert] = []
    part: list[float] = []
    for time in sorted(times):
        if part and time - part[-1] > apart:
            found.append(_alert(labels, part, times))
            part = []
        part.append(time)
    return [*found, _alert(labels, part, times)] if part else found


def _alert(labels: Mapping[str, str], part: Sequence[float], times: Mapping[float, bool]) -> Alert:
    fired = any(times[time] for time in part)
    return Alert(labels.get("alertname", ""), labels, Span(part[0], part[-1]), fired)


def _joined(known: Span | None, other: Span) -> Span:
    return other if known is None else Span(min(known.begin, other.begin), max(known.end, other.end))
