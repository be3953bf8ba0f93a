"""The reference pages of checks, signals and alerts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from signals.catalogue import PRODUCERS
from signals.catalogue.model import Presence
from signals.rules import groups
from signals.rules.model import Alert, Record
from signals.rules.sentinel import sentinel
from smoke.registry import REGISTRY
from tests.offline.docs.table import code, facts, listed, table
from tests.offline.signals.promtool_cases import INPUTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from signals.catalogue.model import Drop, Metric, Producer

REQUIREMENTS = {
    "A3": "metrics are kept: volumes, retention, limits",
    "A8": "secure by default",
    "A10": "an embedded cluster on one machine",
    "B0": "every check declares its impact, and asks the right cluster",
    "B1": "pods, images, roll-outs, claims; data survives",
    "B3": "scraping: targets, labels, fresh values",
    "C8": "alerts that are evaluated",
}

CHECKS = """# Checks of the smoke suite

`make smoke` runs those of impact `read` and `sentinel`; `make prove` adds `disruptive`. A check whose need is not
among the capabilities of the [contract](contract.md) is a declared skip. How to read a report:
[operate](../operate.md#read-a-report).

"""
SIGNALS = """# Signals

What each producer exposes and what of it is kept. The same records give the scrape jobs, the rules and the checks
`signals.contract` and `signals.fresh`. "Event" names what makes a series appear that is absent by design until then.

"""
ALERTS = """# Alerts and recorded series

Severity says how soon somebody must respond: P0 5 minutes, P1 15 minutes, P2 one hour, P3 one working day. "After" is
how long the condition must hold.

"""


def checks() -> str:
    """The page of the checks."""
    parts = [CHECKS]
    for check in REGISTRY.values():
        items = {
            "Claim": f"{check.claim}.",
            "If it is red": f"{check.remedy}.",
            "Requirement": f"{check.requirement}, {REQUIREMENTS[check.requirement]}.",
            "Impact": f"{code(check.impact)}. Needs: {listed(check.needs)}.",
        }
        parts.append(f"## {code(check.id)}\n\n" + facts(items))
    return "".join(parts)


def signals() -> str:
    """The page of the catalogue."""
    return SIGNALS + "".join(_producer(page) for page in PRODUCERS)


def _producer(page: Producer) -> str:
    items = {
        "Job": code(page.job) + (", one target per node" if page.per_node else ""),
        "Checked against": page.versions,
        "Target labels": listed(("job", "instance", *page.target_labels)),
    }
    metrics = table(("Metric", "Type", "Unit", "Labels", "Meaning"), (_metric(metric) for metric in page.metrics))
    return f"## {page.title}\n\n" + facts(items) + metrics + _drops(page.drops)


def _metric(metric: Metric) -> tuple[str, ...]:
    event = f" Event: {metric.event}." if metric.presence is Presence.EVENT else ""
    return (code(metric.name), metric.type, metric.unit, listed(metric.labels), metric.meaning + event)


def _drops(drops: tuple[Drop, ...]) -> str:
    if not drops:
        return ""
    rows = [(code(drop.metric), _which(drop), drop.why) for drop in drops]
    return "Not kept:\n\n" + table(("Name matches", "Of these", "Why"), rows)


def _which(drop: Drop) -> str:
    if drop.buckets:
        return f"buckets {listed(drop.buckets)}"
    return listed(f"{label}=~{pattern!r}" for label, pattern in drop.labels) if drop.labels else "all"


def alerts() -> str:
    """The page of the rules."""
    found: dict[str, list[Alert]] = {}
    for rule in _rules():
        if isinstance(rule, Alert):
            found.setdefault(rule.alert, []).append(rule)
    rows = [_alert(variants) for variants in found.values()]
    records = [(code(rule.record), code(rule.expr)) for rule in _rules() if isinstance(rule, Record)]
    return (
        ALERTS
        + table(("Alert", "Severity", "After", "Summary", "One for each", ""), rows)
        + "## Recorded series\n\n"
        + table(("Series", "Expression"), records)
    )


def _alert(variants: list[Alert]) -> tuple[str, ...]:
    """A line for all alerts of one name, with the labels in which they differ."""
    first = variants[0]
    each = [f"{label}: {listed(v.labels[label] for v in variants)}" for label in first.labels]
    runbook = f"[runbook](../runbooks/{first.runbook}.md)"
    return (code(first.alert), first.severity, code(first.wait), code(first.summary), "; ".join(each), runbook)


def _rules() -> Iterator[Alert | Record]:
    found = [*(group for file in groups(INPUTS).values() for group in file), sentinel("…")]
    return (rule for group in found for rule in group.rules)
