"""Rules: loaded, evaluated, healthy. A rule that fails its evaluation is an alert that never fires."""

from __future__ import annotations

from typing import Any

from smoke import limits
from smoke.judge.units import timestamp
from smoke.model import Problem

Json = dict[str, Any]


def sentinel(groups: list[Json], name: str, started: float) -> list[Problem]:
    """The sentinel rule is loaded, healthy, and was evaluated after the program started at Unix time `started`."""
    found = [rule for group in groups for rule in group.get("rules") or [] if rule["name"] == name]
    if not found:
        return [Problem(f"rule {name}", "not loaded", "loaded")]
    problems = []
    for rule in found:
        problems += _health(f"rule {name}", rule)
        if timestamp(rule["lastEvaluation"]) < started:
            problems.append(Problem(f"rule {name}", "not evaluated since the start", "evaluated"))
    return problems


def healthy(groups: list[Json], now: float) -> list[Problem]:
    """There are rules, and each is healthy and was evaluated recently. `now` is Prometheus' own Unix time."""
    if not groups:
        return [Problem("rules", "no rule group", "at least one rule group")]
    return [problem for group in groups for problem in _group(group, now)]


def failures_flat(increases: list[Json]) -> list[Problem]:
    """No rule evaluation failed in the window. Takes the result of an `increase` over the failure counter."""
    return [
        Problem(
            f"rule group {series['metric'].get('rule_group', '?')}",
            f"{float(series['value'][1]):g} failed evaluations in {limits.FLAT_WINDOW}",
            "none",
        )
        for series in increases
        if float(series["value"][1]) > 0
    ]


def _group(group: Json, now: float) -> list[Problem]:
    subject = f"rule group {group['name']}"
    rules = group.get("rules") or []
    if not rules:
        return [Problem(subject, "no rules", "at least one rule")]
    problems = []
    allowed = max(group["interval"] * limits.RULE_FRESH_INTERVALS, limits.FRESH_MINIMUM)
    for rule in rules:
        name = f"{subject} rule {rule['name']}"
        problems += _health(name, rule)
        age = now - timestamp(rule["lastEvaluation"])
        if rule["health"] != "unknown" and age > allowed:
            problems.append(Problem(name, f"last evaluated {age:.0f} s ago", f"at most {allowed:.0f} s ago"))
    return problems


def _health(subject: str, rule: Json) -> list[Problem]:
    if rule["health"] == "ok":
        return []
    error = f": {rule['lastError']}" if rule.get("lastError") else ""
    return [Problem(subject, f"health {rule['health']}{error}", "health ok")]
