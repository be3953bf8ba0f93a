"""Each rule lets a good manifest pass and sees its own fault."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest

from components import policy
from components.errors import DeployError
from components.object_store.manifests import manifests as object_store_manifests
from components.objects import (
    RETAIN,
    Manifest,
    config_map,
    critical_pods_quota,
    identity,
    namespace,
    node_namespace,
)
from components.otel_collector.config import render_agent, render_gateway
from components.otel_collector.manifests import manifests as collector_manifests
from components.policy import RULES, enforce, unused_exceptions, violations
from components.policy_exceptions import EXCEPTIONS
from components.recovery.manifests import manifests as recovery_manifests
from components.storage import claim
from components.swanlab.manifests import manifests as swanlab_manifests
from tests.offline.components.exporter_args import every_variant
from tests.offline.components.object_store.test_manifests import ARGS as OBJECT_STORE
from tests.offline.components.otel_collector.examples import ARGS as COLLECTOR
from tests.offline.components.recovery.examples import local as recovering
from tests.offline.components.swanlab.golden import NAMES as SWANLABS

LABELS = {
    "app.kubernetes.io/name": "x",
    "app.kubernetes.io/instance": "plumbline",
    "app.kubernetes.io/component": "metrics",
    "app.kubernetes.io/part-of": "plumbline",
    "app.kubernetes.io/managed-by": "pulumi",
}


def workload() -> Manifest:
    container = {
        "name": "x",
        "image": "registry.example.com/x:1",
        "args": ["--config.file=/etc/x", "--token-file=/run/token"],
        "env": [{"name": "LEVEL", "value": "info"}, {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {}}}],
        "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "1Gi"}},
        "readinessProbe": {"httpGet": {"path": "/", "port": 1}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": "config", "mountPath": "/etc/x"}],
    }
    pod = {
        "securityContext": {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
        "volumes": [{"name": "config", "configMap": {"name": "x"}}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "x", "namespace": "plumbline", "labels": LABELS},
        "spec": {"template": {"metadata": {"labels": LABELS}, "spec": pod}},
    }


def service(kind: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x", "labels": LABELS}, "spec": {"type": kind}}


def unretained_namespace() -> Manifest:
    found = namespace("x")
    del found["metadata"]["annotations"]
    return found


def kept_by_chance() -> Manifest:
    """Retained, but its fields belong to whichever field manager the engine made up for this stack."""
    found = namespace("x")
    found["metadata"]["annotations"] = {"plumbline/retain": "true"}
    return found


def labelled_namespace(level: str | None) -> Manifest:
    found = namespace("plumbline")
    del found["metadata"]["labels"]["pod-security.kubernetes.io/enforce"]
    if level is not None:
        found["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] = level
    return found


def config(text: str) -> Manifest:
    return config_map("x", "plumbline", LABELS, {"file": text}, {})


def broken(path: str, value: Any) -> Manifest:  # noqa: ANN401  # any YAML value
    """The good workload with one value changed. path: `pod.…`, `container.…` or from the top; None removes."""
    found = workload()
    pod = found["spec"]["template"]["spec"]
    first, _, rest = path.partition(".")
    place = {"pod": pod, "container": pod["containers"][0]}.get(first, found)
    keys = (rest if first in ("pod", "container") else path).split(".")
    for key in keys[:-1]:
        place = place[key]
    if value is None:
        del place[keys[-1]]
    else:
        place[keys[-1]] = value
    return found


def cron_job(*, probe: bool = True, sidecar: dict[str, Any] | None = None, **pod: Any) -> Manifest:  # noqa: ANN401  # any YAML value
    """The good pod in a CronJob. sidecar: keys laid over a container that runs beside. pod: keys laid over the pod."""
    template = workload()["spec"]["template"]
    if not probe:
        del template["spec"]["containers"][0]["readinessProbe"]
    if sidecar is not None:
        started = {"startupProbe": {"exec": {"command": ["true"]}}, "restartPolicy": "Always", "name": "beside"}
        beside = {**workload()["spec"]["template"]["spec"]["containers"][0], **started, **sidecar}
        template["spec"]["initContainers"] = [{key: value for key, value in beside.items() if value is not None}]
    template["spec"] |= pod
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "x", "namespace": "plumbline", "labels": LABELS},
        "spec": {"schedule": "0 * * * *", "jobTemplate": {"spec": {"template": template}}},
    }


def writable_root() -> dict[str, Any]:
    container = workload()["spec"]["template"]["spec"]["containers"][0]
    return {"securityContext": {**container["securityContext"], "readOnlyRootFilesystem": False}}


def unlabelled_cron_job() -> Manifest:
    found = cron_job()
    found["spec"]["jobTemplate"]["spec"]["template"]["metadata"] = {"labels": {}}
    return found


GOOD = (
    workload(),
    cron_job(sidecar={}),
    service("ClusterIP"),
    config("password_file: /run/secret"),
    config("[database]\npassword = $__file{/run/secret}\n[security]\nsecret_key = $__file{/run/key}"),
    namespace("plumbline"),
    critical_pods_quota("plumbline"),
)
GOOD_CLAIM = claim("data", "plumbline", LABELS, "1Gi", None)

BAD: tuple[tuple[str, Manifest, str], ...] = (
    ("has_probes", cron_job(probe=False), "container x has no readinessProbe"),
    ("has_probes", cron_job(sidecar={"startupProbe": None}), "sidecar beside has no startupProbe"),
    ("stays_off_the_node", cron_job(hostNetwork=True), "hostNetwork is set"),
    ("root_is_read_only", cron_job(sidecar=writable_root()), "container beside has a writable root"),
    ("image_is_pinned", cron_job(sidecar={"image": "x:latest"}), "runs `x:latest`"),
    ("is_labelled", unlabelled_cron_job(), "pod template lacks labels"),
    (
        "image_is_pinned",
        broken("container.image", "registry.example.com/x:latest"),
        "runs `registry.example.com/x:latest`",
    ),
    ("image_is_pinned", broken("container.image", "registry.example.com:5000/x"), "runs `registry.example.com:5000/x`"),
    ("runs_as_non_root", broken("pod.securityContext.runAsNonRoot", None), "may run as root"),
    ("runs_as_non_root", broken("pod.securityContext.runAsUser", 0), "may run as root"),
    ("root_is_read_only", broken("container.securityContext.readOnlyRootFilesystem", None), "has a writable root"),
    ("has_no_privileges", broken("container.securityContext.privileged", value=True), "is privileged"),
    ("has_no_privileges", broken("container.securityContext.allowPrivilegeEscalation", None), "can gain privileges"),
    (
        "has_no_privileges",
        broken("container.securityContext.capabilities", {"drop": ["NET_RAW"]}),
        "keeps capabilities",
    ),
    (
        "has_no_privileges",
        broken("container.securityContext.capabilities.add", ["SYS_ADMIN"]),
        "adds capability SYS_ADMIN",
    ),
    ("has_no_privileges", broken("pod.securityContext.seccompProfile", None), "has no seccomp filter"),
    (
        "has_no_privileges",
        broken("container.securityContext.seccompProfile", {"type": "Unconfined"}),
        "no seccomp filter",
    ),
    ("stays_off_the_node", broken("pod.hostNetwork", value=True), "hostNetwork is set"),
    ("stays_off_the_node", broken("pod.volumes", [{"name": "v", "hostPath": {"path": "/"}}]), "mounts the node's / r"),
    ("has_requests_and_limits", broken("container.resources.limits", None), "lacks resources limits.memory"),
    (
        "has_requests_and_limits",
        broken("container.resources", {}),
        "lacks resources requests.cpu, requests.memory, limits",
    ),
    ("has_probes", broken("container.readinessProbe", None), "has no readinessProbe"),
    ("is_labelled", broken("metadata.labels", {}), "lacks labels app.kubernetes.io/name, app.kubernetes.io/instance"),
    ("is_labelled", broken("spec.template.metadata.labels", {}), "pod template lacks labels"),
    (
        "state_is_retained",
        {**GOOD_CLAIM, "metadata": {"name": "data", "labels": LABELS}},
        "would be deleted with the stack",
    ),
    ("state_is_retained", unretained_namespace(), "would be deleted with"),
    ("state_is_retained", kept_by_chance(), "could not be changed by the next"),
    ("state_is_retained", broken("spec.volumeClaimTemplates", [{}]), "has volumeClaimTemplates"),
    ("namespace_is_restricted", labelled_namespace(None), "lets in pods of level privileged"),
    ("namespace_is_restricted", labelled_namespace("baseline"), "lets in pods of level baseline"),
    ("config_holds_no_secret", config("a: 1\n  password: hunter2"), "seems to hold a password or token"),
    ("config_holds_no_secret", config('{\n  "secret_key": "hunter2"\n}'), "seems to hold a password or token"),
    ("config_holds_no_secret", config("password: {hunter2}"), "seems to hold a password or token"),
    ("config_holds_no_secret", config("secret_key = hunter2"), "seems to hold a password or token"),
    ("config_holds_no_secret", config("password = $__file{/run/x}hunter2"), "seems to hold a password or token"),
    ("config_holds_no_secret", config("password = hunter2$__file{/run/x}"), "seems to hold a password or token"),
    ("config_holds_no_secret", config("password = $__env{DB_PASSWORD}"), "seems to hold a password or token"),
    (
        "config_holds_no_secret",
        config("url: https://user:hunter2@example.com"),
        "seems to hold credentials inside a URL",
    ),
    ("config_holds_no_secret", config("-----BEGIN EC PRIVATE KEY-----"), "seems to hold a private key"),
    ("config_holds_no_secret", config("id: AKIAIOSFODNN7EXAMPLE"), "seems to hold an access key"),
    (
        "config_holds_no_secret",
        broken("container.env", [{"name": "DB_PASSWORD", "value": "x"}]),
        "has DB_PASSWORD in clear",
    ),
    ("config_holds_no_secret", broken("container.args", ["--api-token=x"]), "has --api-token in clear"),
    ("config_can_change", config("x" * 1_000_001), "accepted are at most 1000000"),
    (
        "config_can_change",
        broken("container.volumeMounts", [{"mountPath": "/c", "subPath": "c"}]),
        "mounts /c by subPath",
    ),
    ("is_not_exposed", service("LoadBalancer"), "is of type LoadBalancer; accepted: ClusterIP"),
    ("is_not_exposed", service("NodePort"), "is of type NodePort"),
)


@pytest.mark.parametrize("manifest", [*GOOD, GOOD_CLAIM], ids=lambda m: str(m["kind"]))
def test_good_manifests_pass(manifest: Manifest) -> None:
    assert violations([manifest]) == []


@pytest.mark.parametrize(("rule", "manifest", "words"), BAD, ids=[f"{rule}-{n}" for n, (rule, _, _) in enumerate(BAD)])
def test_each_rule_sees_its_fault_and_only_that(rule: str, manifest: Manifest, words: str) -> None:
    found = list(getattr(policy, rule)(manifest))
    assert len(found) == 1
    assert words in found[0]
    assert violations([manifest]) == [f"{identity(manifest)}: {found[0]}"]


def test_every_rule_is_seen_to_fail() -> None:
    assert {rule for rule, _, _ in BAD} == {rule.__name__ for rule in RULES}


def test_init_containers_are_judged_too() -> None:
    found = workload()
    pod = found["spec"]["template"]["spec"]
    extra = copy.deepcopy(pod["containers"][0])
    del extra["readinessProbe"]
    pod["initContainers"] = [{**extra, "image": "registry.example.com/x:latest"}]
    assert [line for line in violations([found]) if "latest" in line] == violations([found])


def test_reference_to_a_secret_is_none() -> None:
    assert violations([config('{\n  "secret_key": {\n    "name": "keys"\n  }\n}')]) == []


def test_digest_alone_pins_an_image() -> None:
    assert violations([broken("container.image", "registry.example.com/x@sha256:" + "0" * 64)]) == []


def test_enforce_lists_every_violation_with_its_object() -> None:
    with pytest.raises(DeployError) as caught:
        enforce([service("NodePort"), broken("container.image", "x:latest")])
    lines = str(caught.value).splitlines()
    assert lines[1].startswith("- Service/x: is of type NodePort")
    assert lines[2].startswith("- StatefulSet/plumbline/x: container x runs `x:latest`")


def test_retention_marker_is_what_the_registration_reads() -> None:
    assert GOOD_CLAIM["metadata"]["annotations"][RETAIN] == "true"


def everything() -> list[Manifest]:
    """Manifests of whatever needs an exception, in every variant."""
    return [
        *every_variant(),
        node_namespace("plumbline"),
        *object_store_manifests(replace(OBJECT_STORE, node_port=30833)).values(),
        *(found for args in SWANLABS.values() for found in swanlab_manifests(args()).values()),
        *recovery_manifests(recovering()).values(),
        *collector_manifests(COLLECTOR, render_agent(COLLECTOR), render_gateway(COLLECTOR)).values(),
    ]


def test_what_the_stack_has_of_its_own_keeps_every_rule_or_has_an_exception() -> None:
    assert violations(everything()) == []


def test_every_exception_is_needed() -> None:
    assert unused_exceptions(everything()) == []


def test_swanlab_and_its_object_store_are_excepted_in_one_thing_each() -> None:
    """The same complaint about another object, and another complaint about the same object, stand."""
    nodes = object_store_manifests(replace(OBJECT_STORE, node_port=30833))["service"]
    balanced = {**nodes, "spec": {**nodes["spec"], "type": "LoadBalancer"}}
    renamed = {**nodes, "metadata": {**nodes["metadata"], "name": "prometheus"}}
    lab = next(m for m in everything() if m["kind"] == "Namespace" and m["metadata"]["name"].endswith("-swanlab"))
    privileged = copy.deepcopy(lab)
    privileged["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] = "privileged"
    assert violations([nodes, lab]) == []
    assert ["is of type LoadBalancer" in line for line in violations([balanced])] == [True]
    assert ["is of type NodePort" in line for line in violations([renamed])] == [True]
    assert ["lets in pods of level privileged" in line for line in violations([privileged])] == [True]


def test_an_exception_that_nothing_needs_is_seen() -> None:
    assert unused_exceptions(GOOD) == list(EXCEPTIONS)


def test_every_exception_names_a_rule_and_a_reason() -> None:
    assert {exception.rule for exception in EXCEPTIONS} <= {rule.__name__ for rule in RULES}
    assert all(exception.reason for exception in EXCEPTIONS)


def test_an_exception_covers_its_own_object_alone() -> None:
    agents = [found for found in every_variant() if found["kind"] == "DaemonSet"]
    for agent in agents:
        other_name = copy.deepcopy(agent)
        other_name["metadata"]["name"] = "somebody-else"
        assert violations([other_name])
        assert violations([{**agent, "kind": "Deployment"}])
    assert violations([{**node_namespace("plumbline"), "metadata": namespace("x")["metadata"] | {"labels": LABELS}}])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"securityContext": {"privileged": True}}, "container exporter is privileged"),
        ({"securityContext": {"capabilities": {"drop": ["ALL"], "add": ["SYS_PTRACE"]}}}, "adds capability SYS_PTRACE"),
        ({"volumeMounts": [{"name": "pod-resources", "mountPath": "/p"}]}, "mounts the node's /var/lib/kubelet"),
    ],
)
def test_an_exception_covers_its_own_complaint_alone(change: Manifest, words: str) -> None:
    found = next(m for m in every_variant() if m["metadata"]["name"] == "dcgm-exporter" and m["kind"] == "DaemonSet")
    changed = copy.deepcopy(found)
    container = changed["spec"]["template"]["spec"]["containers"][0]
    security = container["securityContext"] | change.get("securityContext", {})
    container |= {**change, "securityContext": security}
    complaints = violations([changed])
    assert len(complaints) == 1
    assert words in complaints[0]


def test_processes_of_the_node_are_seen_where_gpus_are_shared_alone() -> None:
    agents = [found for found in every_variant() if found["kind"] == "DaemonSet"]
    shared = [found for found in agents if found["spec"]["template"]["spec"].get("hostPID")]
    assert [found["metadata"]["name"] for found in shared] == ["dcgm-exporter"]
    for agent in agents:
        changed = copy.deepcopy(agent)
        changed["spec"]["template"]["spec"]["hostPID"] = True
        complaints = violations([changed])
        assert any("hostPID is set" in complaint for complaint in complaints) == (agent not in shared)


def test_a_writable_mount_of_the_node_is_told_from_a_readable_one() -> None:
    found = broken("pod.volumes", [{"name": "v", "hostPath": {"path": "/data"}}])
    container = found["spec"]["template"]["spec"]["containers"][0]
    container["volumeMounts"] = [{"name": "v", "mountPath": "/data", "readOnly": True}]
    assert "mounts the node's /data read-only" in violations([found])[0]
    container["volumeMounts"][0]["readOnly"] = False
    assert "mounts the node's /data writable" in violations([found])[0]
