"""The reference page of alerts and recorded series, and the index of the runbooks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from signals.routing import GROUP_BY, RHYTHMS, inhibit_rules
from signals.rules import RULE_FILES, groups
from signals.rules.model import Alert, Record, Severity
from signals.rules.sentinel import sentinel
from tests.offline.docs.markdown import ROOT
from tests.offline.docs.table import code, listed, slug, table
from tests.offline.signals.promtool_cases import INPUTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from signals.rules.model import Group

SENTINEL_FILE = "rules-sentinel.yml"
TITLES = {
    "rules-prometheus.yml": "Prometheus",
    "rules-targets.yml": "Scrape targets",
    "rules-series.yml": "Series",
    "rules-node.yml": "Nodes",
    "rules-kubernetes.yml": "Kubernetes objects",
    "rules-apiserver.yml": "The API server",
    "rules-kube-state-metrics.yml": "kube-state-metrics",
    "rules-pushgateway.yml": "Pushgateway and pushed jobs",
    "rules-page-proof.yml": "Proof of a page",
    "rules-watchdog.yml": "Watchdog",
    "rules-alerting.yml": "From Prometheus to Alertmanager",
    "rules-alertmanager.yml": "Alertmanager",
    "rules-object-store.yml": "The object store",
    "rules-swanlab.yml": "SwanLab",
    "rules-swanlab-buffer.yml": "SwanLab's delivery buffer",
    "rules-swanlab-clickhouse.yml": "SwanLab's ClickHouse",
    "rules-recovery.yml": "Restore points",
    "rules-telemetry.yml": "Collectors of traces and logs",
    "rules-span-metrics.yml": "Metrics of spans",
    "rules-logs.yml": "The store of logs",
    "rules-traces.yml": "The store of traces",
    "rules-identity.yml": "Identity of workloads",
    "rules-gpu.yml": "GPUs",
    "rules-gpu-kubernetes.yml": "GPUs and the pods that hold them",
    SENTINEL_FILE: "Revision of the configuration",
}
AREAS = {
    "gpu": "GPUs",
    "node": "Nodes",
    "kubernetes": "Kubernetes objects",
    "apiserver": "The API server",
    "scrape": "Scraping",
    "series": "Series",
    "prometheus": "Prometheus",
    "alerting": "Alerting",
    "alertmanager": "Alertmanager",
    "pushgateway": "Pushed jobs",
    "swanlab": "SwanLab",
    "object": "The object store",
    "recovery": "Restore points",
    "telemetry": "Collectors of traces and logs",
    "logs": "The store of logs",
    "traces": "The store of traces",
}
RESPONSE = {
    Severity.P0: "5 minutes",
    Severity.P1: "15 minutes",
    Severity.P2: "one hour",
    Severity.P3: "one working day",
}

ALERTS = """# Alerts and recorded series

By rule file, with the thresholds that a stack has unless its `plumbline:thresholds` say otherwise. A file is rendered
only where the stack scrapes the jobs that it needs. "After" is how long the condition must hold; windows inside the
expression come on top. Every runbook: [runbooks](../runbooks/README.md). Codes of GPU errors: [XIDs](xid.md).

"""
RUNBOOKS = """# Runbooks

Every alert names its runbook; each has the same parts: what it means, diagnose, mitigate, undo, escalate. Severity says
how soon somebody must respond: P0 5 minutes, P1 15 minutes, P2 one hour, P3 one working day.

Under "Diagnose", the block of commands only reads, and the live tests run it. It asks Prometheus through the API
server, so that no port is opened; `bin/kubectl` talks to the embedded cluster, elsewhere use `kubectl` with your
context. For a Prometheus that this stack did not deploy, put its namespace, Service and port into the address. Commands
in the text are not run: they need a node with GPUs, or the pod, node or volume that the alert names (`NODE`,
`NAMESPACE`, `<pod>`). The addresses of pages (`/graph`, `/alerts`) exist with upstream's image; that of stack `local`
has the API alone.

"""


def alerts() -> str:
    """The page of the rules, by file."""
    files = {**groups(INPUTS), SENTINEL_FILE: (sentinel("…"),)}
    needs = {file.name: file.needs for file in RULE_FILES}
    links = [f"[{TITLES[name]}](#{slug(TITLES[name])})" for name in files]
    index = "- " + " · ".join((*links, "[How soon it is told](#how-soon-it-is-told)")) + "\n\n"
    return (
        ALERTS
        + index
        + "".join(_file(name, found, needs.get(name, frozenset())) for name, found in files.items())
        + _rhythms()
        + _inhibitions()
    )


def _file(name: str, found: tuple[Group, ...], needs: frozenset[str]) -> str:
    rules = [rule for group in found for rule in group.rules]
    alerting: dict[str, list[Alert]] = {}
    for rule in rules:
        if isinstance(rule, Alert):
            alerting.setdefault(rule.alert, []).append(rule)
    recorded: dict[str, list[Record]] = {}
    for rule in rules:
        if isinstance(rule, Record):
            recorded.setdefault(rule.record, []).append(rule)
    records = [_record(variants) for variants in recorded.values()]
    intro = f"File {code(name)}" + (f", needs {listed(sorted(needs))}" if needs else "") + ".\n\n"
    rows = [_alert(variants) for variants in alerting.values()]
    heads = ("Alert", "Severity", "After", "Summary", "One for each", "Runbook")
    return (
        f"## {TITLES[name]}\n\n{intro}"
        + (table(heads, rows) if rows else "")
        + (table(("Recorded series", "Expression", "One for each"), records) if records else "")
    )


def _alert(variants: list[Alert]) -> tuple[str, ...]:
    """A line for all alerts of one name, with what they differ in."""
    first = variants[0]
    return (
        code(first.alert),
        ", ".join(sorted({v.severity for v in variants})),
        ", ".join(code(wait) for wait in dict.fromkeys(v.wait for v in variants)),
        code(first.summary),
        _differences([v.labels for v in variants]),
        f"[{first.runbook}](../runbooks/{first.runbook}.md)",
    )


def _record(variants: list[Record]) -> tuple[str, ...]:
    """A line for all records of one name. A budget is a number of the stack."""
    first, each = variants[0], _differences([v.labels for v in variants])
    expr = first.expr
    for label, value in first.labels.items() if each else ():
        expr = re.sub(rf"/ {INPUTS.budgets.get(value, '')}$", "/ …", expr.replace(f'{label}="{value}"', f'{label}="…"'))
    return code(first.record), code(expr), each


def _differences(labels: list[dict[str, str]]) -> str:
    """Labels in which rules of one name differ, with their values."""
    values = {key: list(dict.fromkeys(found[key] for found in labels)) for key in labels[0]}
    return "; ".join(f"{key}: {listed(found)}" for key, found in values.items() if len(found) > 1)


def _rhythms() -> str:
    rows = [(s.value, RESPONSE[s], code(r.wait), code(r.interval), code(r.repeat)) for s, r in RHYTHMS.items()]
    return (
        "## How soon it is told\n\n"
        f"By the Alertmanager of the stack, in groups by {listed(GROUP_BY)}. An alert with an unknown severity is told "
        "like P1. The Watchdog is told every minute, and the proof of a page at once.\n\n"
        + table(("Severity", "Respond within", "First told after", "What joins, after", "Told again after"), rows)
    )


def _inhibitions() -> str:
    rows = [
        (
            listed(rule["source_matchers"]),
            listed(rule["target_matchers"]),
            listed(rule["equal"]),
        )
        for rule in inhibit_rules()
    ]
    return "While one fires, another of the same object is not told:\n\n" + table(("Fires", "Not told", "Same"), rows)


def runbooks() -> str:
    """The index of the runbooks, by area, the most severe first."""
    found: dict[str, list[Alert]] = {}
    for rule in (rule for file in groups(INPUTS).values() for group in file for rule in group.rules):
        if isinstance(rule, Alert):
            found.setdefault(rule.runbook, []).append(rule)
    unknown = {name.partition("-")[0] for name in found} - set(AREAS)
    if unknown:
        raise ValueError(f"no area for runbooks {', '.join(sorted(unknown))}-*; add a title to AREAS")
    return RUNBOOKS + "".join(_area(area, title, found) for area, title in AREAS.items())


def _area(area: str, title: str, found: dict[str, list[Alert]]) -> str:
    own = {name: rules for name, rules in found.items() if name.partition("-")[0] == area}
    ordered = sorted(own, key=lambda name: (min(_severities(own[name])), name))
    rows = [(", ".join(sorted(_severities(own[n]))), _names(own[n]), f"[{_title(n)}]({n}.md)") for n in ordered]
    return f"## {title}\n\n" + table(("Severity", "Alerts", "Runbook"), rows)


def _severities(rules: Iterable[Alert]) -> set[str]:
    return {rule.severity.value for rule in rules}


def _names(rules: Iterable[Alert]) -> str:
    return listed(dict.fromkeys(rule.alert for rule in rules))


def _title(name: str) -> str:
    text = (ROOT / "docs" / "runbooks" / f"{name}.md").read_text(encoding="utf-8")
    return text.partition("\n")[0].removeprefix("# ")
