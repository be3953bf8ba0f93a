"""The signal contract gate: which labels an expression can yield, and what in it the catalogue does not know.

Expressions are parsed by a maintained PromQL parser. Labels are inferred bottom-up as Prometheus defines them for every
kind of node: a label that cannot be there makes a matcher, a join or a template silently empty.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import promql_parser as promql

from signals.catalogue.labels import DROPPED_LABEL
from signals.catalogue.model import MetricType
from signals.rules.model import Alert, Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from signals.catalogue.model import Metric, Producer
    from signals.rules.model import Group

_MOST = 4096
"""Expressions that are kept: more than there are rules."""
EXTERNAL = frozenset({"cluster", "environment"})
_TARGET = frozenset({"job", "instance", *EXTERNAL})
_OF_EVERY_TARGET = ("up", "scrape_samples_post_metric_relabeling", "scrape_samples_scraped", "scrape_duration_seconds")
_COUNTERS_ONLY = {"rate", "irate", "increase"}
_GAUGES_ONLY = {"delta", "idelta", "deriv", "predict_linear"}
_NO_LABELS = {"vector", "scalar", "time"}
_ABSENT = {"absent", "absent_over_time"}
_KEEPS_SERIES = {"topk", "bottomk", "limitk", "limit_ratio"}
_HISTOGRAM = {"_bucket": frozenset({"le"}), "_sum": frozenset[str](), "_count": frozenset[str]()}
ANY = frozenset({"*"})
"""Labels of a series that may carry whatever its producer pushed."""


@dataclass(frozen=True)
class Known:
    """A series that rules may name. labels: those that it can carry. type: None for recorded ones."""

    labels: frozenset[str]
    type: MetricType | None = None


@dataclass
class Verdict:
    """What was found in one expression. faults: one sentence each."""

    faults: list[str] = field(default_factory=list)
    metrics: set[str] = field(default_factory=set)


def known_metrics(pages: Iterable[Producer]) -> dict[str, Known]:
    """Every series of the catalogue by its stored name, with the labels that it has after scraping."""
    found: dict[str, Known] = {}
    every: set[str] = set(_TARGET)
    for page in pages:
        every |= set(page.target_labels)
        for metric in page.metrics:
            for name, labels in _series(metric):
                own = labels | set(page.target_labels) | _TARGET
                before = found.get(name)
                found[name] = Known(own | before.labels if before else frozenset(own), metric.type)
    for name in _OF_EVERY_TARGET:
        found[name] = Known(frozenset(every), MetricType.GAUGE)
    for name in ("ALERTS", "ALERTS_FOR_STATE"):
        found[name] = Known(ANY, MetricType.GAUGE)
    return found


def _series(metric: Metric) -> list[tuple[str, frozenset[str]]]:
    labels = frozenset((*metric.labels, *metric.optional))
    if metric.type is MetricType.HISTOGRAM:
        return [(metric.name + suffix, labels - {"le"} | extra) for suffix, extra in _HISTOGRAM.items()]
    if metric.type is MetricType.SUMMARY:
        return [(metric.name, labels | {"quantile"}), (f"{metric.name}_sum", labels), (f"{metric.name}_count", labels)]
    return [(metric.name, labels)]


@lru_cache(_MOST)
def _parsed(expression: str) -> Any:  # noqa: ANN401  # the parser has a class for each kind of node, and no common one
    """Only read here: the same rules are judged against hundreds of catalogues."""
    return promql.parse(expression)


def judge(expression: str, known: Mapping[str, Known]) -> tuple[frozenset[str], Verdict]:
    """Labels that the result can carry, and everything that is not known. Raises ValueError if it does not parse."""
    verdict = Verdict()
    labels = _labels(_parsed(expression), known, verdict)
    return labels, verdict


def missing(wanted: Iterable[str], labels: frozenset[str]) -> list[str]:
    """Labels that cannot be there."""
    return [] if labels >= ANY else [label for label in wanted if label not in labels]


def _labels(node: Any, known: Mapping[str, Known], verdict: Verdict) -> frozenset[str]:  # noqa: ANN401  # untyped library
    kind = type(node).__name__
    if kind in _INNER:
        return _labels(getattr(node, _INNER[kind]), known, verdict)
    if kind in _KINDS:
        return _KINDS[kind](node, known, verdict)
    return frozenset()


def _selector(node: Any, known: Mapping[str, Known], verdict: Verdict) -> frozenset[str]:  # noqa: ANN401  # untyped library
    matched = {matcher.name for matcher in node.matchers.matchers}
    if node.name is None:
        if matched - {DROPPED_LABEL}:
            verdict.faults.append(f"selector {node.prettify()} names no metric")
        return ANY
    verdict.metrics.add(node.name)
    if node.name not in known:
        verdict.faults.append(f"metric {node.name} is not in the catalogue")
        return ANY
    labels = known[node.name].labels
    for label in missing(sorted(matched - {DROPPED_LABEL}), labels):
        verdict.faults.append(f"{node.name} has no label {label}")
    return labels


def _aggregate(node: Any, known: Mapping[str, Known], verdict: Verdict) -> frozenset[str]:  # noqa: ANN401  # untyped library
    inner = _labels(node.expr, known, verdict)
    names = frozenset(node.modifier.labels) if node.modifier is not None else frozenset()
    for label in missing(sorted(names), inner):
        verdict.faults.append(f"aggregation by label {label}, which {node.expr.prettify().strip()} does not have")
    if str(node.op) in _KEEPS_SERIES:
        return inner
    without = node.modifier is not None and "without" in str(node.modifier.type).lower()
    added = frozenset({node.param.val}) if str(node.op) == "count_values" else frozenset()
    return (inner - names if without else names) | added


def _binary(node: Any, known: Mapping[str, Known], verdict: Verdict) -> frozenset[str]:  # noqa: ANN401  # untyped library
    left, right = _labels(node.lhs, known, verdict), _labels(node.rhs, known, verdict)
    matching, on = _matching(node)
    for side, labels, operand in (("left", left, node.lhs), ("right", right, node.rhs)):
        for label in missing(sorted(matching), labels):
            verdict.faults.append(f"match on label {label}, which the {side} side {_short(operand)} does not have")
    operator = str(node.op)
    if operator in ("and", "unless"):
        return left
    if operator == "or":
        return left | right
    if _is_scalar(node.lhs) or _is_scalar(node.rhs):
        return right if _is_scalar(node.lhs) else left
    card = str(node.modifier.card) if node.modifier is not None else ""
    extra = frozenset((node.modifier.group_labels or ()) if node.modifier is not None else ())
    many, one = (left, right) if "ManyToOne" in card else (right, left)
    if "ManyToOne" in card or "OneToMany" in card:
        for label in missing(sorted(extra), one):
            verdict.faults.append(f"group label {label} is not on the side that it is taken from")
        return many | extra
    return matching if on else (left | right) - matching


def _matching(node: Any) -> tuple[frozenset[str], bool]:  # noqa: ANN401  # untyped library
    found = node.modifier.matching if node.modifier is not None else None
    if found is None:
        return frozenset(), False
    return frozenset(found.labels), "include" in str(found.type).lower()


def _call(node: Any, known: Mapping[str, Known], verdict: Verdict) -> frozenset[str]:  # noqa: ANN401  # untyped library
    name = node.func.name
    inner = [_labels(argument, known, verdict) for argument in node.args]
    if name in _COUNTERS_ONLY | _GAUGES_ONLY:
        _check_type(name, node, known, verdict)
    if name in _ABSENT:
        return _equalities(node.args[0])
    if name in _NO_LABELS:
        return frozenset()
    if name in ("label_replace", "label_join"):
        sources = [a.val for a in (node.args[3:4] if name == "label_replace" else node.args[3:])]
        for label in missing([source for source in sources if source], inner[0]):
            verdict.faults.append(f"{name} reads label {label}, which is not there")
        return inner[0] | {node.args[1].val}
    labels = frozenset().union(*inner)
    return labels - {"le"} if name == "histogram_quantile" else labels


def _check_type(name: str, node: Any, known: Mapping[str, Known], verdict: Verdict) -> None:  # noqa: ANN401  # untyped library
    for selector in _selectors(node.args):
        found = known.get(selector)
        if found is None or found.type is None:
            continue
        if name in _COUNTERS_ONLY and found.type is MetricType.GAUGE:
            verdict.faults.append(f"{name}() of {selector}, which is a gauge")
        if name in _GAUGES_ONLY and found.type is not MetricType.GAUGE:
            verdict.faults.append(f"{name}() of {selector}, which is no gauge")


def _selectors(nodes: Iterable[Any]) -> list[str]:
    found = [getattr(node, "vector_selector", node) for node in nodes]
    return [str(node.name) for node in found if type(node).__name__ == "VectorSelector"]


def _equalities(node: Any) -> frozenset[str]:  # noqa: ANN401  # untyped library
    """`absent` yields the labels that the selector fixes to one value, and no label for anything but a selector."""
    selector = getattr(node, "vector_selector", node)
    if type(selector).__name__ != "VectorSelector":
        return frozenset()
    return frozenset(m.name for m in selector.matchers.matchers if str(m.op) in ("MatchOp.Equal", "="))


_INNER = {"MatrixSelector": "vector_selector", "ParenExpr": "expr", "UnaryExpr": "expr", "SubqueryExpr": "expr"}
_KINDS = {"VectorSelector": _selector, "AggregateExpr": _aggregate, "BinaryExpr": _binary, "Call": _call}


def _is_scalar(node: Any) -> bool:  # noqa: ANN401  # untyped library
    kind = type(node).__name__
    if kind in ("ParenExpr", "UnaryExpr"):
        return _is_scalar(node.expr)
    if kind == "BinaryExpr":
        return _is_scalar(node.lhs) and _is_scalar(node.rhs)
    return kind == "NumberLiteral" or (kind == "Call" and node.func.name in ("time", "scalar"))


def _short(node: Any) -> str:  # noqa: ANN401  # untyped library
    text = " ".join(node.prettify().split())
    return text if len(text) <= 80 else f"{text[:77]}…"  # a line of a message


def with_records(groups: Iterable[Group], pages: Iterable[Producer]) -> dict[str, Known]:
    """The catalogue and every recorded series, whichever of them is made of which.

    A series that is recorded by several rules carries the labels of all. A record that names an unknown metric is
    known itself: the fault is told once, where it is.
    """
    records = [rule for group in groups for rule in group.rules if isinstance(rule, Record)]
    known, names = known_metrics(pages), {rule.record for rule in records}
    for _ in range(len(records) + 1):
        before = dict(known)
        for rule in records:
            verdict = Verdict()
            pending = {name: Known(frozenset()) for name in names - set(known)}
            labels = _labels(_parsed(rule.expr), {**pending, **known}, verdict) | set(rule.labels)
            known[rule.record] = Known(labels | (known[rule.record].labels if rule.record in known else frozenset()))
        if known == before:
            return known
    raise AssertionError("recording rules are made of each other in a circle")


def faults(groups: Iterable[Group], pages: Iterable[Producer]) -> list[str]:
    """Every fault of every rule, as `name: what is wrong`."""
    listed, found = list(groups), []
    known = with_records(listed, pages)
    for rule in (rule for group in listed for rule in group.rules):
        labels, verdict = judge(rule.expr, known)
        name = rule.record if isinstance(rule, Record) else rule.alert
        found += [f"{name}: {fault}" for fault in verdict.faults]
        if isinstance(rule, Alert):
            found += [f"{name}: {fault}" for fault in _templates(rule, labels)]
    return found


def _templates(rule: Alert, labels: frozenset[str]) -> list[str]:
    used = set(re.findall(r"\$labels\.([A-Za-z_][A-Za-z0-9_]*)", f"{rule.summary} {rule.description}"))
    there = labels | set(rule.labels) | {"alertname", "severity"}
    return [
        f"template uses $labels.{label}, which the expression does not yield" for label in missing(sorted(used), there)
    ]
