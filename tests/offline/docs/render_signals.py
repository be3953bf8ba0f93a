"""The reference pages of checks and signals."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from signals.budget import series
from signals.catalogue import PRODUCERS
from signals.catalogue.labels import BANNED, DROPPED_LABEL
from signals.catalogue.model import Presence
from smoke.conformance import PROGRAMME
from smoke.registry import REGISTRY
from stacks.scraping import pages
from tests.offline.docs.table import code, facts, listed, number, slug, table
from tests.offline.stacks.examples import STACKS
from tests.offline.stacks.examples import settings as settings_of

if TYPE_CHECKING:
    from signals.catalogue.model import Budget, Drop, LabelChange, Metric, Producer

REQUIREMENTS = {
    "A3": "metrics are kept: volumes, retention, limits",
    "A4": "Grafana: datasources and boards as they were rendered",
    "A5": "SwanLab self-hosted, on stores that persist",
    "A6": "traces and logs are collected, and outlive a killed gateway",
    "A8": "secure by default",
    "A10": "an embedded cluster on one machine",
    "B0": "every check declares its impact, and asks the right cluster",
    "B1": "pods, images, roll-outs, claims; data survives",
    "B2": "what an SDK logs is read back",
    "B3": "scraping: targets, labels, fresh values",
    "B4": "restore points that are verified, and kept from everybody",
    "B6": "of traces and logs what must be kept is kept, what must be hidden is hidden, and counts balance",
    "B5": "alerts reach who must know",
    "B7": "every panel of every board answers",
    "C1": "whose a series is, and what it must not say of people",
    "C9": "logs are structured, and hold no secrets and no prompts",
    "C8": "alerts that are evaluated",
    "C16": "volume is planned for, and limited",
    "D9": "the pipeline of traces is tested by what it does",
    "D12": "series stay within what was planned",
}

CHECKS = """# Checks of the smoke suite

`make smoke` runs those of impact `read` and `sentinel`; `make prove` adds `disruptive`. A check whose need is not
among the capabilities of the [contract](contract.md) is a declared skip. How to read a report:
[operate](../operate.md#read-a-report).

"""
SIGNALS = """# Signals

What each producer exposes and what of it is kept. The same records give the scrape jobs, the rules and the checks
`signals.contract` and `signals.fresh`. "Event" names what makes a series appear that is absent by design until then.
A label in brackets need not be there; without brackets it has a value on at least one series, always.

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
        if check.conformance:
            items[PROGRAMME] = f"helps to prove {listed(check.conformance)}."
        if check.may_skip:
            items["Skipped where"] = f"{check.may_skip}."
        parts.append(f"## {code(check.id)}\n\n" + facts(items))
    return "".join(parts)


def signals() -> str:
    """The page of the catalogue."""
    return SIGNALS + _index() + "".join(_producer(page) for page in PRODUCERS) + _banned() + _budgets()


def _index() -> str:
    links = [f"[{page.title}](#{slug(page.title)})" for page in PRODUCERS]
    links += ["[banned labels](#banned-labels)", "[series budgets](#series-budgets)"]
    return "- " + " · ".join(links) + "\n\n"


def _producer(page: Producer) -> str:
    items = {
        "Job": code(page.job) + (", one target per node" if page.per_node else ""),
        "Checked against": page.versions,
        "Target labels": listed(("job", "instance", *page.target_labels))
        + (f"; {code('instance')} is the node's name" if page.instance_is_node else ""),
    }
    if page.honor_labels:
        items["Labels of its own"] = "win over those of the target: it speaks of other objects"
    if page.identity:
        items["What a series is about"] = listed(page.identity)
    items["Series planned for"] = _planned(page.budget)
    common = frozenset.intersection(*(frozenset((*m.labels, *m.optional)) for m in page.metrics))
    if common:
        items["Labels of every metric"] = _labels(page.metrics[0], common)
    metrics = table(
        ("Metric", "Type", "Unit", "Range", "Labels", "Meaning"), (_metric(m, common) for m in page.metrics)
    )
    return f"## {page.title}\n\n" + facts(items) + metrics + _changes(page.label_changes) + _drops(page.drops)


def _planned(budget: Budget) -> str:
    """`1500, 60 per node`: every field of a budget is a number of series per something, or whatever there is."""
    parts = {field.name: getattr(budget, field.name) for field in dataclasses.fields(budget)}
    words = {name: name.replace("fixed", "").replace("_", " ") for name in parts}
    spelt = {name: word.replace("gpu", "GPU").replace("api", "API") for name, word in words.items()}
    return ", ".join(f"{planned} {spelt[name]}".strip() for name, planned in parts.items() if planned)


def _metric(metric: Metric, common: frozenset[str]) -> tuple[str, ...]:
    event = f" Event: {metric.event}." if metric.presence is Presence.EVENT else ""
    moves = " It never stands still on a producer that measures." if metric.moves else ""
    labels = _labels(metric, frozenset((*metric.labels, *metric.optional)) - common)
    return code(metric.name), metric.type, metric.unit, _range(metric), labels, metric.meaning + event + moves


def _labels(metric: Metric, shown: frozenset[str]) -> str:
    """Those that are shown, in the order of the catalogue; in brackets what no series need carry."""
    always = [code(label) for label in metric.labels if label in shown]
    return ", ".join((*always, *(f"({code(label)})" for label in metric.optional if label in shown)))


def _range(metric: Metric) -> str:
    low, high = (None if bound is None else number(bound) for bound in (metric.low, metric.high))
    if low is None and high is None:
        return "any"
    if high is None:
        return f"from {low}"
    return f"{low} to {high}" if low is not None and low != high else f"{'' if low else 'to '}{high}"


def _changes(changes: tuple[LabelChange, ...]) -> str:
    if not changes:
        return ""
    rows = [
        (code(change.source), code(change.target) if change.target else "not kept", change.why) for change in changes
    ]
    return "Labels that change:\n\n" + table(("Name matches", "Becomes", "Why"), rows)


def _drops(drops: tuple[Drop, ...]) -> str:
    if not drops:
        return ""
    rows = [(code(drop.metric), _which(drop), drop.why) for drop in drops]
    return "Not kept:\n\n" + table(("Name matches", "Of these", "Why"), rows)


def _which(drop: Drop) -> str:
    if drop.buckets:
        return f"buckets {listed(drop.buckets)}"
    return listed(f"{label}=~{pattern!r}" for label, pattern in drop.labels) if drop.labels else "all"


def _banned() -> str:
    speaks = listed(page.job for page in PRODUCERS if page.of_others)
    return (
        "## Banned labels\n\n"
        f"{listed(BANNED)}: unbounded or personal. A producer that speaks of others ({speaks}) may expose them; "
        f"scraping takes them off and writes the label's name into {code(DROPPED_LABEL)}, so that they are counted by "
        f"{code('signals.banned')} and by an alert.\n\n"
    )


def _budgets() -> str:
    """What each committed stack plans for, from its own sizing."""
    planned = {stack: settings_of(stack) for stack in STACKS}
    rows = []
    for page in PRODUCERS:
        cells = [str(series(page, found.sizing)) if page in pages(found) else "" for found in planned.values()]
        rows.append((code(page.job), _planned(page.budget), *cells))
    text = (
        "## Series budgets\n\n"
        f"Series that a job may store before {code('signals.budget')} is red and an alert fires, computed from "
        f"{code('plumbline:sizing')}. Empty: not scraped on this stack. How to plan: "
        "[operate](../operate.md#size-and-budgets).\n\n"
    )
    return text + table(("Job", "Planned", *STACKS), rows)
