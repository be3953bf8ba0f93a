"""The whole command against stand-ins: green on a healthy stack, red and to the point on each fault."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from smoke.access import hosts
from tests.offline.smoke import objects
from tests.offline.smoke.conftest import EXPECTED, World, check_of
from tests.offline.smoke.fakes import BASE
from tests.offline.smoke.machines import healthy_machine
from tests.offline.smoke.promql import Series, series_of_catalogue

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[3]


def test_healthy_stack_is_green(world: World) -> None:
    code, report = world.run()
    assert [check for check in report["checks"] if check["status"] in ("fail", "not_run")] == []
    assert code == 0
    assert report["verdict"] == "green"
    assert {c["id"] for c in report["checks"] if c["status"] == "pass"} == set(EXPECTED)
    assert report["versions"]["kubernetes"] == "v1.34.4"
    assert report["versions"]["prometheus"] == "3.16.0"


def test_command_is_green_through_a_port_forward_and_leaves_none_behind(world: World) -> None:
    world.write_contract(url=False)
    done = _command(world)
    assert done.returncode == 0, done.stdout + done.stderr
    calls = (world.directory / "bin" / "calls").read_text()
    assert "--context plumbline -n plumbline port-forward --address 127.0.0.1 svc/prometheus :9090" in calls
    assert str(world.directory).encode() not in b"".join(_command_lines())


def test_checks_of_the_node_are_green_on_a_healthy_machine(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "machine", healthy_machine)
    lease = f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{objects.NODE}"
    world.api.objects[lease] = {"spec": {"renewTime": "2999-01-01T00:00:00.000000Z"}}
    node_checks = [f"node.{name}" for name in ("kernel", "cgroup", "runtime", "kubelet", "disk", "clock")]
    code, report = world.run(
        "--only",
        *node_checks,
        capabilities=["metrics", "prometheus-managed", "node-access"],
        expected_checks=EXPECTED + node_checks,
    )
    assert [check["evidence"] for check in report["checks"] if check["status"] == "fail"] == []
    assert code == 0


def test_prove_kills_the_pod_and_finds_the_data_again(world: World) -> None:
    code, report = world.run("--impact", "disruptive", capabilities=["metrics", "prometheus-managed", "disruptive"])
    assert code == 0
    assert check_of(report, "prometheus.data_survives_kill")["status"] == "pass"
    assert "DELETE /api/v1/namespaces/plumbline/pods/prometheus-0" in world.api.asked
    assert report["checks"][-1]["id"] == "prometheus.data_survives_kill"


def test_nothing_is_killed_without_being_asked(world: World) -> None:
    code, report = world.run(capabilities=["metrics", "prometheus-managed", "disruptive"])
    assert code == 0
    assert not [path for path in world.api.asked if path.startswith("DELETE")]
    assert "prometheus.data_survives_kill" not in {check["id"] for check in report["checks"]}


def test_disruptive_check_that_the_contract_expects_is_a_declared_skip_of_a_plain_run(world: World) -> None:
    survival = "prometheus.data_survives_kill"
    code, report = world.run(
        capabilities=["metrics", "prometheus-managed", "disruptive"], expected_checks=[*EXPECTED, survival]
    )
    skipped = check_of(report, survival)
    assert (code, skipped["status"], "make prove" in skipped["skip_reason"]) == (0, "skip", True)


def test_replaced_pod_of_prometheus_leaves_no_false_red(world: World) -> None:
    dead = {"job": "prometheus", "instance": "10.88.0.3:9090"}
    for name, value in (("up", 1.0), ("prometheus_config_last_reload_successful", 0.0)):
        world.prometheus.series.append(Series({"__name__": name, **dead}, value, age=286.0))
    world.prometheus.series.append(Series({"__name__": "plumbline:config_revision", "revision": "old"}, 1.0, 286.0))
    code, report = world.run()
    assert [check["evidence"] for check in report["checks"] if check["status"] == "fail"] == []
    assert code == 0


def test_event_from_before_a_restart_leaves_no_false_red(world: World) -> None:
    name = "apiserver_request_terminations_total"
    labels = {"__name__": name, "job": "apiserver", "instance": "10.88.0.1:6443"}
    world.prometheus.series.append(Series(labels, 1.0, age=249.0))
    code, report = world.run("--only", "signals.fresh")
    assert (code, check_of(report, "signals.fresh")["evidence"].startswith("prometheus:")) == (0, True)


def _remove_job(world: World) -> None:
    world.prometheus.remove_job("kubelet")


def _restart_pod(world: World) -> None:
    status = world.api.pod["status"]["containerStatuses"][0]
    status["restartCount"] = 1
    status["lastState"] = {"terminated": {"reason": "OOMKilled", "exitCode": 137}}


def _wrong_image(world: World) -> None:
    world.api.pod["spec"]["containers"][0]["image"] = "docker.io/library/other:1"


def _other_image_behind_the_name(world: World) -> None:
    world.api.pod["status"]["containerStatuses"][0]["imageID"] = "sha256:" + "00" * 32


def _reload_failed(world: World) -> None:
    world.prometheus.set("prometheus_config_last_reload_successful", 0.0)


def _stopped_ingestion(world: World) -> None:
    for series in world.prometheus.series:
        series.age = 200.0


def _renamed_label(world: World) -> None:
    series = next(s for s in world.prometheus.series if s.labels["__name__"] == "kubelet_running_pods")
    series.labels["exported_node"] = "x"


def _other_revision(world: World) -> None:
    world.prometheus.series[-1].labels["revision"] = "ffffffffffff"


def _rules_deleted(world: World) -> None:
    """Rule files are gone from the ConfigMap and from what runs; the sentinel, and with it the revision, stays."""
    del _files(world)["rules-targets.yml"]
    world.prometheus.rules.remove(("plumbline-targets", "ScrapeTargetDown"))


def _rules_not_running(world: World) -> None:
    world.prometheus.rules.remove(("plumbline-targets", "ScrapeTargetDown"))


def _other_jobs_running(world: World) -> None:
    world.prometheus.configuration = world.prometheus.configuration.replace("kubelet", "other")


def _config_map_gone(world: World) -> None:
    del world.api.objects[f"{BASE}/configmaps/{objects.CONFIG_MAP}"]


def _other_config_map(world: World) -> None:
    world.api.pod["spec"]["volumes"][0] = {"name": "config", "emptyDir": {}}


def _files(world: World) -> dict[str, str]:
    files: dict[str, str] = world.api.objects[f"{BASE}/configmaps/{objects.CONFIG_MAP}"]["data"]
    return files


def _sidecar(world: World) -> None:
    world.api.pod["spec"]["containers"].append({"name": "sidecar", "image": "other:1"})


def _empty_dir(world: World) -> None:
    world.api.pod["spec"]["volumes"][1] = {"name": "data", "emptyDir": {}}


def _exec(world: World, old: str, new: str) -> None:
    answer = world.directory / "bin" / "exec"
    assert old in answer.read_text()
    answer.write_text(answer.read_text().replace(old, new))


def _directory_deleted(world: World) -> None:
    _exec(world, "pvc-1 /prometheus", "pvc-1//deleted /prometheus")


def _log_gone(world: World) -> None:
    _exec(world, "log 3 /prometheus\n", "")


def _from_the_future(world: World) -> None:
    next(s for s in world.prometheus.series if s.labels["__name__"] == "kubelet_running_pods").age = -60.0


def _one_target_lacks_a_metric(world: World) -> None:
    target = objects.target("kubelet", "https://10.88.0.2:10250/metrics", node="node-b")
    world.prometheus.targets["activeTargets"].append(target)
    more = series_of_catalogue({"activeTargets": [target]})
    world.prometheus.series += [s for s in more if s.labels["__name__"] != "kubelet_running_pods"]


def _no_pods(world: World) -> None:
    world.api.objects["/api/v1/namespaces/plumbline/pods"] = []


FAULTS: list[tuple[Callable[[World], None], str, str]] = [
    (_remove_job, "scrape.expected_jobs", "job kubelet: seen no such job; expected at least 1 targets up"),
    (_restart_pod, "pods.not_restarted", "1 restarts, last ended with OOMKilled, exit code 137"),
    (_wrong_image, "workloads.image", f"seen image docker.io/library/other:1; expected {objects.REFERENCE}"),
    (_other_image_behind_the_name, "workloads.image", "image id 0000"),
    (_reload_failed, "prometheus.reload", "prometheus_config_last_reload_successful on /metrics: seen 0; expected 1"),
    (_stopped_ingestion, "prometheus.storage_fresh", "newest sample 200 s old; expected younger than 30 s"),
    (_stopped_ingestion, "signals.fresh", "newest sample 200 s old"),
    (_renamed_label, "scrape.labels", "kubelet_running_pods of job kubelet: seen label exported_node on 1 series"),
    (_other_revision, "prometheus.revision", f"seen revision ffffffffffff; expected revision {objects.REVISION}"),
    (_rules_deleted, "prometheus.revision", "rule file rules-targets.yml: seen missing"),
    (_rules_deleted, "prometheus.revision", f"ConfigMap {objects.CONFIG_MAP}: seen revision "),
    (_rules_not_running, "prometheus.revision", "rule ScrapeTargetDown of group plumbline-targets: seen not running"),
    (_other_jobs_running, "prometheus.revision", "scrape job kubelet: seen not running"),
    (_config_map_gone, "prometheus.revision", f"ConfigMap {objects.CONFIG_MAP}: seen revision "),
    (_other_config_map, "prometheus.revision", "ConfigMap at /etc/prometheus: seen None; expected one ConfigMap"),
    (_sidecar, "workloads.image", "container sidecar: seen image other:1"),
    (_empty_dir, "pod.volume", "seen a volume of kind emptyDir; expected claim prometheus-data"),
    (_directory_deleted, "pod.volume", "seen directory /var/lib/volumes/pvc-1//deleted"),
    (_log_gone, "pod.volume", "seen no segment in wal/"),
    (_from_the_future, "signals.fresh", "kubelet_running_pods of job kubelet, instance 10.88.0.1:10250: seen newest"),
    (_one_target_lacks_a_metric, "signals.fresh", "kubelet_running_pods of job kubelet, instance 10.88.0.2:10250"),
    (_no_pods, "pods.running", "namespace plumbline: seen no pods"),
]


@pytest.mark.parametrize(("damage", "check_id", "words"), FAULTS, ids=[f"{f[0].__name__}-{f[1]}" for f in FAULTS])
def test_fault_turns_its_check_red(world: World, damage: Callable[[World], None], check_id: str, words: str) -> None:
    damage(world)
    code, report = world.run("--only", check_id)
    assert (code, report["verdict"]) == (1, "red")
    found = check_of(report, check_id)
    assert found["status"] == "fail"
    assert words in found["evidence"]
    assert found["remedy"]


def test_whole_run_names_the_removed_job_and_collects_what_the_cluster_says(world: World) -> None:
    world.prometheus.remove_job("kubelet")
    code, report = world.run()
    failed = {check["id"] for check in report["checks"] if check["status"] == "fail"}
    assert code == 1
    assert failed == {"scrape.expected_jobs", "scrape.labels", "signals.contract", "signals.fresh"}
    logs = report["diagnostics"]["log of pod prometheus-0 container prometheus"]
    assert "hunter2" not in logs
    assert "hidden" not in report["diagnostics"]["pod prometheus-0"]


def test_other_cluster_stops_everything_and_names_both(world: World) -> None:
    world.api.objects["/api/v1/namespaces/kube-system"]["metadata"]["uid"] = "other-uid"
    world.write_contract()
    done = _command(world)
    report = world.report()
    assert done.returncode == 1
    identity = check_of(report, "cluster.identity")
    assert "other-uid" in identity["evidence"]
    assert objects.CLUSTER_UID in identity["evidence"]
    others = [check for check in report["checks"] if check["id"] in EXPECTED[1:]]
    assert {check["status"] for check in others} == {"not_run"}
    assert len(others) == len(EXPECTED) - 1
    assert report["diagnostics"] == {}
    assert set(world.api.asked) == {"/api/v1/namespaces/kube-system"}


def test_unreachable_cluster_runs_nothing_else(world: World) -> None:
    code, report = world.run(cluster=objects.contract().cluster.model_dump() | {"context": "elsewhere"})
    assert code == 1
    assert "Connection refused" in check_of(report, "cluster.identity")["evidence"]
    assert {c["status"] for c in report["checks"]} == {"fail", "not_run"}


def test_context_that_does_not_exist_is_named(world: World) -> None:
    code, report = world.run(cluster=objects.contract().cluster.model_dump() | {"context": "gone"})
    assert code == 1
    assert "'gone'" in check_of(report, "cluster.identity")["evidence"]


def _command(world: World) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "smoke", *world.arguments()],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=os.environ | {"PYTEST_ADDOPTS": "--maxfail=1 -k nothing"},
    )


def _command_lines() -> list[bytes]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes())
        except OSError:
            continue
    return found
