"""GPUs and alerting from end to end against stand-ins: green as a whole, red and to the point on each fault."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from smoke.main import main
from tests.offline.smoke import full_stack, objects
from tests.offline.smoke.conftest import check_of
from tests.offline.smoke.fakes import BASE
from tests.offline.smoke.full_stack import AGENTS, gpu_pod
from tests.offline.smoke.full_world import CAPABILITIES, Full
from tests.offline.smoke.promql import series_of

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]

READ = (
    *("gpu.count", "gpu.attribution", "alertmanager.config", "alertmanager.connected", "push.flags"),
    *("scrape.expected_jobs", "scrape.no_duplicates", "scrape.labels", "signals.contract", "signals.fresh"),
    *("signals.budget", "signals.banned", "pods.running", "workloads.rolled_out", "workloads.image", "pod.security"),
)
SENTINELS = ("gpu.handover", "push.labels", "alerting.delivery")


def test_everything_is_green_and_nothing_is_left(full: Full) -> None:
    code, report = full.run(*READ, *SENTINELS)
    failed = {c["id"]: c["evidence"] for c in report["checks"] if c["status"] not in ("pass", "skip")}
    assert (failed, code) == ({}, 0)
    assert full.proofs() == []
    assert full.stack.pushes.groups == {}
    order = [check["id"] for check in report["checks"] if check["status"] == "pass"]
    assert set(order) == {"cluster.identity", *READ, *SENTINELS}


def test_claims_on_a_stand_in_are_told_by_component(full: Full, capsys: pytest.CaptureFixture[str]) -> None:
    _, report = full.run("gpu.count", "signals.contract", "push.flags")
    assert check_of(report, "gpu.count")["tier"] == "simulated"
    assert check_of(report, "signals.contract")["stand_ins"] == ["dcgm-exporter"]
    assert check_of(report, "push.flags")["stand_ins"] == []
    assert "1 of 4 proven only on a stand-in (dcgm-exporter 1), 1 in part (dcgm-exporter)" in capsys.readouterr().out


def test_selection_starts_only_what_was_selected(full: Full) -> None:
    full.run("push.labels")
    asked = full.world.api.asked
    assert not [path for path in asked if path.startswith("POST")]
    assert all(n["payload"]["alerts"][0]["labels"]["alertname"] == "Watchdog" for n in full.stack.pager.received[:1])
    full.run("gpu.count")
    assert not [path for path in asked if path.startswith("POST")]


def test_reading_run_starts_nothing(full: Full) -> None:
    path = full.world.directory / "contract.json"
    path.write_text(json.dumps(full.contract()))
    main(full.world.arguments("--impact", "read"))
    assert not [asked for asked in full.world.api.asked if asked.startswith("POST")]
    assert len(full.stack.pager.received) == 1


def test_handover_is_a_declared_skip_when_every_gpu_is_held(full: Full) -> None:
    full.world.api.objects["/api/v1/namespaces/team-a/pods"] = [gpu_pod("train-0", 2)]
    code, report = full.run("gpu.handover", expected_checks=["cluster.identity", "gpu.handover"])
    found = check_of(report, "gpu.handover")
    assert (code, found["status"]) == (0, "skip")
    assert "every GPU is held" in found["skip_reason"]


def test_remains_of_killed_runs_are_removed_first(full: Full) -> None:
    left = gpu_pod("plumbline-gpu-proof-dead", 1, objects.NAMESPACE, **{"plumbline.dev/sentinel": "gpu-handover"})
    full.world.api.objects[f"{BASE}/pods"].append(left)
    full.stack.pushes.groups[("plumbline-page-proof", "dead")] = 'plumbline_page_proof{severity="P0",proof="dead"} 1\n'
    full.stack.pushes.groups[("backup", "b")] = "x 1\n"
    code, report = full.run(*SENTINELS)
    assert ([c["evidence"] for c in report["checks"] if c["status"] == "fail"], report["faults"], code) == ([], [], 0)
    assert full.proofs() == []
    assert list(full.stack.pushes.groups) == [("backup", "b")]


def test_what_was_begun_is_removed_when_a_check_fails(full: Full) -> None:
    full.stack.attribution = False
    full.stack.pager.runbook = "docs/runbooks/gone.md"
    code, report = full.run(*SENTINELS)
    assert (code, report["faults"]) == (1, [])
    assert full.proofs() == []
    assert full.stack.pushes.groups == {}


def test_what_cannot_be_removed_is_told(full: Full, monkeypatch: pytest.MonkeyPatch) -> None:
    full.stack.attribution = False
    monkeypatch.setattr(full.world.api, "delete", lambda *_: (403, {"reason": "Forbidden"}))
    _, report = full.run("gpu.handover")
    assert "could not be removed" in report["faults"][0]


def test_without_a_sink_nobody_is_paged(full: Full) -> None:
    """A page whose arrival cannot be read back proves little, and wakes somebody."""
    without = [c for c in CAPABILITIES if c != "alert-sink"]
    _, report = full.run("push.labels", "alerting.delivery", capabilities=without)
    assert check_of(report, "alerting.delivery")["status"] == "skip"
    assert check_of(report, "push.labels")["status"] == "pass"
    assert {n["receiver"] for n in full.stack.pager.received} == {"watchdog"}


def _one_gpu_lost(full: Full) -> None:
    full.stack.gpus.pop()


def _no_attribution(full: Full) -> None:
    full.stack.attribution = False


def _metric_renamed(full: Full) -> None:
    refresh = full.stack.refresh

    def renamed() -> None:
        refresh()
        for series in full.world.prometheus.series:
            if series.labels["__name__"] == "DCGM_FI_DEV_GPU_TEMP":
                series.labels["__name__"] = "DCGM_FI_DEV_GPU_TEMPERATURE"

    full.world.prometheus.before_query = renamed


def _each_gpu_series(full: Full, change: Callable[[Any], None]) -> None:
    refresh = full.stack.refresh

    def changed() -> None:
        refresh()
        for series in full.world.prometheus.series:
            if series.labels["__name__"].startswith("DCGM_"):
                change(series)

    full.world.prometheus.before_query = changed


def _hostname(full: Full) -> None:
    _each_gpu_series(full, lambda series: series.labels.update({"Hostname": "a"}))


def _retyped(full: Full) -> None:
    full.world.prometheus.metadata["DCGM_FI_DEV_GPU_TEMP"] = [{"type": "counter"}]


def _frozen(full: Full) -> None:
    _each_gpu_series(full, lambda series: setattr(series, "changes", 0))


def _double_scrape(full: Full) -> None:
    again = objects.target("gpu-again", "http://10.88.0.77:9400/metrics", node=objects.NODE)
    refresh = full.stack.refresh

    def doubled() -> None:
        refresh()
        own = {"job": "gpu-again", "instance": again["labels"]["instance"]}
        gpus = [s for s in full.world.prometheus.series if s.labels["__name__"].startswith("DCGM_")]
        full.world.prometheus.series += [type(s)({**s.labels, **own}, s.value) for s in gpus]

    full.world.prometheus.before_query = doubled


def _empty_page(full: Full) -> None:
    node = objects.node()
    node["metadata"]["name"] = "node-b"
    full.world.api.objects["/api/v1/nodes"].append(node)
    target = objects.target("dcgm-exporter", "http://10.88.1.9:9400/metrics", node="node-b", instance="node-b")
    full.world.prometheus.targets["activeTargets"].append(target)


def _merged(full: Full) -> None:
    refresh = full.stack.refresh

    def merged() -> None:
        refresh()
        gone = [s for s in full.world.prometheus.series if s.labels["__name__"] == "DCGM_FI_DEV_GPU_TEMP"][:1]
        full.world.prometheus.series = [s for s in full.world.prometheus.series if s not in gone]

    full.world.prometheus.before_query = merged


def _exporter_gone(full: Full) -> None:
    node = objects.node()
    node["metadata"]["name"] = "node-b"
    full.world.api.objects["/api/v1/nodes"].append(node)


def _labels_not_honoured(full: Full) -> None:
    full.stack.honor_labels = False


def _wrong_receiver(full: Full) -> None:
    full.stack.pager.boxes["P0"] = ["P3"]


def _two_receivers(full: Full) -> None:
    full.stack.pager.boxes["P1"] = ["P1", "P2"]


def _runbook_removed(full: Full) -> None:
    full.stack.pager.runbook = "docs/runbooks/gone.md"


def _never_resolved(full: Full) -> None:
    full.stack.pushes.deletes = False


def _no_watchdog(full: Full) -> None:
    full.stack.pager.received.clear()


def _old_configuration(full: Full) -> None:
    full.stack.pager.configuration = full.stack.pager.configuration.replace("group_wait: 30s", "group_wait: 31s")


def _other_file(full: Full) -> None:
    full.stack.pager.loaded += "# changed\n"


def _another_alertmanager(full: Full) -> None:
    full.world.prometheus.alertmanagers["activeAlertmanagers"] = [{"url": "http://other:9093/api/v2/alerts"}]


def _nothing_sent(full: Full) -> None:
    full.stack.sent = 0.0


def _agent_restarted(full: Full) -> None:
    pod = full.world.api.objects[f"/api/v1/namespaces/{AGENTS}/pods"][0]
    pod["status"]["conditions"][-1]["status"] = "False"


def _agent_privileged(full: Full) -> None:
    pod = full.world.api.objects[f"/api/v1/namespaces/{AGENTS}/pods"][0]
    pod["spec"]["containers"][0]["securityContext"]["privileged"] = True


def _banned_label(full: Full) -> None:
    _each_gpu_series(full, lambda series: series.labels.update({"plumbline_dropped_label": "user_id"}))


FAULTS: list[tuple[Callable[[Full], None], str, str]] = [
    (_one_gpu_lost, "gpu.count", f"node {objects.NODE}: seen 1 GPUs exposed; expected 2, its allocatable"),
    (_no_attribution, "gpu.attribution", "pod team-a/train-0 container train: seen named by the series of 0 GPUs"),
    (_no_attribution, "gpu.handover", "seen 0; expected one, of the GPU that it holds"),
    (_metric_renamed, "signals.contract", "DCGM_FI_DEV_GPU_TEMPERATURE is there and in no page: renamed?"),
    (_hostname, "signals.contract", "seen unexpected label Hostname on 2 series"),
    (_retyped, "signals.contract", "DCGM_FI_DEV_GPU_TEMP of job dcgm-exporter: seen type counter; expected type gauge"),
    (_empty_page, "signals.contract", "target node-b of job dcgm-exporter: seen up, and no series of the catalogue"),
    (_merged, "signals.contract", f"target {objects.NODE} of job dcgm-exporter: seen"),
    (_frozen, "signals.fresh", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION of job dcgm-exporter"),
    (_double_scrape, "scrape.no_duplicates", "UUID=GPU-0"),
    (_exporter_gone, "scrape.expected_jobs", "job dcgm-exporter, node node-b: seen no target up"),
    (_exporter_gone, "scrape.labels", "job dcgm-exporter: seen nodes without node-b"),
    (_banned_label, "signals.banned", "came with banned label user_id"),
    (_labels_not_honoured, "push.labels", "seen job pushgateway"),
    (_wrong_receiver, "alerting.delivery", "alert of severity P0: seen routed to P3; expected routed to P0 alone"),
    (_two_receivers, "alerting.delivery", "alert of severity P1: seen routed to P1, P2"),
    (_runbook_removed, "alerting.delivery", "no file docs/runbooks/gone.md in this checkout"),
    (_never_resolved, "alerting.delivery", "4 still at Alertmanager; expected none"),
    (_no_watchdog, "alerting.delivery", "receiver watchdog: seen no Watchdog within 300 s"),
    (_old_configuration, "alertmanager.config", "group_wait"),
    (_other_file, "alertmanager.config", "alertmanager_config_hash"),
    (_another_alertmanager, "alertmanager.connected", "active are other:9093"),
    (_nothing_sent, "alertmanager.connected", "notifications by Prometheus: seen none sent"),
    (_agent_restarted, "pods.running", "pod dcgm-exporter-x: seen Running, not Ready"),
    (_agent_privileged, "pod.security", "pod dcgm-exporter-x container exporter: seen privileged"),
]


@pytest.mark.parametrize(("damage", "check_id", "words"), FAULTS, ids=[f"{f[0].__name__}-{f[1]}" for f in FAULTS])
def test_fault_turns_its_check_red(full: Full, damage: Callable[[Full], None], check_id: str, words: str) -> None:
    damage(full)
    code, report = full.run(check_id)
    found = check_of(report, check_id)
    assert (code, found["status"]) == (1, "fail"), found
    assert words in found["evidence"]


def test_labels_with_dots_are_asked_for_in_quotes(full: Full) -> None:
    """As Prometheus 3 stores them. Without quotes its parser refuses the question."""
    _each_gpu_series(full, lambda series: series.labels.update({"otel.signal": "metrics", "exported_a.b": "c"}))
    code, report = full.run("signals.contract", "scrape.labels")
    assert code == 1
    assert "seen unexpected label otel.signal on 2 series" in check_of(report, "signals.contract")["evidence"]
    assert "of job dcgm-exporter: seen label exported_a.b on 2" in check_of(report, "scrape.labels")["evidence"]


def test_types_that_others_declare_are_not_held_against_who_declares_none(full: Full) -> None:
    """VictoriaLogs declares no type, and has metrics about its process by the names that every other program has."""
    stored = full.world.prometheus
    target = {"job": "victoria-logs", "instance": "10.0.0.9:9428", "cluster": "local", "environment": "local"}
    stored.targets["activeTargets"].append({**stored.targets["activeTargets"][0], "labels": target})
    stored.series += series_of(target)
    stored.metadata["process_cpu_seconds"] = stored.metadata["prometheus_tsdb_head_samples_appended"]
    jobs = [{"job": job, "min_targets": 1, "max_series": 1000} for job in (*full_stack.JOBS, "victoria-logs")]
    code, report = full.run("signals.contract", scrape=jobs)
    assert code == 0, check_of(report, "signals.contract")
    stored.declared["victoria-logs"] = {"process_cpu_seconds": [{"type": "gauge"}]}
    code, report = full.run("signals.contract", scrape=jobs)
    assert code == 1
    told = "process_cpu_seconds_total of job victoria-logs: seen type gauge; expected type unknown"
    assert told in check_of(report, "signals.contract")["evidence"]


def test_job_over_its_budget_is_named_with_its_largest_metrics(full: Full) -> None:
    jobs = [{"job": job, "min_targets": 1, "max_series": 1} for job in full_stack.JOBS]
    code, report = full.run("signals.budget", scrape=jobs)
    assert code == 1
    assert "job dcgm-exporter: seen" in check_of(report, "signals.budget")["evidence"]
    assert "most of them" in check_of(report, "signals.budget")["evidence"]
