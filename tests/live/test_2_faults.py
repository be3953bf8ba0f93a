"""Each fault that people really hit turns smoke red, under the name of the check that exists for it."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from tests.live import plumbline
from tests.live.plumbline import NAMESPACE, OUT, get, kubectl, prometheus_ready, pulumi, smoke, until
from tests.live.pushes import changed, configmap_with, in_text, write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Each fault is awaited before smoke looks at it; with its own patience smoke would wait minutes for it to heal.
PATIENCE: Final = 5.0


@contextmanager
def pushed(text: str, replacement: str) -> Iterator[None]:
    """Change one ConfigMap behind the engine's back, and put it back afterwards."""
    try:
        with changed(configmap_with(text)["metadata"]["name"], "prometheus-0", in_text(text, replacement)):
            yield
    finally:
        until("the pushed file is gone", lambda: not _running_config_differs(), 180)


def _running_config_differs() -> bool:
    code, _, _ = smoke("--only", "prometheus.reload", "--only", "prometheus.revision", "--only", "scrape.expected_jobs")
    return code != 0


def test_removed_scrape_job_is_named() -> None:
    with pushed("job_name: cadvisor", "job_name: renamed"):
        until("the change arrives", lambda: "renamed" in _jobs(), 180)
        code, checks, _ = smoke("--only", "scrape.expected_jobs", patience=PATIENCE)
    assert code == 1
    assert checks["scrape.expected_jobs"]["status"] == "fail"
    assert "cadvisor" in checks["scrape.expected_jobs"]["evidence"]


def _jobs() -> set[str]:
    return {series["metric"]["job"] for series in plumbline.query("up")}


def test_broken_rule_file_is_red() -> None:
    with pushed("vector(1)", "vector(1"):
        until("Prometheus refuses it", _reload_failed, 180)
        code, checks, _ = smoke("--only", "prometheus.reload", patience=PATIENCE)
    assert code == 1
    assert checks["prometheus.reload"]["status"] == "fail"


def _reload_failed() -> bool:
    found = plumbline.query("prometheus_config_last_reload_successful")
    return bool(found) and found[0]["value"][1] == "0"


def test_restarted_pod_is_red_until_it_is_replaced() -> None:
    kubectl("exec", "-n", NAMESPACE, "prometheus-0", "-c", "prometheus", "--", "/bin/busybox", "kill", "1", check=False)
    until("the container restarted", lambda: _restarts() == 1)
    until("it is ready again", prometheus_ready)
    code, checks, _ = smoke(patience=PATIENCE)  # the whole suite once: a fault must not hide among checks that pass
    assert code == 1
    assert checks["pods.not_restarted"]["status"] == "fail"
    kubectl("delete", "pod", "prometheus-0", "-n", NAMESPACE)
    until("the new pod is ready", prometheus_ready)


def _restarts() -> int:
    statuses = get("pod/prometheus-0", "-n", NAMESPACE)["status"].get("containerStatuses", [])
    return int(statuses[0]["restartCount"]) if statuses else 0


def test_wrong_image_is_red() -> None:
    pinned = get("statefulset/prometheus", "-n", NAMESPACE)["spec"]["template"]["spec"]["containers"][0]["image"]
    other = pinned.rsplit(":", 1)[0] + ":other"
    plumbline.tag_image(pinned, other)
    try:
        _set_image(other)
        code, checks, _ = smoke("--only", "workloads.image", patience=PATIENCE)
        assert code == 1
        assert checks["workloads.image"]["status"] == "fail"
        assert other in checks["workloads.image"]["evidence"]
    finally:
        _set_image(pinned)


def _set_image(reference: str) -> None:
    kubectl("set", "image", "statefulset/prometheus", f"prometheus={reference}", "-n", NAMESPACE)
    kubectl("rollout", "status", "statefulset/prometheus", "-n", NAMESPACE, "--timeout=150s")


def test_another_cluster_is_refused_before_any_other_check(tmp_path: Path) -> None:
    contract = json.loads((OUT / "contract.json").read_text())
    contract["cluster"]["uid"] = "00000000-0000-4000-8000-000000000000"
    elsewhere = tmp_path / "contract.json"
    elsewhere.write_text(json.dumps(contract))
    code, checks, _ = smoke(contract=elsewhere)
    assert code == 1
    assert checks["cluster.identity"]["status"] == "fail"
    assert {c["status"] for name, c in checks.items() if name != "cluster.identity"} == {"not_run"}


def test_engine_refuses_another_cluster() -> None:
    uid = pulumi("config", "get", "--path", "plumbline:cluster.uid", "-s", "local").stdout.strip()
    try:
        _set("plumbline:cluster.uid", "00000000-0000-4000-8000-000000000000")
        done = pulumi("preview", "-s", "local", "--non-interactive")
        assert done.returncode != 0
        assert uid in done.stdout
        assert "00000000-0000-4000-8000-000000000000" in done.stdout
    finally:
        _set("plumbline:cluster.uid", uid)


def test_misspelt_setting_is_refused_with_the_right_name() -> None:
    try:
        _set("plumbline:prometheus.retenton", "3d")
        done = pulumi("up", "-s", "local", "--yes", "--non-interactive")
        assert done.returncode != 0
        assert "retenton" in done.stdout
        assert "did you mean" in done.stdout
        assert "Traceback" not in done.stdout
    finally:
        pulumi("config", "rm", "--path", "plumbline:prometheus.retenton", "-s", "local")


def test_retention_larger_than_the_volume_is_refused() -> None:
    size = pulumi("config", "get", "--path", "plumbline:prometheus.retention_size", "-s", "local").stdout.strip()
    try:
        _set("plumbline:prometheus.retention_size", "900GB")
        done = pulumi("up", "-s", "local", "--yes", "--non-interactive")
        assert done.returncode != 0
        assert "900GB" in done.stdout
    finally:
        _set("plumbline:prometheus.retention_size", size)


def _set(path: str, value: str) -> None:
    done = pulumi("config", "set", "--path", path, value, "-s", "local")
    assert done.returncode == 0, done.stdout


def test_swapped_volume_is_red_and_up_repairs_what_changed_behind_its_back() -> None:
    """Last of the file: `up` ends green, so nothing is left of the faults before it."""
    volumes = get("statefulset/prometheus", "-n", NAMESPACE)["spec"]["template"]["spec"]["volumes"]
    item = configmap_with("job_name: cadvisor")
    name, data = item["metadata"]["name"], item["data"]
    _swap_volume(volumes)
    code, checks, _ = smoke("--only", "pod.volume", patience=PATIENCE)
    assert code == 1
    assert checks["pod.volume"]["status"] == "fail"
    write(name, in_text("job_name: cadvisor", "job_name: renamed")(data))
    done = plumbline.words("up")
    assert done.returncode == 0, done.stdout
    assert get("statefulset/prometheus", "-n", NAMESPACE)["spec"]["template"]["spec"]["volumes"] == volumes
    assert get(f"configmap/{name}", "-n", NAMESPACE)["data"] == data


def _swap_volume(volumes: list[dict[str, object]]) -> None:
    number = next(i for i, v in enumerate(volumes) if "persistentVolumeClaim" in v)
    swap = [
        {
            "op": "replace",
            "path": f"/spec/template/spec/volumes/{number}",
            "value": {"name": volumes[number]["name"], "emptyDir": {}},
        }
    ]
    kubectl("patch", "statefulset", "prometheus", "-n", NAMESPACE, "--type=json", "-p", json.dumps(swap))
    kubectl("rollout", "status", "statefulset/prometheus", "-n", NAMESPACE, "--timeout=150s")
