"""Rules do what they say (promtool's unit tests), and each keeps the conventions that make it useful at night."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import yaml

from signals.catalogue import PRODUCERS
from signals.rules import groups, rule_files
from signals.rules.expressions import grew
from signals.rules.model import Alert, Group, Severity, rule_file
from tests.offline.signals.promtool_cases import CASES, INPUTS, alerts, cases_in, records, run, states, states_tested
from tests.offline.stacks.examples import ROOT

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

NAMES = sorted({alert.alert for alert in alerts()})
COUNTERS = sorted({alert.alert for alert in alerts() if "increase(" in alert.expr})
SECTIONS = ("## What it means", "## Diagnose", "## Mitigate", "## Undo", "## Escalate")


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.stem))
def test_promtool_agrees(case: Path, tmp_path: Path) -> None:
    code, output = run(case, tmp_path)
    assert code == 0, output


def home(name: str) -> Path:
    """The file with most tests of an alert; another may tell one of its stories."""
    return max(
        CASES,
        key=lambda case: (sum(test["name"].startswith(f"{name}, ") for test in cases_in(case)), -len(case.stem)),
    )


HOMES = {name: home(name) for name in NAMES}


@pytest.mark.parametrize("case", sorted(set(HOMES.values())), ids=lambda case: str(case.stem))
@pytest.mark.parametrize("expression", ["vector(1)", "vector(1) > 1"], ids=["always", "never"])
def test_an_alert_that_always_or_never_fires_is_seen(case: Path, expression: str, tmp_path: Path) -> None:
    """Of the tests of an alert in one file, one fails if it always fires, and one if it never does."""
    named = {name for name in NAMES if HOMES[name] == case}
    changed = {file: _with_expression(text, named, expression) for file, text in rule_files(INPUTS).items()}
    _, output = run(case, tmp_path, changed)
    failed = set(re.findall(r"^ +name: (.*),$", output, flags=re.MULTILINE))
    seen = {name for name in named for test in cases_in(case) if test["name"] in failed and states(test, name)}
    assert seen == named


def _with_expression(text: str, names: Collection[str], expression: str) -> str:
    """The rules of these alerts with another expression; the others only cost time."""
    rules = [rule for group in yaml.safe_load(text)["groups"] for rule in group["rules"] if rule.get("alert") in names]
    changed = [{**rule, "expr": expression} for rule in rules]
    return yaml.safe_dump({"groups": [{"name": "changed", "rules": changed}]})


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: str(alert.alert))
def test_every_alert_is_tested_before_while_and_after(alert: Alert) -> None:
    assert untested(alert) == set()


def untested(alert: Alert) -> set[str]:
    """States of an alert that no case expects."""
    wanted = {"silent", "firing", "silent again", "annotations"} | ({"pending"} if alert.wait != "0s" else set())
    return wanted - states_tested(alert.alert)


def test_an_alert_without_a_test_is_seen() -> None:
    assert untested(replace(alerts()[0], alert="Untested", wait="5m")) == {
        *("silent", "pending", "firing", "silent again", "annotations")
    }


@pytest.mark.parametrize("name", COUNTERS)
def test_every_alert_on_a_counter_is_tested_with_one_born_above_zero(name: str) -> None:
    names = [test["name"] for case in CASES for test in cases_in(case)]
    assert any(
        found.startswith(f"{name}, ") and "1" in found and ("born" in found or "first" in found) for found in names
    )


def test_growth_sees_a_counter_that_is_born_above_zero_on_a_target_that_was_scraped() -> None:
    born = "(x > 0 unless x offset 5m and on (cluster, job, instance) up offset 5m == 1)"
    assert grew("x", "5m").startswith(f"increase(x[5m]) > 0\nor\n{born}\nor\n")


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: f"{alert.alert}-{'-'.join(alert.labels.values())}")
def test_no_alert_takes_a_gap_of_prometheus_for_a_new_series(alert: Alert) -> None:
    assert unguarded(alert.expr) == 0


def unguarded(expression: str) -> int:
    """How many comparisons with the past lack the proof that the target was scraped then."""
    news = re.findall(r"unless .+? offset (\w+)(.*)", expression)
    return sum(f"up offset {window} == 1" not in rest for window, rest in news)


def test_a_new_series_that_is_taken_on_trust_is_seen() -> None:
    assert unguarded("increase(x[5m]) > 0\nor\n(x > 0 unless x offset 5m)") == 1
    assert unguarded(grew("x", "5m").replace("up offset 5m", "up offset 9m")) == 1
    assert unguarded(grew("x", "5m")) == 0


@pytest.mark.parametrize("name", ["AlertmanagerNotificationsFailing", "PrometheusRuleFailures"])
@pytest.mark.parametrize("guard", [" and on (cluster, job, instance) up offset 10m == 1", " == 1"])
def test_without_the_guard_a_gap_looks_like_a_failure(name: str, guard: str, tmp_path: Path) -> None:
    expression = next(alert.expr for alert in alerts() if alert.alert == name)
    case = next(case for case in CASES if case.stem == name.partition("Notif")[0].partition("Rule")[0].lower())
    for expr, agrees in ((expression, True), (expression.replace(guard, ""), False)):
        changed = {file: _with_expression(text, {name}, expr) for file, text in rule_files(INPUTS).items()}
        assert (run(case, tmp_path, changed, name)[0] == 0) == agrees


@pytest.mark.parametrize("name", ["PrometheusWalCorruption", "PrometheusRuleFailures"])
def test_growth_without_the_start_of_the_process_misses_a_second_failure_after_a_restart(
    name: str, tmp_path: Path
) -> None:
    """Sees the cases fail without the last part of `grew`."""
    expression = next(alert.expr for alert in alerts() if alert.alert == name).rpartition("\nor\n")[0]
    changed = {file: _with_expression(text, {name}, expression) for file, text in rule_files(INPUTS).items()}
    case = next(case for case in CASES if case.stem == "prometheus-restart")
    assert run(case, tmp_path, changed, name)[0] != 0


def test_growth_asks_the_process_that_the_counter_belongs_to() -> None:
    last = grew("x", "5m").rpartition("\nor\n")[2]
    assert last == "(x > 0 and on (cluster, job, instance) time() - process_start_time_seconds < 5m)"


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: f"{alert.alert}-{'-'.join(alert.labels.values())}")
def test_alert_has_severity_summary_description_and_runbook(alert: Alert) -> None:
    found = alert.render()
    assert found["labels"]["severity"] in set(Severity)
    assert found["annotations"]["summary"]
    assert "Likely causes:" in found["annotations"]["description"]
    assert found["annotations"]["runbook_url"] == f"docs/runbooks/{alert.runbook}.md"


def test_every_alert_has_a_runbook_that_says_what_to_do() -> None:
    assert runbook_faults(alerts(), ROOT / "docs" / "runbooks") == []


def runbook_faults(rules: list[Alert], directory: Path) -> list[str]:
    """What is missing of the runbooks of these alerts."""
    found = []
    for alert in rules:
        path = directory / f"{alert.runbook}.md"
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if not text:
            found.append(f"{alert.alert}: {path.name} is missing")
        elif alert.alert not in text:
            found.append(f"{alert.alert}: {path.name} does not name it")
        found += [f"{path.name}: no {title}" for title in SECTIONS if text and title not in text]
    return sorted(set(found))


def test_a_runbook_that_is_missing_or_lacks_a_part_is_seen(tmp_path: Path) -> None:
    first = next(alert for alert in alerts() if alert.alert == "GpuHot")
    assert runbook_faults([first], tmp_path) == ["GpuHot: gpu-hot.md is missing"]
    (tmp_path / "gpu-hot.md").write_text("\n".join(SECTIONS[1:]), encoding="utf-8")
    assert runbook_faults([first], tmp_path) == [
        "GpuHot: gpu-hot.md does not name it",
        "gpu-hot.md: no ## What it means",
    ]


def test_no_runbook_is_left_over() -> None:
    known = {alert.runbook for alert in alerts()}
    found = {path.stem for path in (ROOT / "docs" / "runbooks").glob("*.md")}
    assert known <= found
    assert {name for name in found if name.startswith(("prometheus-", "scrape-"))} <= known


@pytest.mark.parametrize(
    "rule", [*alerts(), *records()], ids=lambda rule: str(getattr(rule, "alert", None) or rule.record)
)
def test_every_aggregation_keeps_cluster(rule: Alert) -> None:
    """Two clusters in one store must never be added up. `without` and bare aggregations would drop or blur it."""
    aggregations = re.findall(
        r"\b(?:sum|avg|min|max|count|quantile|topk|stddev|group)\b\s*(by|without)?\s*\(([^)]*)", rule.expr
    )
    assert all(how == "by" and "cluster" in names.split(", ") for how, names in aggregations)


def test_an_absence_alert_exists_for_every_job() -> None:
    found = {alert.labels["job"] for alert in alerts() if alert.alert == "ScrapeJobAbsent"}
    assert found == {page.job for page in PRODUCERS}


def test_names_of_groups_are_unique() -> None:
    names = [group.name for found in groups(INPUTS).values() for group in found]
    assert len(names) == len(set(names))


def test_the_same_rules_always_give_the_same_bytes() -> None:
    assert rule_files(INPUTS) == rule_files(INPUTS)


def test_expressions_of_several_lines_stay_readable() -> None:
    alert = Alert(
        alert="A", expr="a\nor\nb", wait="1m", severity=Severity.P3, summary="s", description="d", runbook="r"
    )
    assert "expr: |-\n      a\n      or\n      b\n" in rule_file((Group(name="g", rules=(alert,)),))
