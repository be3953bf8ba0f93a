"""What promtool cannot say about the GPU rules: inputs that change them, and that the healthy day can fail."""

from __future__ import annotations

import pytest
import yaml

from signals.rules import groups, rule_files
from signals.rules.gpu_labels import by_team
from signals.rules.identity import exposed_label
from signals.rules.inputs import RuleInputs
from signals.rules.model import Alert, Record
from signals.thresholds import Thresholds
from signals.xid import XIDS
from tests.offline.signals.promtool_cases import CASES, INPUTS

DAY = next(case for case in CASES if case.stem == "healthy-day")
JOBS = ("dcgm-exporter", "kube-state-metrics")


def rule(name: str, **settings: object) -> str:
    """The expression of one alert or record with these thresholds."""
    inputs = RuleInputs(jobs=JOBS, thresholds=Thresholds.model_validate(settings))
    found = [r for file in groups(inputs).values() for group in file for r in group.rules]
    return next(r.expr for r in found if (r.alert if isinstance(r, Alert) else r.record) == name)


def test_healthy_day_replays_every_rule_file() -> None:
    """Those of restore points and of telemetry have days of their own: what is missing there is an alert."""
    own = [case for case in CASES if case.stem in ("healthy-day-recovery", "healthy-day-telemetry")]
    replayed = [yaml.safe_load(day.read_text(encoding="utf-8"))["rule_files"] for day in (DAY, *own)]
    assert sorted(name for names in replayed for name in names) == sorted(rule_files(INPUTS))


def test_files_need_the_jobs_that_they_ask() -> None:
    def rendered(*jobs: str) -> set[str]:
        return {name for name in rule_files(RuleInputs(jobs=jobs)) if "gpu" in name or "identity" in name}

    assert rendered("dcgm-exporter") == {"rules-gpu.yml"}
    assert rendered("kube-state-metrics") == {"rules-identity.yml"}
    assert rendered(*JOBS) == {"rules-gpu.yml", "rules-gpu-kubernetes.yml", "rules-identity.yml"}


def test_a_model_with_its_own_limit_is_left_out_of_the_common_one() -> None:
    board = "cluster, environment, node, gpu, UUID, modelName"
    assert rule("GpuHot", gpu_temperature_celsius_by_model={"NVIDIA B200": 92.0}) == (
        f'max by ({board}) (avg_over_time(DCGM_FI_DEV_GPU_TEMP{{modelName!="NVIDIA B200"}}[5m])) > 85.0\n'
        f'or\nmax by ({board}) (avg_over_time(DCGM_FI_DEV_GPU_TEMP{{modelName="NVIDIA B200"}}[5m])) > 92.0'
    )


def test_a_name_of_a_model_cannot_break_out_of_its_quotes() -> None:
    assert 'modelName!="a\\"b"' in rule("GpuHot", gpu_temperature_celsius_by_model={'a"b': 90.0})


@pytest.mark.parametrize(
    ("setting", "value", "name", "wanted"),
    [
        ("gpu_utilization_low", 0.2, "GpuUtilizationLow", "< 0.2"),
        ("gpu_memory_high", 0.8, "GpuMemoryHigh", "> 0.8"),
        ("gpu_thermal_throttle", 0.3, "GpuThermalThrottling", "> 0.3"),
        ("gpu_power_throttle", 0.5, "GpuPowerThrottling", "> 0.5"),
        ("gpu_pcie_replays_per_minute", 20.0, "GpuPcieReplays", "> 20.0"),
        ("gpu_nvlink_crc_per_second", 7.0, "GpuNvlinkErrors", "> 7.0"),
        ("gpu_replicas", 4, "GpuFewerThanCapacity", "4 * max_over_time("),
    ],
)
def test_thresholds_of_the_stack_are_in_the_rules(setting: str, value: object, name: str, wanted: str) -> None:
    assert wanted in rule(name, **{setting: value})
    assert wanted not in rule(name)


@pytest.mark.parametrize(
    ("pod_label", "exposed"),
    [
        ("plumbline.dev/team", "label_plumbline_dev_team"),
        ("plumbline.dev/job-id", "label_plumbline_dev_job_id"),
        ("costCenter", "label_cost_center"),
        ("app.kubernetes.io/part-of", "label_app_kubernetes_io_part_of"),
    ],
)
def test_labels_of_pods_are_spelt_as_kube_state_metrics_does(pod_label: str, exposed: str) -> None:
    assert exposed_label(pod_label) == exposed


def test_identity_reads_the_labels_that_the_stack_names() -> None:
    inputs = RuleInputs(jobs=JOBS, pod_labels={"team": "example.com/owner"})
    (identity,) = groups(inputs)["rules-identity.yml"]
    (info,) = identity.rules
    assert 'label_replace(kube_pod_labels, "team", "$1", "label_example_com_owner", "(.*)")' in info.expr
    assert "max by (cluster, environment, namespace, pod, team)" in info.expr


def test_every_code_is_classified_once_and_the_rest_is_unknown() -> None:
    found = [r for g in groups(RuleInputs(jobs=JOBS))["rules-gpu.yml"] for r in g.rules if isinstance(r, Record)]
    classified = [r for r in found if r.record == "gpu:xid_classified:max"]
    known = [r for r in classified if r.labels["class"] != "unknown"]
    codes = [int(code) for r in known for code in r.expr.split('"')[1].split("|")]
    assert sorted(codes) == sorted(XIDS)
    (unknown,) = (r for r in classified if r.labels["class"] == "unknown")
    assert unknown.expr == 'gpu:xid_events:max{xid!~"' + "|".join(str(code) for code in sorted(XIDS)) + '"}'


def test_sums_over_teams_name_what_nobody_claims() -> None:
    assert '"team", "unattributed", "team", "")' in by_team("workload:gpu_allocated:sum")
