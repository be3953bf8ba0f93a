"""Judgement over Kubernetes objects: each function passes on a healthy stack and fails on each fault."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

from smoke.judge import claims, identity, nodes, pods, workloads
from stacks.contract import Claim, Image, Workload
from tests.offline.smoke import objects

if TYPE_CHECKING:
    from collections.abc import Callable

    from smoke.model import Problem

Json = dict[str, Any]
NS = objects.NAMESPACE
CLAIM = Claim(name="prometheus-data", size="10Gi", mounted_at="/prometheus")


def _text(problems: list[Problem]) -> str:
    return "\n".join(map(str, problems))


def test_identity_compares_the_uid() -> None:
    same = {"metadata": {"uid": "a"}}
    assert identity.same_cluster(same, "a", "ctx") == []
    other = identity.same_cluster(same, "b", "ctx")
    assert _text(other) == "cluster behind context ctx: seen uid a; expected uid b of the contract"
    assert other[0].terminal
    assert identity.same_cluster({}, "", "ctx")


def test_running_pods_are_fine() -> None:
    finished = objects.pod(status={"phase": "Succeeded"})
    finished["metadata"]["ownerReferences"] = [{"kind": "Job", "name": "j", "uid": "j"}]
    assert pods.running([objects.pod(), finished], NS) == []


def _waiting(reason: str, message: str = "") -> Json:
    pod = objects.pod()
    pod["status"]["phase"] = "Pending"
    pod["status"]["containerStatuses"][0]["state"] = {"waiting": {"reason": reason, "message": message}}
    return pod


def _not_ready() -> Json:
    pod = objects.pod()
    pod["status"]["conditions"][3] = {"type": "Ready", "status": "False", "message": "readiness probe failed"}
    return pod


def _deleted() -> Json:
    pod = objects.pod()
    pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return pod


BAD_PODS = {
    "pending": (objects.pod(status={"phase": "Pending"}), "seen Pending"),
    "unschedulable": (
        objects.pod(status={"phase": "Pending", "conditions": [{"type": "X", "status": "False", "message": "no CPU"}]}),
        "seen Pending (no CPU)",
    ),
    "unknown": (objects.pod(status={}), "seen Unknown"),
    "evicted": (objects.pod(status={"phase": "Failed", "reason": "Evicted"}), "seen Failed (Evicted)"),
    "succeeded without a Job": (objects.pod(status={"phase": "Succeeded"}), "seen Succeeded"),
    "not ready": (_not_ready(), "seen Running, not Ready (readiness probe failed)"),
    "being deleted": (_deleted(), "seen being deleted"),
    "creating": (_waiting("ContainerCreating"), "container prometheus: seen ContainerCreating"),
    "crashing": (_waiting("CrashLoopBackOff", "back-off 10s"), "seen CrashLoopBackOff: back-off 10s"),
}


@pytest.mark.parametrize("kind", BAD_PODS)
def test_pod_that_does_not_run_is_named(kind: str) -> None:
    pod, words = BAD_PODS[kind]
    assert words in _text(pods.running([objects.pod(), pod], NS))


@pytest.mark.parametrize("reason", sorted(pods.TERMINAL_REASONS))
def test_state_that_does_not_heal_is_terminal(reason: str) -> None:
    assert [problem.terminal for problem in pods.running([_waiting(reason)], NS)] == [True]


@pytest.mark.parametrize("reason", ["ContainerCreating", "PodInitializing", "ErrImagePull"])
def test_state_that_may_heal_is_not_terminal(reason: str) -> None:
    assert [problem.terminal for problem in pods.running([_waiting(reason)], NS)] == [False]


def test_zero_pods_are_a_problem() -> None:
    assert _text(pods.running([], NS)) == f"namespace {NS}: seen no pods; expected at least one pod"
    assert pods.not_restarted([], NS)


def test_restarts_count_in_every_kind_of_container() -> None:
    assert pods.not_restarted([objects.pod()], NS) == []
    for kind in ("containerStatuses", "initContainerStatuses"):
        pod = objects.pod()
        pod["status"][kind] = [{"name": "c", "restartCount": 2}]
        assert "container c: seen 2 restarts; expected 0 restarts" in _text(pods.not_restarted([pod], NS))


def test_pod_without_statuses_proves_no_restart_count() -> None:
    assert pods.not_restarted([objects.pod(status={"phase": "Pending"})], NS)


def _workload(kind: str = "StatefulSet") -> Workload:
    image = Image(container="prometheus", reference=objects.REFERENCE, image_id=objects.IMAGE_ID)
    return Workload.model_validate({"kind": kind, "name": "prometheus", "replicas": 1, "images": (image,)})


def _rolled_out(live: Json | None, pod: Json, newest: str | None = "prometheus-7d9f8c6b5") -> str:
    return _text(workloads.rolled_out(_workload(), live, [pod], newest))


def test_finished_roll_out_is_fine() -> None:
    assert _rolled_out(objects.stateful_set(), objects.pod()) == ""


@pytest.mark.parametrize(
    ("where", "key", "value", "words"),
    [
        ("status", "observedGeneration", 1, "observed generation 1; expected 2"),
        ("status", "currentRevision", "old", "current revision old; expected prometheus-7d9f8c6b5"),
        ("status", "updatedReplicas", 0, "updatedReplicas 0; expected 1"),
        ("status", "readyReplicas", 0, "readyReplicas 0; expected 1"),
        ("status", "replicas", 2, "replicas 2; expected 1"),
        ("status", "updateRevision", "", "no update revision"),
        ("spec", "replicas", 3, "replicas in its spec 3; expected 1"),
    ],
)
def test_unfinished_roll_out_is_named(where: str, key: str, value: object, words: str) -> None:
    live = objects.stateful_set()
    live[where][key] = value
    assert words in _rolled_out(live, objects.pod())


def test_old_pod_does_not_pass_for_the_new_one() -> None:
    pod = objects.pod()
    pod["metadata"]["labels"]["controller-revision-hash"] = "prometheus-old"
    text = _rolled_out(objects.stateful_set(), pod)
    assert "pod prometheus-0: seen revision prometheus-old; expected prometheus-7d9f8c6b5" in text
    assert "0 pods of revision" in text


def test_missing_workload_and_unknown_revision_are_problems() -> None:
    assert _rolled_out(None, objects.pod()) == "StatefulSet prometheus: seen does not exist; expected exists"
    assert "newest revision unknown" in _rolled_out(objects.stateful_set(), objects.pod(), None)


def _other_kind(kind: str, status: Json) -> tuple[Json, Json]:
    live = objects.stateful_set() | {"kind": kind, "status": {"observedGeneration": 2} | status}
    pod = objects.pod()
    pod["metadata"]["labels"][workloads.HASH_LABEL[kind]] = "7d9f"
    return live, pod


DEPLOYMENT = {"replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1}
DAEMON_SET = {
    "desiredNumberScheduled": 1,
    "currentNumberScheduled": 1,
    "updatedNumberScheduled": 1,
    "numberReady": 1,
    "numberAvailable": 1,
}


@pytest.mark.parametrize(("kind", "status"), [("Deployment", DEPLOYMENT), ("DaemonSet", DAEMON_SET)])
def test_other_kinds_are_judged_by_their_own_counters(kind: str, status: Json) -> None:
    live, pod = _other_kind(kind, status)
    assert workloads.rolled_out(_workload(kind), live, [pod], "7d9f") == []
    for name in status:
        broken = deepcopy(live)
        broken["status"][name] = 0
        assert workloads.rolled_out(_workload(kind), broken, [pod], "7d9f"), name


def test_daemon_set_has_a_pod_on_every_node_that_it_selects() -> None:
    live, pod = _other_kind("DaemonSet", DAEMON_SET)
    agent = Workload(kind="DaemonSet", name="prometheus", replicas=None, images=_workload().images)
    assert workloads.rolled_out(agent, live, [pod], "7d9f") == []
    live["status"] |= {"desiredNumberScheduled": 2}
    assert "numberReady 1; expected 2" in _text(workloads.rolled_out(agent, live, [pod], "7d9f"))
    live["status"] = dict.fromkeys(DAEMON_SET, 0)
    assert "0 pods desired; expected at least 1" in _text(workloads.rolled_out(agent, live, [], "7d9f"))


def test_daemon_set_that_may_have_no_node_needs_no_pod_and_judges_those_that_it_has() -> None:
    live, pod = _other_kind("DaemonSet", DAEMON_SET)
    agent = Workload(kind="DaemonSet", name="prometheus", replicas=0, images=_workload().images)
    assert workloads.rolled_out(agent, live, [pod], "7d9f") == []
    live["status"] |= {"desiredNumberScheduled": 2}
    assert "numberReady 1; expected 2" in _text(workloads.rolled_out(agent, live, [pod], "7d9f"))
    assert "no pods" in _text(workloads.images(agent, live, []))
    live["status"] = {**dict.fromkeys(DAEMON_SET, 0), "observedGeneration": live["status"].get("observedGeneration")}
    live["status"]["desiredNumberScheduled"] = 0
    assert workloads.rolled_out(agent, live, [], "7d9f") == []
    assert workloads.images(agent, live, []) == []


def _images(damage: Callable[[Json, Json], None], *, image_id: str | None = objects.IMAGE_ID) -> str:
    live, pod = objects.stateful_set(), objects.pod()
    damage(live, pod)
    image = Image(container="prometheus", reference=objects.REFERENCE, image_id=image_id)
    workload = _workload().model_copy(update={"images": (image,)})
    return _text(workloads.images(workload, live, [pod]))


def _set_image_id(value: str) -> Callable[[Json, Json], None]:
    def damage(_: Json, pod: Json) -> None:
        pod["status"]["containerStatuses"][0]["imageID"] = value

    return damage


@pytest.mark.parametrize("prefix", ["", f"{objects.REFERENCE}@", "docker.io/library/import-2026@"])
def test_pinned_image_is_fine_however_the_runtime_writes_its_id(prefix: str) -> None:
    assert _images(_set_image_id(prefix + objects.IMAGE_ID)) == ""


def test_image_id_is_compared_only_where_it_is_known() -> None:
    other = _set_image_id("sha256:" + "00" * 32)
    assert "image id 0000" in _images(other)
    assert _images(other, image_id=None) == ""
    assert "no image id in its status" in _images(_set_image_id(""), image_id=None)


def test_other_reference_in_pod_or_template_is_named() -> None:
    def pod_spec(_: Json, pod: Json) -> None:
        pod["spec"]["containers"][0]["image"] = "other:1"

    def template(live: Json, _: Json) -> None:
        live["spec"]["template"]["spec"]["containers"][0]["image"] = "other:2"

    assert "pod prometheus-0 container prometheus: seen image other:1" in _images(pod_spec)
    assert "template of StatefulSet prometheus container prometheus: seen image other:2" in _images(template)


@pytest.mark.parametrize("kind", ["containers", "initContainers", "ephemeralContainers"])
def test_container_that_the_contract_does_not_know_is_named(kind: str) -> None:
    def inject(live: Json, pod: Json) -> None:
        for spec in (live["spec"]["template"]["spec"], pod["spec"]):
            spec.setdefault(kind, []).append({"name": "sidecar", "image": "other:3"})

    seen = "container sidecar: seen image other:3; expected no such container in the contract"
    assert f"pod prometheus-0 {seen}" in _images(inject)
    assert f"template of StatefulSet prometheus {seen}" in _images(inject)


@pytest.mark.parametrize(
    ("kind", "image", "named"), [("initContainers", "helper:1", False), ("containers", "helper:1", True)]
)
def test_init_container_of_a_chart_may_run_a_contracted_image_under_any_name(
    kind: str, image: str, *, named: bool
) -> None:
    live, pod = objects.stateful_set(), objects.pod()
    for spec in (live["spec"]["template"]["spec"], pod["spec"]):
        spec.setdefault(kind, []).append({"name": "ping", "image": image})
    found = _text(workloads.images(_workload().model_copy(update={"init_images": ("helper:1",)}), live, [pod]))
    assert ("container ping" in found) is named


def test_absent_container_and_absent_pods_are_problems() -> None:
    def rename(_: Json, pod: Json) -> None:
        pod["spec"]["containers"][0]["name"] = "renamed"

    assert "seen image None" in _images(rename)
    assert "no pods" in _text(workloads.images(_workload(), objects.stateful_set(), []))


def test_bound_claim_is_fine() -> None:
    assert claims.bound(CLAIM, objects.claim(), objects.volume()) == []


def _bound(path: tuple[str, ...], value: object, *, of_volume: bool = False) -> str:
    claim, volume = objects.claim(), objects.volume()
    place = volume if of_volume else claim
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return _text(claims.bound(CLAIM, claim, volume))


def test_unbound_small_or_orphaned_claim_is_named() -> None:
    assert "phase Pending" in _bound(("status", "phase"), "Pending")
    assert "capacity 5Gi; expected at least 10Gi" in _bound(("status", "capacity"), {"storage": "5Gi"})
    assert "bound to claim uid other" in _bound(("spec", "claimRef"), {"uid": "other"}, of_volume=True)
    assert "phase Released" in _bound(("status", "phase"), "Released", of_volume=True)
    assert "does not exist" in _text(claims.bound(CLAIM, objects.claim(), None))
    assert "does not exist" in _text(claims.bound(CLAIM, None, None))


def test_lost_claim_is_terminal() -> None:
    lost = objects.claim()
    lost["status"]["phase"] = "Lost"
    assert claims.bound(CLAIM, lost, None)[0].terminal


def test_healthy_node_with_a_taint_of_its_own_is_fine() -> None:
    assert nodes.conditions([objects.node()]) == []


def _node(kind: str, status: str) -> list[Problem]:
    node = objects.node()
    others = [c for c in node["status"]["conditions"] if c["type"] != kind]
    node["status"]["conditions"] = [*others, {"type": kind, "status": status, "message": "why"}]
    return nodes.conditions([node])


def test_troubled_node_is_named() -> None:
    assert "node node-a: seen Ready=Unknown (why)" in _text(_node("Ready", "Unknown"))
    assert "DiskPressure=True (why)" in _text(_node("DiskPressure", "True"))
    assert "NetworkUnavailable=True" in _text(_node("NetworkUnavailable", "True"))
    cordoned = objects.node()
    cordoned["spec"]["taints"] = [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]
    assert "taint node.kubernetes.io/unschedulable:NoSchedule" in _text(nodes.conditions([cordoned]))
    assert nodes.conditions([])
