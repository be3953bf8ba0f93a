"""What the bench of signals sets up: fields, memory, configuration, Kubernetes objects."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from components.prometheus.config import render
from components.prometheus.names import CONFIG_FILE
from signals.catalogue import dcgm
from tests.bench import configuration, kubernetes, plan, signals
from tests.bench.configuration import Addresses
from tests.bench.errors import BenchError
from tests.bench.plan import TWENTY, Plan
from tests.offline.components.relabel import apply, visible
from tests.offline.promtool import require_promtool

AT = Addresses(fleet="127.0.0.1:1", objects="127.0.0.1:2", prometheus="127.0.0.1:3")
NAMES = [f"gpu-node-{number:04d}" for number in range(10)]


def small(**fields: object) -> Plan:
    """Ten nodes with eight GPUs."""
    given: dict[str, object] = {"prometheus": Path("prometheus"), "out": Path("out"), "nodes": 10}
    return Plan(**(given | fields))  # type: ignore[arg-type]  # fields of the record, by name


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    """Configuration and rule files of ten nodes."""
    return configuration.files(small(), AT)


def jobs(files: dict[str, str]) -> dict[str, dict[str, object]]:
    """Scrape jobs by name."""
    return {job["job_name"]: job for job in yaml.safe_load(files[CONFIG_FILE])["scrape_configs"]}


def test_issue_asks_for_8192_gpus_with_20_fields() -> None:
    wanted = signals.parse(["--prometheus=p", "--out=o"])
    assert wanted.boards == 8192
    assert len(set(wanted.fields)) == 20


def test_all_but_the_clock_are_used_by_rules(files: dict[str, str]) -> None:
    rules = "\n".join(text for name, text in files.items() if name != CONFIG_FILE)
    assert [name for name in TWENTY if name not in rules] == ["DCGM_FI_DEV_SM_CLOCK"]


def test_counters_are_the_catalogues_with_the_driver_as_label() -> None:
    rows = plan.counters(TWENTY)
    assert {row.field for row in rows} == {*TWENTY, "DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DRIVER_VERSION"}
    assert {(row.field, row.type, row.help) for row in rows} <= set(dcgm.COUNTERS)


def test_field_that_the_catalogue_does_not_know_is_refused() -> None:
    with pytest.raises(BenchError, match="DCGM_FI_DEV_NONE"):
        plan.counters(("DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_NONE"))


def test_memory_is_six_kib_a_series_and_a_gib() -> None:
    # 10 nodes: 80 GPUs with 20 series, and 120 series of Kubernetes each, are 2800 series.
    assert small().need_mib() == 1024 + 2800 * 6 // 1024


def test_too_little_memory_is_refused_with_both_numbers() -> None:
    with pytest.raises(BenchError, match=r"^1000 MiB .*8192 GPUs with 20 fields need 2704 MiB"):
        plan.check_memory(small(nodes=1024), "MemTotal: 9 kB\nMemAvailable:    1024000 kB\n")
    plan.check_memory(small(nodes=1024), "MemAvailable:    2800000 kB\n")


def test_unknown_memory_is_refused() -> None:
    with pytest.raises(BenchError, match="MemAvailable"):
        plan.check_memory(small(), "MemTotal: 9 kB\n")


def test_configuration_is_accepted_by_prometheus(files: dict[str, str], tmp_path: Path) -> None:
    for text in (files[CONFIG_FILE], configuration.without_rules(files[CONFIG_FILE])):
        for name, content in {**files, CONFIG_FILE: text}.items():
            (tmp_path / name).write_text(content)
        argv = [require_promtool(), "check", "config", str(tmp_path / CONFIG_FILE)]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_rules_are_those_of_the_stack(files: dict[str, str]) -> None:
    rendered = render(configuration.arguments(small())).files
    assert {name: text for name, text in files.items() if name != CONFIG_FILE} == {
        name: text for name, text in rendered.items() if name != CONFIG_FILE
    }
    assert {"rules-gpu.yml", "rules-gpu-kubernetes.yml", "rules-identity.yml"} <= set(files)


def test_nothing_but_discovery_differs_from_the_stack(files: dict[str, str]) -> None:
    rendered = jobs(render(configuration.arguments(small())).files)
    for name, job in jobs(files).items():
        differing = {key for key in {*job, *rendered[name]} if job.get(key) != rendered[name].get(key)}
        assert differing == {
            "relabel_configs",
            "kubernetes_sd_configs",
            *(differing & {"http_sd_configs", "static_configs"}),
        }
        own, theirs = job["relabel_configs"], rendered[name]["relabel_configs"]
        assert isinstance(own, list)
        assert isinstance(theirs, list)
        assert own[-len(theirs) :] == theirs
    assert set(jobs(files)) == {"prometheus", "dcgm-exporter", "kube-state-metrics"}


def test_target_of_the_fleet_gets_the_labels_of_a_node(files: dict[str, str]) -> None:
    rules = jobs(files)["dcgm-exporter"]["relabel_configs"]
    assert isinstance(rules, list)
    found = visible(apply(rules, {"__address__": AT.fleet, "__meta_plumbline_node": "gpu-node-0003"}))
    assert found == {"cluster": "prod", "environment": "prod", "node": "gpu-node-0003", "instance": "gpu-node-0003"}


def test_without_rules_is_the_same_without_rules(files: dict[str, str]) -> None:
    with_rules = yaml.safe_load(files[CONFIG_FILE])
    assert with_rules.pop("rule_files")
    assert yaml.safe_load(configuration.without_rules(files[CONFIG_FILE])) == with_rules


def samples(text: str, name: str) -> list[tuple[dict[str, str], float]]:
    """Labels and value of each series of a family."""
    lines = [line for line in text.splitlines() if line.startswith(f"{name}{{")]
    return [(dict(re.findall(r'(\w+)="([^"]*)"', line)), float(line.rpartition(" ")[2])) for line in lines]


def test_pods_hold_what_the_fleet_says() -> None:
    # Two jobs of four GPUs on each of ten nodes, but for the fifth and the tenth, which nobody holds.
    found = samples(kubernetes.page(NAMES, 8), "kube_pod_container_resource_requests")
    held = [(labels, value) for labels, value in found if labels["resource"] == "nvidia_com_gpu"]
    assert [value for _, value in held] == [4.0] * 16
    assert {labels["node"] for labels, _ in held} == set(NAMES) - {"gpu-node-0004", "gpu-node-0009"}
    assert kubernetes.allocated(10, 8) == 64


def test_nodes_offer_every_gpu() -> None:
    found = samples(kubernetes.page(NAMES, 8), "kube_node_status_allocatable")
    assert [value for labels, value in found if labels["resource"] == "nvidia_com_gpu"] == [8.0] * 10


def test_pods_name_their_team_as_the_identity_needs_it() -> None:
    found = samples(kubernetes.page(NAMES, 8), "kube_pod_labels")
    assert {(labels["namespace"], labels["label_plumbline_dev_team"]) for labels, _ in found} == {
        (f"team-{team}", team) for team in ("research", "speech", "vision", "serving")
    }
    assert kubernetes.teams(10, 8) == {"research", "speech", "vision", "serving"}


@pytest.mark.parametrize("line", [["--nodes=2"], ["--gpus=0"], ["--fields=5"], ["--colour=red"]])
def test_wrong_option_is_a_usage_error(line: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        signals.parse(["--prometheus=p", "--out=o", *line])
    assert caught.value.code == 2


def test_every_field_can_be_asked_for() -> None:
    found = signals.parse(["--prometheus=p", "--out=o", "--fields=all"]).fields
    assert set(found) == {name for name, kind, _ in dcgm.COUNTERS if kind != "label"}
