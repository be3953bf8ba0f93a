"""Rules of restore points are there where points are made, and hold them to the numbers of the stack."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from pydantic import TypeAdapter

from signals import recovery_metrics as names
from signals.catalogue.pushgateway import PRODUCER
from signals.catalogue.recovery import METRICS
from signals.pushed_jobs import JOB_SUCCESS
from signals.rules import groups, rule_files
from signals.rules.inputs import RuleInputs
from signals.rules.model import Alert
from signals.thresholds import Thresholds
from tests.offline.signals.promtool_cases import CASES, INPUTS, run

if TYPE_CHECKING:
    from pathlib import Path

FILE = "rules-recovery.yml"
CASE = next(case for case in CASES if case.stem == "recovery")
ALWAYS = {"plumbline-recovery-points", "plumbline-recovery-verification", "plumbline-recovery-sizes"}


def alert(name: str, inputs: RuleInputs = INPUTS) -> Alert:
    rules = [rule for group in groups(inputs)[FILE] for rule in group.rules]
    return next(rule for rule in rules if isinstance(rule, Alert) and rule.alert == name)


def aims(**changed: Any) -> RuleInputs:  # noqa: ANN401  # of any field
    assert INPUTS.recovery is not None
    return replace(INPUTS, recovery=replace(INPUTS.recovery, **changed))


def test_a_stack_without_restore_points_has_no_such_file() -> None:
    assert FILE not in rule_files(replace(INPUTS, recovery=None))
    assert {group.name for group in groups(INPUTS)[FILE]} == ALWAYS


def test_nor_has_one_without_a_pushgateway() -> None:
    assert FILE not in rule_files(replace(INPUTS, jobs=("prometheus",)))


def test_every_other_file_is_rendered_as_before() -> None:
    assert set(rule_files(INPUTS)) - set(rule_files(replace(INPUTS, recovery=None))) == {FILE}


def test_aims_survive_the_contract() -> None:
    adapter = TypeAdapter(RuleInputs)
    assert adapter.validate_json(adapter.dump_json(INPUTS)) == INPUTS
    assert adapter.validate_python({"jobs": ["prometheus"]}).recovery is None


def test_what_may_be_lost_is_the_limit_and_is_told() -> None:
    changed = aims(rpo_seconds=90_061)  # 1 day, 1 hour, 1 minute and 1 second
    assert alert("RecoveryPointTooOld", changed).expr.endswith("> 90061")
    assert "allowed are 1d 1h 1m 1s." in alert("RecoveryPointTooOld", changed).description
    assert alert("RecoveryPointMissing", changed).wait == "90061s"


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(59, "59s"), (60, "1m 0s"), (3600, "1h 0m 0s"), (86_400, "1d 0h 0m 0s"), (90_000, "1d 1h 0m 0s")],
)
def test_a_limit_is_spelt_as_prometheus_spells_the_value_beside_it(seconds: int, told: str) -> None:
    assert f"allowed are {told}." in alert("RecoveryTooSlow", aims(rto_seconds=seconds)).description


def test_how_long_a_restore_may_take_is_the_limit() -> None:
    assert alert("RecoveryTooSlow", aims(rto_seconds=7200)).expr.endswith("> 7200")


def test_a_point_must_be_verified_within_the_rpo_and_some_periods() -> None:
    """1000 s + 3 periods of 500 s."""
    own = replace(
        aims(rpo_seconds=1000, verify_period_seconds=500), thresholds=Thresholds(recovery_unverified_periods=3.0)
    )
    assert alert("RecoveryVerificationTooOld", own).expr.endswith("> 2500")
    assert alert("RecoveryNeverVerified", own).wait == "2500s"


def test_share_that_may_be_lacking_is_the_stacks() -> None:
    own = replace(INPUTS, thresholds=Thresholds(recovery_shrink_high=0.25))
    assert "> 0.25 * " in alert("RecoveryPointShrank", own).expr


def test_a_stack_without_small_stores_asks_for_all_of_them_at_once() -> None:
    expr = alert("RecoveryPointShrank", aims(small=())).expr
    assert "4096" not in expr
    assert "store=" not in expr


def test_every_metric_is_on_the_page_of_the_pushgateway_and_comes_with_an_event() -> None:
    assert set(METRICS) <= set(PRODUCER.metrics)
    assert {m.name: (m.meaning, m.labels) for m in PRODUCER.metrics if m.name in names.PUSHED} == names.PUSHED
    assert all(metric.event for metric in METRICS)
    values = [
        value for key, value in vars(names).items() if key.isupper() and str(value).startswith("plumbline_recovery_")
    ]
    assert {metric.name for metric in METRICS} == set(values) - {"plumbline_recovery_"}


CHANGES = [
    ("RecoveryPointTooOld", "last_over_time(plumbline_recovery_last_point_timestamp_seconds[1d])", names.LAST_POINT),
    ("RecoveryVerificationFailed", f"last_over_time({names.DIFFERENCES}[1d])", names.DIFFERENCES),
    ("RecoveryTargetTampered", "[1d]", "[5m]"),
    ("RecoveryTargetTampered", f"max_over_time({names.TAMPERED}[1d])", f'{names.TAMPERED}{{job="recovery-verify"}}'),
    ("RecoveryTargetTampered", "> 0", ">= 0"),
    ("RecoveryVerificationTooOld", "[1d]) > 0)", "[1d]))"),
    ("RecoveryNeverVerified", " > 0)", ")"),
    ("RecoveryCreateFailing", '{job="recovery-create"}', ""),
    ("RecoveryCreateFailing", " > 0)", ")"),
    ("RecoveryCreateFailing", " > 0)", " > 0 < 1e6)"),
    ("RecoveryCreateFailing", " > 0)", f" > 0) unless on (job) {JOB_SUCCESS} > 1e6"),
    ("RecoveryVerifyFailing", '{job="recovery-verify"}', ""),
    ("RecoveryPruneFailing", '{job="recovery-prune"}', ""),
    ("RecoveryPointDamaged", "unless", "or"),
    ("RecoveryPointShrank", "1048576", "0"),
    ("RecoveryPointShrank", "> 4096", "> 1048576"),
    ("RecoveryPointShrank", "> 4096", "> 0"),
    ("RecoveryPointShrank", "> 0.5 *", "> 0.1 *"),
    ("RecoveryPointShrank", "[1d]", "[5m]"),
    (
        "RecoveryStoreLeftOut",
        "\nand on (cluster, environment)\nmax by (cluster, environment) (plumbline_recovery_point_bytes)",
        "",
    ),
    ("RecoveryClockAhead", "> 60", "> 20"),
    ("RecoveryClockAhead", '{job=~"recovery-create|recovery-verify|recovery-prune"}', ""),
    ("RecoveryClockAhead", names.LAST_FAILURE, names.LAST_POINT),
    ("RecoveryClockAhead", names.LAST_VERIFIED, names.LAST_POINT),
    ("RecoveryTooSlow", "cluster:recovery_restore:seconds", "(cluster:recovery_restore:seconds / 2)"),
]


@pytest.mark.parametrize(("name", "old", "new"), CHANGES)
def test_a_rule_that_says_less_fails_its_cases(name: str, old: str, new: str, tmp_path: Path) -> None:
    """Each part of an expression is there for a case that fails without it."""
    document = yaml.safe_load(rule_files(INPUTS)[FILE])
    rules = [rule for group in document["groups"] for rule in group["rules"] if rule.get("alert", name) == name]
    changed = [rule | ({"expr": rule["expr"].replace(old, new)} if "alert" in rule else {}) for rule in rules]
    assert changed != rules
    text = yaml.safe_dump({"groups": [{"name": "changed", "rules": changed}]})
    code, output = run(CASE, tmp_path, {FILE: text}, name)
    assert code != 0
    assert f'alertname="{name}"' in output, "the case itself fails, and not the file"
