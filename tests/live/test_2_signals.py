"""Faults of what is measured, played side by side: smoke names each of them, and nothing that is well.

They are independent of each other, so one run of smoke judges them all. The exporter on the node goes wrong in small
ways; of four exporters outside the cluster one is well, one is down, one is not scraped and one has an empty page.
"""

from __future__ import annotations

import json
import shutil
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final

import pytest

from sandbox.workloads.gpu import incidents
from tests.live import workloads
from tests.live.plumbline import OUT, ROOT, query, smoke, until
from tests.live.pushes import changed, in_yaml

if TYPE_CHECKING:
    from pathlib import Path

Rows = dict[str, dict[str, Any]]

JOB: Final = "dcgm-exporter"
ALWAYS: Final = "DCGM_FI_DEV_FB_FREE"
RENAMED: Final = "DCGM_FI_DEV_POWER_USAGE"
AGAIN: Final = "gpus-once-more"
BANNED: Final = "live_sessions"
RUNBOOK: Final = "docs/runbooks/alerting-page-proof.md"
WELL, DOWN, FORGOTTEN, EMPTY = (f"gpu-node-{number:04d}" for number in range(4))
FROZEN, TWIN, MERGED, LOST = 1, 5, 6, 7
CHECKS: Final = (
    *("scrape.expected_jobs", "scrape.all_up", "scrape.no_duplicates"),
    *("signals.contract", "signals.budget", "signals.banned", "gpu.count", "alerting.delivery"),
)
# A page takes about fifteen seconds to the point where its runbook is looked up; the rest is for a slow machine.
PATIENCE: Final = 30.0


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """The report of smoke while everything of this file was wrong. By now nothing is."""
    work = tmp_path_factory.mktemp("signals")
    with ExitStack() as stack:
        exporter = stack.enter_context(workloads.exporter())
        gpus = {gpu["index"]: gpu["uuid"] for gpu in incidents.status(exporter)["gpus"]}
        incidents.play(exporter, "frozen", gpu=FROZEN)  # first: a minute of the same value is what counts as frozen
        stack.enter_context(workloads.pushed("live", f'# TYPE {BANNED} gauge\n{BANNED}{{user_id="42"}} 1\n'))
        address = stack.enter_context(workloads.fleet(4, work))
        incidents.play(f"http://{address}/nodes/{DOWN}", "down")
        incidents.play(f"http://{address}/nodes/{EMPTY}", "empty_page")
        scraping = in_yaml("prometheus.yml", _scraping(address, gpus))
        stack.enter_context(changed("prometheus-config", "prometheus-0", scraping))
        _spoil(exporter)
        until("every fault is scraped", _all_wrong, 60)
        arguments = ("--only", *CHECKS)
        _, checks, _ = smoke(*arguments, contract=_contract(work), root=_checkout(work), patience=PATIENCE)
        for node in (DOWN, EMPTY):  # every metric of theirs is missing, and a report shows so many problems only
            incidents.end_all(f"http://{address}/nodes/{node}")
        until("they are back", lambda: len(query(f'{ALWAYS}{{node=~"{DOWN}|{EMPTY}"}}')) == 4, 60)
        _, frozen, _ = smoke("--only", "signals.fresh", patience=1)
    return checks | {"signals.fresh": frozen["signals.fresh"]}


def _spoil(exporter: str) -> None:
    incidents.play(exporter, "renamed_metric", metric=RENAMED, name=f"{RENAMED}_WATTS")
    incidents.play(exporter, "renamed_label", label="health_watch", name="health_check")
    incidents.play(exporter, "renamed_label", label="hostname", name="Hostname")
    incidents.play(exporter, "wrong_type", metric="DCGM_FI_DEV_FB_USED", type="counter")
    incidents.play(exporter, "out_of_range", metric="DCGM_FI_DEV_GPU_TEMP")
    incidents.play(exporter, "gpu_lost", gpu=LOST)


def _scraping(address: str, gpus: dict[int, str]) -> Any:  # noqa: ANN401  a change of a document
    """Scrape the exporter twice, three of the four outside, and one GPU's clock under the labels of another's."""

    def change(document: dict[str, Any]) -> None:
        (job,) = (j for j in document["scrape_configs"] if j["job_name"] == JOB)
        document["scrape_configs"].append({**job, "job_name": AGAIN})
        job["static_configs"] = [
            {
                "targets": [address],
                "labels": {
                    "__metrics_path__": f"/nodes/{node}/metrics",
                    "__meta_kubernetes_pod_container_port_name": "metrics",
                    "__meta_kubernetes_pod_node_name": node,
                },
            }
            for node in (WELL, DOWN, EMPTY)
        ]
        job["metric_relabel_configs"] = [*job["metric_relabel_configs"], *_merging(gpus)]

    return change


def _merging(gpus: dict[int, str]) -> list[dict[str, Any]]:
    """GPU MERGED takes the labels of GPU TWIN, the one that tells it apart last."""
    about = {"source_labels": ["__name__", "node", "UUID"]}
    regex = f"DCGM_FI_DEV_SM_CLOCK;[^;]+;{gpus[MERGED]}"
    bus = {"source_labels": ["__name__", "pci_bus_id"], "target_label": "pci_bus_id"}
    return [
        {**about, "regex": regex, "target_label": "gpu", "replacement": str(TWIN)},
        {**about, "regex": regex, "target_label": "device", "replacement": f"nvidia{TWIN}"},
        {**about, "regex": regex, "target_label": "UUID", "replacement": gpus[TWIN]},
        {**bus, "regex": "DCGM_FI_DEV_SM_CLOCK;.*", "replacement": "merged"},
    ]


def _all_wrong() -> bool:
    """Each of these holds once the scrape that shows its fault has happened."""
    node = f'{{job="{JOB}", node!~"gpu-node-.*"}}'
    told = (
        f"{RENAMED}_WATTS{node}",
        f'up{{job="{AGAIN}"}}',
        f'up{{node="{DOWN}"}} == 0',
        f'scrape_samples_scraped{{node="{EMPTY}"}} == 0',
        f'{ALWAYS}{{node="{WELL}"}}',
        f"{BANNED}",
        f"count(DCGM_FI_DEV_SM_CLOCK{node}) < 7",
    )
    return len(query(f"count({') and count('.join(told)})")) == 1


def _contract(work: Path) -> Path:
    """The stack's contract, but for the exporters outside the cluster and a budget that no kubelet keeps."""
    contract = json.loads((OUT / "contract.json").read_text())
    jobs = {job["job"]: job for job in contract["scrape"]}
    jobs[JOB]["static"] = [WELL, DOWN, FORGOTTEN, EMPTY]
    jobs["kubelet"]["max_series"] = 10
    path = work / "contract.json"
    path.write_text(json.dumps(contract))
    return path


def _checkout(work: Path) -> Path:
    """A copy of what smoke needs of the checkout, without the runbook of the alert that proves pages."""
    copy = work / "checkout"
    for room in ("smoke", "signals", "stacks", "components", "docs"):
        shutil.copytree(ROOT / room, copy / room, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / RUNBOOK).unlink()
    return copy


def _evidence(rows: Rows, check: str) -> str:
    assert rows[check]["status"] == "fail", rows[check]
    return str(rows[check]["evidence"])


@pytest.mark.parametrize(
    ("fault", "check", "words"),
    [
        ("metric renamed", "signals.contract", (f"{RENAMED} of job {JOB}, instance", "no series")),
        ("label renamed", "signals.contract", ("DCGM_EXP_GPU_HEALTH_STATUS", "label health_check")),
        ("wrong type", "signals.contract", ("DCGM_FI_DEV_FB_USED", "counter")),
        ("out of range", "signals.contract", ("DCGM_FI_DEV_GPU_TEMP", "value 9.22337e+18")),
        ("empty page", "signals.contract", (f"target {EMPTY} of job {JOB}", "no series of the catalogue")),
        ("label sets merged", "signals.contract", ("1 have the labels of others, or were refused",)),
        ("values frozen", "signals.fresh", ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", f"gpu={FROZEN},", "of one value")),
        ("GPU lost", "gpu.count", ("7 GPUs exposed; expected 8",)),
        ("empty page", "gpu.count", (f"node {EMPTY}, outside the cluster: seen no GPU exposed",)),
        ("exporter down", "gpu.count", (f"node {DOWN}, outside the cluster: seen no GPU exposed",)),
        ("exporter down", "scrape.expected_jobs", (f"job {JOB}, node {DOWN}: seen no target up",)),
        ("exporter down", "scrape.all_up", (f"/nodes/{DOWN}/metrics of job {JOB}: seen down",)),
        ("exporter not scraped", "scrape.expected_jobs", (f"job {JOB}, node {FORGOTTEN}: seen no target up",)),
        ("double scrape", "scrape.no_duplicates", (f"{AGAIN} (http://", f"{JOB} (http://")),
        ("over budget", "signals.budget", ("job kubelet", "expected at most 10")),
        ("banned label", "signals.banned", (BANNED, "user_id")),
        ("runbook removed", "alerting.delivery", (RUNBOOK,)),
    ],
)
def test_fault_is_named(rows: Rows, fault: str, check: str, words: tuple[str, ...]) -> None:
    evidence = _evidence(rows, check)
    assert [word for word in words if word not in evidence] == [], f"{fault}:\n{evidence}"


def test_what_is_well_is_not_named(rows: Rows) -> None:
    told = "\n".join(row["evidence"] for row in rows.values() if row["status"] == "fail")
    assert WELL not in told
    # Its spelling changed between versions of the exporter, and scraping makes all spellings one.
    assert "ostname" not in told
    assert query(f'count_over_time({{job="{JOB}", Hostname!=""}}[5m])') == []


@pytest.mark.usefixtures("rows")
def test_after_the_faults_smoke_is_green() -> None:
    code, _, output = smoke("--only", *CHECKS, "signals.fresh")
    assert code == 0, output
