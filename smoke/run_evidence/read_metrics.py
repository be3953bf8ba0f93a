"""What Prometheus remembers of a run: its pods, what they held, samples of boards, alerts."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from signals.catalogue.labels import INFO_METRIC
from signals.rules.gpu_labels import RESOURCES
from smoke.run_evidence.facts import Board, Device, Pod, Series, Span
from smoke.run_evidence.judge_alerts import reach
from smoke.run_evidence.judge_board import SCRAPED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from smoke.access.prometheus import Prometheus

Json = dict[str, Any]
AT_ONCE: Final = 64
"""Pods or boards in one question."""
EVERY: Final = 15
"""Seconds. Rules write the identity at least every half minute, so that no pod falls between."""
POINTS: Final = 1000
"""Of a history that may be days."""
CLOSEST: Final = 30.0
"""Seconds between two points of a history at least."""


class Metrics:
    """Questions to one Prometheus about one cluster. Raises AccessError from every method."""

    def __init__(self, prometheus: Prometheus, cluster: str) -> None:
        """cluster: value of the label on every series of this stack."""
        self._ask, self._cluster = prometheus, cluster

    def pods(self, span: Span, run: str | None = None, keys: Collection[tuple[str, str]] = ()) -> list[Pod]:
        """Pods of a run, or every pod that has one; keys: these alone. With the span in which each was seen."""
        found: dict[tuple[str, str], Pod] = {}
        wanted = [] if run is None else [_is("run_id", run)]
        for few in _few(keys, [None]):
            some = [] if few is None else [_among("pod", {name for _, name in few})]
            chosen = self._chosen(INFO_METRIC, *(wanted or ['run_id!=""']), *some)
            for labels, life in self._lives(chosen, span):
                key = labels.get("namespace", ""), labels.get("pod", "")
                if keys and key not in keys:
                    continue
                known = found.get(key)
                joined = (
                    life if known is None else Span(min(known.life.begin, life.begin), max(known.life.end, life.end))
                )
                newest = labels if known is None or life.end >= known.life.end else known.identity
                found[key] = Pod(*key, joined, newest)
        return sorted(found.values(), key=lambda pod: pod.key)

    def nodes(self, pods: Collection[tuple[str, str]], span: Span) -> dict[tuple[str, str], str]:
        """Pod → the node that it was on last, as far as kube-state-metrics told."""
        found: dict[tuple[str, str], str] = {}
        for few in _few(pods):
            chosen = self._chosen("kube_pod_info", 'node!=""', _among("pod", {name for _, name in few}))
            for one in self._ask.query(f"last_over_time({chosen}[{_length(span)}])", span.end):
                key = one["metric"].get("namespace", ""), one["metric"].get("pod", "")
                if key in pods:
                    found[key] = one["metric"]["node"]
        return found

    def on_nodes(self, nodes: Collection[str], span: Span) -> list[tuple[tuple[str, str], str, Span]]:
        """Pod, node, and when, of every pod that was on these nodes."""
        found = []
        for few in _few(sorted(nodes)):
            for labels, life in self._lives(self._chosen("kube_pod_info", _among("node", few)), span):
                found.append(((labels.get("namespace", ""), labels.get("pod", "")), labels.get("node", ""), life))
        return found

    def requested(self, pods: Collection[tuple[str, str]], span: Span) -> dict[tuple[str, str], float] | None:
        """Pod → GPUs that it asked for. None where nobody tells what pods ask for."""
        found: dict[tuple[str, str], float] = {}
        metric, known = "kube_pod_container_resource_requests", False
        for few in _few(pods):
            chosen = self._chosen(metric, _among("pod", {name for _, name in few}))
            for one in self._ask.query(
                f"max by (namespace, pod, container, resource) (last_over_time({chosen}[{_length(span)}]))", span.end
            ):
                known = True
                key = one["metric"].get("namespace", ""), one["metric"].get("pod", "")
                gpu = re.fullmatch(RESOURCES, one["metric"].get("resource", "")) is not None
                if key in pods and gpu:
                    found[key] = found.get(key, 0.0) + float(one["value"][1])
        return found if known else None

    def devices(
        self, span: Span, pods: Collection[tuple[str, str]] = (), boards: Collection[str] = (), every: int = EVERY
    ) -> list[Device]:
        """What pods held: those of `pods`, or whoever held one of `boards` (UUIDs)."""
        found = []
        for few in _few(pods) if pods else _few(sorted(boards)):
            chosen = _among("pod", {name for _, name in few}) if pods else _among("UUID", few)
            for labels, life in self._lives(self._chosen(SCRAPED, 'pod!=""', chosen), span, every):
                key = labels.get("namespace", ""), labels.get("pod", "")
                if not pods or key in pods:
                    found.append(_device(labels, key, life))
        return _merged(found)

    def samples(self, boards: Collection[Board], metrics: Iterable[str], span: Span) -> dict[Board, list[Series]]:
        """Board → raw samples of these metrics, whoever held it."""
        found: dict[Board, list[Series]] = {board: [] for board in boards}
        known = {(board.node, board.uuid): board for board in boards}
        names = f'__name__=~"{"|".join(metrics)}"'
        for few in _few(sorted({board.uuid for board in boards})):
            for one in self._ask.query(f"{self._chosen('', names, _among('UUID', few))}[{_length(span)}]", span.end):
                series = _series(one)
                board = known.get((series.get("node"), series.get("UUID")))
                if board is not None:
                    found[board].append(series)
        return found

    def alerts(self, span: Span, name: str | None = None) -> list[Series]:
        """Raw samples of what was pending or fired."""
        wanted = [] if name is None else [_is("alertname", name)]
        return [
            _series(one) for one in self._ask.query(f"{self._chosen('ALERTS', *wanted)}[{_length(span)}]", span.end)
        ]

    def alert_history(self, span: Span, *wanted: str, pending: bool = False) -> list[Series]:
        """What fired, a sample per step. wanted: further matchers, by `among` or `equal`. pending: and what was."""
        chosen = self._chosen("ALERTS", *([] if pending else ['alertstate="firing"']), *wanted)
        step = step_of(span)
        return self.history(f"max_over_time({chosen}[{step:.0f}s])", span)

    def history(self, expression: str, span: Span) -> list[Series]:
        """An expression over a span, a sample per step."""
        found = self._ask.range(expression, span.begin, span.end, step_of(span))
        return [_series(one) for one in found]

    def board_history(self, metric: str, boards: Collection[Board], span: Span, by: str = "") -> list[Series]:
        """The largest value of each step, per board. by: a further label."""
        found: list[Series] = []
        labels = ", ".join(filter(None, ("node", "UUID", by)))
        for few in _few(sorted({board.uuid for board in boards})):
            chosen = self._chosen(metric, _among("UUID", few))
            found += self.history(f"max by ({labels}) (max_over_time({chosen}[{step_of(span):.0f}s]))", span)
        return found

    def remembers(self, span: Span) -> bool:
        """Whether rules were evaluated in the span, so that silence means that nothing was wrong."""
        chosen = self._chosen("", f'__name__=~"ALERTS|{INFO_METRIC}"')
        return bool(self._ask.query(f"count(present_over_time({chosen}[{_length(span)}]))", span.end))

    def gaps(self, span: Span) -> float:
        """Seconds of the span in which nothing was recorded at all."""
        step = step_of(span)
        seen = self.history(f"count(present_over_time({self._chosen('up')}[{step:.0f}s]))", span)
        there = sum(len(one.samples) for one in seen)
        steps = int(span.seconds // step) + 1
        return max(0.0, (steps - there) * step)

    def runs(self, span: Span) -> list[str]:
        """Ids of runs whose pods were seen."""
        return self._ask.label_values("run_id", self._chosen(INFO_METRIC), span.begin, span.end)

    def alert_names(self) -> list[str]:
        """Of the rules that are loaded."""
        return sorted({r["name"] for g in self._ask.rule_groups() for r in g["rules"] if r["type"] == "alerting"})

    def looks_back(self, alert: str) -> float:
        """Seconds over which the rules of an alert look back, recorded series between them included."""
        rules = [rule for group in self._ask.rule_groups() for rule in group["rules"]]
        records = {rule["name"]: rule["query"] for rule in rules if rule["type"] == "recording"}
        return max((reach(rule["query"], records) for rule in rules if rule["name"] == alert), default=0.0)

    def keeps(self) -> str:
        """How long samples stay, in Prometheus' words."""
        return str(self._ask.runtime().get("storageRetention", "unknown"))

    def _lives(self, chosen: str, span: Span, every: int = EVERY) -> list[tuple[Mapping[str, str], Span]]:
        """Labels of each series, and its first and last sample in the span."""
        when = f"[{_length(span)}:{every}s]"
        first, last = (
            {
                _key(one["metric"]): one
                for one in self._ask.query(f"{which}_over_time(timestamp({chosen}){when})", span.end)
            }
            for which in ("min", "max")
        )
        return [
            (one["metric"], Span(float(one["value"][1]), float(last[key]["value"][1])))
            for key, one in first.items()
            if key in last
        ]

    def _chosen(self, metric: str, *matchers: str) -> str:
        return f"{metric}{{{', '.join((_is('cluster', self._cluster), *matchers))}}}"


def step_of(span: Span) -> float:
    """Seconds between two points of a history."""
    return max(CLOSEST, round(span.seconds / POINTS))


def equal(label: str, value: str) -> str:
    """A matcher."""
    return _is(label, value)


def among(label: str, values: Iterable[str]) -> str:
    """A matcher for any of these."""
    return _among(label, values)


def _is(label: str, value: str) -> str:
    return f"{label}={json.dumps(value, ensure_ascii=False)}"


def _among(label: str, values: Iterable[str]) -> str:
    """Go's RE2 takes the escapes of Python's for what names are made of."""
    return f"{label}=~{json.dumps('|'.join(re.escape(value) for value in sorted(set(values))), ensure_ascii=False)}"


def _length(span: Span) -> str:
    """A range that reaches back to the span's begin. Ranges leave out their begin, and are whole milliseconds."""
    return f"{max(1, round(1000 * span.seconds) + 1)}ms"


def _few(items: Iterable[Any], default: Sequence[Any] = ()) -> list[Any]:
    every = list(items)
    return [every[at : at + AT_ONCE] for at in range(0, len(every), AT_ONCE)] or list(default)


def _key(labels: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(labels.items()))


def _series(one: Json) -> Series:
    labels = {name: value for name, value in one["metric"].items() if name != "__name__"}
    found = tuple((float(time), float(value)) for time, value in one["values"])
    return Series(one["metric"].get("__name__", ""), labels, found)


def _device(labels: Mapping[str, str], pod: tuple[str, str], held: Span) -> Device:
    board = Board(labels.get("node", ""), labels.get("UUID", ""), labels.get("gpu", ""), labels.get("modelName", ""))
    part = labels.get("GPU_I_ID", "") or labels.get("vgpu", "")
    return Device(board, pod, held, part, labels.get("GPU_I_PROFILE", ""))


def _merged(devices: Iterable[Device]) -> list[Device]:
    """One per board, instance and pod: other labels, as the driver's version, may change meanwhile."""
    found: dict[tuple[Board, str, tuple[str, str]], Device] = {}
    for one in devices:
        key = one.board, one.instance, one.pod
        known = found.get(key)
        if known is not None:
            held = Span(min(known.held.begin, one.held.begin), max(known.held.end, one.held.end))
            one = Device(one.board, one.pod, held, one.instance, one.profile)  # noqa: PLW2901  joined with the known one
        found[key] = one
    return sorted(found.values(), key=lambda one: (one.board, one.instance, one.pod))
