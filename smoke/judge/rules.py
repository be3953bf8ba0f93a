"""Rules: loaded, evaluated, healthy. A rule that fails its evaluation is an alert that never fires."""

from __future__ import annotations

from typing import Any

from smoke import limits
from smoke.judge.units import timestamp
from smoke.model import Problem

Json = dict[str, Any]


def sentinel(groups: list[Json], name: str, started: float, expected: str | None = None) -> list[Problem]:
    """The sentinel rule is loaded, healthy, and was evaluated after the program started at Unix time `started`.

    expected: the revision that it must show; None if the contract gives none.
    """
    found = [rule for group in groups for rule in group.get("rules") or [] if rule["name"] == name]
    if not found:
        return [Problem(f"rule {name}", "not loaded", "loaded")]
    problems = []
    for rule in found:
        problems += _health(f"rule {name}", rule)
        if timestamp(rule["lastEvaluation"]) < started:
            problems.append(Problem(f"rule {name}", "not evaluated since the start", "evaluated"))
    shown = [(rule.get("labels") or {}).get("revision") for rule in found]
    if expected is not None and shown != [expected]:
        seen = ", ".join(map(str, shown))
        problems.append(Problem(f"rule {name}", f"revision {seen}", f"revision {expected}"))
    return problems


def healthy(groups: list[Json], own: frozenset[str], now: float, *, foreign: bool) -> list[Problem]:
    """Every group of ours is there, and each rule is healthy and was evaluated recently.

    own: names of our groups. now: Prometheus' own Unix time. foreign: rules of somebody else are not ours to judge.
    """
    if not groups:
        return [Problem("rules", "no rule group", "at least one rule group")]
    missing = own - {group["name"] for group in groups}
    return [
        *(Problem(f"rule group {name}", "not loaded", "loaded") for name in sorted(missing)),
        *(problem for group in groups if not foreign or group["name"] in own for problem in _group(group, now)),
    ]


def failures_flat(increases: list[Json], own: frozenset[str], *, foreign: bool) -> list[Problem]:
    """No rule evaluation failed in the window. Takes the result of an `increase` over the failure counter.

    Prometheus calls a group by its file and its name, with a semicolon between.
    """
    mine = [s for s in increases if not foreign or s["metric"].get("rule_group", "").rpartition(";")[2] in own]
    return [
        Problem(
            f"rule group {series['metric'].get('rule_group', '?')}",
            f"{float(series['value'][1]):g} failed evaluations in {limits.FLAT_WINDOW}",
            "none",
        )
        for series in mine
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
