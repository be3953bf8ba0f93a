"""Rules of telemetry are made of the stack's numbers, and each part of an expression is there for a case."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import yaml
from pydantic import TypeAdapter

from signals.rules import groups, rule_files
from signals.rules.inputs import RuleInputs, TelemetryPlans
from signals.rules.model import Alert
from signals.thresholds import Thresholds
from tests.offline.signals.promtool_cases import CASES, INPUTS, run

if TYPE_CHECKING:
    from pathlib import Path

FILES = {"rules-telemetry.yml", "rules-span-metrics.yml", "rules-logs.yml", "rules-traces.yml"}
COLLECTORS = "rules-telemetry.yml"


def alerts_of(inputs: RuleInputs) -> dict[str, list[Alert]]:
    """Alerts of telemetry by name."""
    found: dict[str, list[Alert]] = {}
    for file in FILES & set(rule_files(inputs)):
        for rule in (rule for group in groups(inputs)[file] for rule in group.rules):
            if isinstance(rule, Alert):
                found.setdefault(rule.alert, []).append(rule)
    return found


def without(*jobs: str) -> RuleInputs:
    return replace(INPUTS, jobs=tuple(job for job in INPUTS.jobs if job not in jobs))


def planned(**changed: int | None) -> RuleInputs:
    assert INPUTS.telemetry is not None
    return replace(INPUTS, telemetry=replace(INPUTS.telemetry, **changed))  # type: ignore[arg-type]  # numbers of the record


def test_a_stack_without_telemetry_has_none_of_the_files() -> None:
    jobs = ("otel-agent", "otel-gateway", "span-metrics", "victoria-logs", "jaeger")
    bare = replace(without(*jobs), telemetry=None)
    assert set(rule_files(INPUTS)) - set(rule_files(bare)) == FILES


def test_collectors_without_plans_have_no_rules() -> None:
    assert COLLECTORS not in rule_files(replace(INPUTS, telemetry=None))


def test_stores_that_are_somebody_elses_are_not_judged() -> None:
    """Nor does a gateway that is missing look like one that sends."""
    found = alerts_of(without("victoria-logs", "jaeger"))
    assert {name for name in found if name.startswith(("Logs", "TracesW", "TracesR", "TracesN"))} == set()
    assert {"LogsNotStored", "TracesNotStored"} & set(alerts_of(without("otel-gateway"))) == set()


def test_agents_that_do_not_run_are_not_missed() -> None:
    assert {n for n in alerts_of(without("otel-agent")) if n.startswith("TelemetryAgent")} == set()


def test_plans_survive_the_contract() -> None:
    adapter = TypeAdapter(RuleInputs)
    assert adapter.validate_json(adapter.dump_json(INPUTS)) == INPUTS
    assert adapter.validate_python({"jobs": ["prometheus"]}).telemetry is None


def test_memory_is_that_of_each_container() -> None:
    (found,) = alerts_of(planned(agent_memory_bytes=111, gateway_memory_bytes=222))["TelemetryMemoryHigh"]
    agent, gateway = found.expr.split("\nor\n")
    assert ('job="otel-agent"' in agent, "/ 111 > 0.9" in agent) == (True, True)
    assert ('job="otel-gateway"' in gateway, "/ 222 > 0.9" in gateway) == (True, True)


def test_what_a_killed_gateway_may_lose_is_told() -> None:
    (found,) = alerts_of(planned(decision_wait_seconds=42))["TelemetryGatewayRestarted"]
    assert "which came in the 42 seconds before" in found.description


def test_volumes_are_compared_with_the_plan() -> None:
    own = planned(log_records_per_second=7, log_bytes_per_second=8, spans_per_second=9)
    found = {alert.labels["volume"]: alert.expr for alert in alerts_of(own)["TelemetryVolumeAbovePlan"]}
    assert {volume: expr.rpartition("/ ")[2] for volume, expr in found.items()} == {
        "log records per second": "7\n> 1",
        "log bytes per second": "8\n> 1",
        "spans per second": "9\n> 1",
    }


def test_a_store_of_logs_is_held_to_its_promise() -> None:
    (found,) = alerts_of(planned(logs_retention_seconds=1_209_600))["LogsHistoryCutBySize"]
    assert found.expr.endswith("< 1209600")
    assert "promised are 14 days" in found.description
    assert "LogsHistoryCutBySize" not in alerts_of(planned(logs_retention_seconds=None))


@pytest.mark.parametrize(
    ("threshold", "value", "name"),
    [
        ("telemetry_queue_high", 0.61, "TelemetryQueueFilling"),
        ("telemetry_memory_high", 0.62, "TelemetryMemoryHigh"),
        ("telemetry_volume_high", 0.63, "TelemetryVolumeNearPlan"),
        ("telemetry_late_spans_high", 0.64, "TracesLateSpans"),
        ("telemetry_unaccounted_high", 0.65, "TelemetryUnaccounted"),
        ("volume_free_low", 0.66, "LogsNearlyFull"),
    ],
)
def test_numbers_are_the_stacks(threshold: str, value: float, name: str) -> None:
    own = replace(INPUTS, thresholds=Thresholds.model_validate({threshold: value}))
    assert all(str(value) in alert.expr for alert in alerts_of(own)[name])


def test_plans_are_complete() -> None:
    with pytest.raises(TypeError, match="gateway_memory_bytes"):
        TelemetryPlans(agent_memory_bytes=1)  # type: ignore[call-arg]  # what the test is about


CHANGES = [
    ("TelemetryRefused", ', receiver!~"file_?log(/.*)?"', ""),
    ("TelemetryRefused", "[5m]", "[1h]"),
    ("TelemetryAgentBehind", ', receiver=~"file_?log(/.*)?"', ""),
    ("TelemetryAgentReadsNothing", "[10m]", "[1m]"),
    ("TelemetryMemoryHigh", "/ 2000 > 0.9", "/ 2000 > 0.89"),
    ("TelemetryMemoryHigh", "/ 1000 > 0.9", "/ 1000 > 0.89"),
    ("TelemetryRedactionFailing", "min_over_time", "max_over_time"),
    ("TelemetryRedactionFailing", "> max_over_time", "> min_over_time"),
    ("TelemetryRedactionFailing", "< 15m", "< 0"),
    ("TelemetryNotSending", "unless", "and"),
    ("TelemetryNotSending", "min_over_time(otelcol_exporter_queue_size", "max_over_time(otelcol_exporter_queue_size"),
    ("TelemetryQueueFilling", "> 0.8", "> 0.79"),
    ("TelemetryQueueFilling", "0.4 and", "0.04 and"),
    ("TelemetryUnaccounted", '[15m]), "signal"', '[15m]) * 0, "signal"'),
    ("TelemetryUnaccounted", "> 0.01", "> 0.001"),
    ("TelemetryGatewayRestarted", "offset 15m", ""),
    ("TelemetryVolumeAbovePlan", "> 1", "> 0.9"),
    ("TelemetryVolumeNearPlan", "> 0.8", "> 0.7"),
    ("TracesLateSpans", ', sampled="false"', ""),
    ("TracesLateSpans", "> 0.05", ">= 0.05"),
    ("SpanMetricsOverflow", ', otel_metric_overflow="true"', ""),
    ("LogsDropped", ', reason!="debug"', ""),
    ("LogsDropped", ', level="warn"', ""),
    ("LogsDropped", ', location=~".*/lib/logstorage/(block|log_rows)[.]go:.*"', ""),
    ("LogsInsertsFailing", ', path=~"/insert/.*"', ""),
    ("LogsHistoryCutBySize", " > 1)", ")"),
    ("LogsNotStored", ', exporter=~"otlp.*"', ""),
    ("TracesNotStored", ', exporter=~"otlp.*"', ""),
    ("TracesNotStored", "unless", "and"),
    ("TracesRefused", "otelcol_receiver_failed_spans_total", "otelcol_receiver_refused_spans_total"),
]


@pytest.mark.parametrize(("name", "old", "new"), CHANGES)
def test_a_rule_that_says_less_fails_its_cases(name: str, old: str, new: str, tmp_path: Path) -> None:
    """Each part of an expression is there for a case that fails without it."""
    changed = {}
    for file in FILES:
        document = yaml.safe_load(rule_files(INPUTS)[file])
        rules = [r for group in document["groups"] for r in group["rules"] if r.get("alert", name) == name]
        edited = [r | ({"expr": r["expr"].replace(old, new)} if "alert" in r else {}) for r in rules]
        changed[file] = yaml.safe_dump({"groups": [{"name": f"changed-{file}", "rules": edited}]})
    assert changed != {file: rule_files(INPUTS)[file] for file in FILES}
    assert any(old in rule.expr for rule in alerts_of(INPUTS)[name])
    cases = [case for case in CASES if case.stem.startswith(("telemetry", "logs-", "traces-"))]
    outputs = [run(case, tmp_path, changed, name) for case in cases if f"name: {name}, " in case.read_text()]
    assert any(code != 0 and f'alertname="{name}"' in output for code, output in outputs)
