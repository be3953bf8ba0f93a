"""What Prometheus remembers of all its alerts, day by day, so that no answer grows with the time asked for."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from signals.rules.sentinel import REVISION_METRIC
from smoke.access.errors import RefusedError
from smoke.run_evidence.judge_review import STEP, Labels, Rule

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from smoke.access.prometheus import Prometheus
    from smoke.run_evidence.facts import Span

DAY: Final = 1440
"""Points of one question."""
SETTLED: Final = 900
"""Seconds after which a Prometheus that started fires what it fired before: waits under ten minutes begin anew, those
of longer waits are taken up again."""
PROMETHEUS: Final = "prometheus"
"""Its own job."""
WINDOW: Final = 2 * STEP
"""Seconds that a point looks back: rules are evaluated at least as often."""


class Alerts:
    """Questions to one Prometheus about one cluster. Raises AccessError from every method."""

    def __init__(self, prometheus: Prometheus, cluster: str) -> None:
        """cluster: value of the label on every series of this stack."""
        self._ask = prometheus
        # One that something is absent has no label of a cluster in Prometheus.
        mine = f"cluster=~{json.dumps(re.escape(cluster) + '|', ensure_ascii=False)}"
        self._start = f'process_start_time_seconds{{job="{PROMETHEUS}", {mine}}}'
        self._alerts, self._firing = f"ALERTS{{{mine}}}", f'ALERTS{{{mine}, alertstate="firing"}}'

    def rules(self) -> list[Rule]:
        """Of every alert that is loaded."""
        return [
            Rule(
                rule["name"],
                rule.get("labels", {}).get("severity", ""),
                rule["query"],
                (rule.get("lastError") or "no reason is given") if rule.get("health") == "err" else "",
            )
            for group in self._ask.rule_groups()
            for rule in group["rules"]
            if rule["type"] == "alerting"
        ]

    def evaluated(self, span: Span) -> list[int]:
        """Points at which rules were evaluated by a Prometheus that had not just started."""
        written = " or ".join(f"present_over_time({one}[{WINDOW}s])" for one in (REVISION_METRIC, self._alerts))
        # Alerts wait anew after a start, or are taken up again: until then their silence says nothing.
        started = f"max(changes({self._start}[{SETTLED}s])) > 0"
        return [point for _, points in self._days(f"count({written}) unless on () {started}", span) for point in points]

    def fired(self, span: Span) -> dict[Labels, list[int]]:
        """Labels of an alert → points at which it fired."""
        found: dict[Labels, list[int]] = {}
        for labels, points in self._days(f"max_over_time({self._firing}[{WINDOW}s])", span):
            found.setdefault(labels, []).extend(points)
        return found

    def unread(self, rule: Rule, now: float) -> list[str] | None:
        """What it reads and has no series in the hour before now. None: this Prometheus parses nothing."""
        try:
            names = set(_names(self._ask.parsed(rule.query)))
        except RefusedError:
            return None
        return sorted(names - self._known(names, now))

    def _known(self, names: Collection[str], now: float) -> set[str]:
        """Those of which there are series."""
        if not names:
            return set()
        chosen = json.dumps("|".join(re.escape(name) for name in sorted(names)))
        found = self._ask.query(f"count by (__name__) (last_over_time({{__name__=~{chosen}}}[1h]))", now)
        return {one["metric"]["__name__"] for one in found}

    def _days(self, expression: str, span: Span) -> Iterator[tuple[Labels, list[int]]]:
        """Series by series, day by day. Points count from the span's begin on."""
        last = int(span.seconds // STEP)
        for first in range(0, last + 1, DAY):
            begin, end = (span.begin + STEP * point for point in (first, min(first + DAY - 1, last)))
            for one in self._ask.range(expression, begin, end, STEP):
                labels = tuple(sorted((k, v) for k, v in one["metric"].items() if k not in ("__name__", "alertstate")))
                yield labels, [round((float(at) - span.begin) / STEP) for at, _ in one["values"]]


def _names(node: Any) -> Iterator[str]:  # noqa: ANN401  # any JSON
    """Of all selectors in Prometheus' own tree of an expression."""
    if isinstance(node, dict):
        if node.get("type") in ("vectorSelector", "matrixSelector") and node.get("name"):
            yield node["name"]
        for inner in node.values():
            yield from _names(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from _names(inner)
