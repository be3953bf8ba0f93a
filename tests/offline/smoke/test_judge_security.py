"""Judgement over the privileges in a pod's spec."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from components.dcgm_exporter.names import VIRTUAL_GPUS
from components.otel_collector.names import QUEUE_PATH
from smoke import limits
from smoke.judge import security
from smoke.proofs.handover import sentinel_pod
from tests.offline.smoke.full_stack import agent_pod

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]


def _restricted() -> Json:
    image = {"image": "prometheus:1", "secrets": []}
    return sentinel_pod("p", image, "nvidia.com/gpu", "plumbline.dev/team")


def _container(pod: Json) -> Json:
    found: Json = pod["spec"]["containers"][0]
    return found


def test_pod_that_smoke_creates_is_restricted_and_ends_by_itself() -> None:
    pod = _restricted()
    assert security.restricted(pod, "pod p") == []
    assert pod["spec"]["activeDeadlineSeconds"] == limits.SENTINEL_LIFE
    assert pod["metadata"]["labels"]["plumbline.dev/team"] == "plumbline-proof"
    assert _container(pod)["resources"]["limits"]["nvidia.com/gpu"] == "1"


FAULTS: dict[str, Callable[[Json], object]] = {
    "privileged": lambda pod: _container(pod)["securityContext"].update(privileged=True),
    "may gain privileges": lambda pod: _container(pod)["securityContext"].pop("allowPrivilegeEscalation"),
    "root file system writable": lambda pod: _container(pod)["securityContext"].pop("readOnlyRootFilesystem"),
    "keeps capabilities": lambda pod: _container(pod)["securityContext"]["capabilities"].pop("drop"),
    "adds NET_ADMIN": lambda pod: _container(pod)["securityContext"]["capabilities"].update(add=["NET_ADMIN"]),
    "no seccomp filter": lambda pod: pod["spec"]["securityContext"].pop("seccompProfile"),
    "hostPID is set": lambda pod: pod["spec"].update(hostPID=True),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_privilege_is_named_in_both_kinds_of_pods(fault: str) -> None:
    restricted, agent = _restricted(), agent_pod()
    FAULTS[fault](restricted)
    FAULTS[fault](agent)
    assert fault in "\n".join(map(str, security.restricted(restricted, "pod p")))
    assert fault in "\n".join(map(str, security.agent(agent, "dcgm-exporter", "pod p")))


@pytest.mark.parametrize(
    ("component", "value", "faults"),
    [("dcgm-exporter", "true", 0), ("dcgm-exporter", "false", 1), ("node-exporter", "true", 1)],
)
def test_processes_of_the_node_are_for_the_exporter_of_shared_gpus(component: str, value: str, faults: int) -> None:
    assert security.SHARED_GPUS == VIRTUAL_GPUS
    pod = agent_pod()
    pod["spec"]["hostPID"] = True
    _container(pod)["env"] = [{"name": "KUBERNETES_VIRTUAL_GPUS", "value": value}]
    found = [str(problem) for problem in security.agent(pod, component, "pod p")]
    assert sum("hostPID is set" in text for text in found) == faults


def test_restricted_pod_has_nothing_of_the_node_and_no_root() -> None:
    pod = _restricted()
    pod["spec"]["volumes"] = [{"name": "host", "hostPath": {"path": "/"}}]
    pod["spec"]["hostNetwork"] = True
    pod["spec"]["securityContext"]["runAsUser"] = 0
    text = "\n".join(map(str, security.restricted(pod, "pod p")))
    assert "volume host is a path of the node" in text
    assert "hostNetwork is set" in text
    assert "may run as root" in text


def test_agent_may_do_what_it_needs_and_only_that_agent() -> None:
    assert security.agent(agent_pod(), "dcgm-exporter", "pod p") == []
    text = "\n".join(map(str, security.agent(agent_pod(), "node-exporter", "pod p")))
    assert "may run as root" in text
    assert "adds SYS_ADMIN" in text
    writable = agent_pod()
    _container(writable)["volumeMounts"][0]["readOnly"] = False
    text = "\n".join(map(str, security.agent(writable, "dcgm-exporter", "pod p")))
    assert text == "pod p container exporter: seen may write to the node at /pods; expected read-only"


def test_agent_of_logs_may_be_root_and_write_where_it_keeps_its_place() -> None:
    assert security.AGENTS["otel-agent"].written == {QUEUE_PATH}
    pod = agent_pod()
    del _container(pod)["securityContext"]["capabilities"]["add"]
    _container(pod)["volumeMounts"][0] |= {"readOnly": False, "mountPath": "/var/lib/otelcol"}
    assert security.agent(pod, "otel-agent", "pod p") == []
    _container(pod)["volumeMounts"][0]["mountPath"] = "/var/log/pods"
    text = "\n".join(map(str, security.agent(pod, "otel-agent", "pod p")))
    assert text == "pod p container exporter: seen may write to the node at /var/log/pods; expected read-only"
