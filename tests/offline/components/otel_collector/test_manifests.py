"""Agents and gateway as Kubernetes objects: what their arguments decide."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pulumi
import pytest
import yaml

from components import kube
from components.otel_collector.abilities import K8S_ATTRIBUTES, LOAD_BALANCING
from components.otel_collector.component import OtelCollector
from components.otel_collector.config import no_windows, render_agent, render_gateway
from components.otel_collector.manifests import manifests
from components.otel_collector.validate import validate
from components.policy import violations
from tests.offline.components.otel_collector.examples import ARGS, TRACES, args
from tests.offline.components.pulumi_mocks import record, taken_uids
from tests.offline.programs import require

if TYPE_CHECKING:
    from pathlib import Path

    from components.objects import Manifest
    from components.otel_collector.args import OtelCollectorArgs

MIB = 2**20
THREE = args(gateway=replace(ARGS.gateway, replicas=3))
ASKING = args(abilities=frozenset({LOAD_BALANCING, K8S_ATTRIBUTES}))
PAID = args(traces=replace(TRACES, tls=True, headers_secret="vendor", headers_keys=("api-key", "x-dataset")))  # noqa: S106  # a Secret's name


def built(given: OtelCollectorArgs = ARGS) -> dict[str, Manifest]:
    return manifests(given, render_agent(given), render_gateway(given))


def pod(role: str, given: OtelCollectorArgs = ARGS) -> Manifest:
    found: Manifest = built(given)[role]["spec"]["template"]["spec"]
    return found


def container(role: str, given: OtelCollectorArgs = ARGS) -> Manifest:
    (found,) = pod(role, given)["containers"]
    return dict(found)


AGENT, GATEWAY = "agent-daemon-set", "gateway-stateful-set-0"


@pytest.mark.parametrize("given", [ARGS, THREE, ASKING, PAID, args(logs=None, traces=None)])
def test_no_rule_is_broken_but_those_that_are_excepted(given: OtelCollectorArgs) -> None:
    assert violations(built(given).values()) == []


def test_exceptions_are_of_this_agent_and_of_these_paths() -> None:
    agent = built()[AGENT]
    renamed = {**agent, "metadata": {**agent["metadata"], "name": "another"}}
    assert len(violations([renamed])) == 3
    writable = built()[AGENT]
    for mount in writable["spec"]["template"]["spec"]["containers"][0]["volumeMounts"]:
        mount.pop("readOnly", None)
    assert ["/var/log/pods writable" in line for line in violations([writable])] == [True]


def test_objects_of_a_plain_stack() -> None:
    found = {role: (m["kind"], m["metadata"].get("namespace"), m["metadata"]["name"]) for role, m in built().items()}
    assert found == {
        "agent-service-account": ("ServiceAccount", "obs-node", "otel-agent"),
        "agent-config": ("ConfigMap", "obs-node", f"otel-agent-config-{render_agent(ARGS).revision}"),
        "agent-debug-info": ("ConfigMap", "obs-node", "otel-debug-info"),
        "agent-service": ("Service", "obs-node", "otel-agent"),
        "agent-network-policy": ("NetworkPolicy", "obs-node", "otel-agent"),
        "gateway-config": ("ConfigMap", "obs", f"otel-gateway-config-{render_gateway(ARGS).revision}"),
        "gateway-queue-0": ("PersistentVolumeClaim", "obs", "otel-gateway-queue-0"),
        "gateway-service": ("Service", "obs", "otel-gateway"),
        "gateway-service-headless": ("Service", "obs", "otel-gateway-headless"),
        "gateway-network-policy": ("NetworkPolicy", "obs", "otel-gateway"),
        "gateway-stateful-set-0": ("StatefulSet", "obs", "otel-gateway"),
        "agent-daemon-set": ("DaemonSet", "obs-node", "otel-agent"),
    }


def test_agent_reads_logs_keeps_its_queue_on_the_node_and_is_root_without_a_capability() -> None:
    found = pod(AGENT)
    assert found["volumes"] == [
        {"name": "config", "configMap": {"name": f"otel-agent-config-{render_agent(ARGS).revision}"}},
        {"name": "debug", "configMap": {"name": "otel-debug-info"}},
        {"name": "pod-logs", "hostPath": {"path": "/var/log/pods", "type": "Directory"}},
        {"name": "queue", "hostPath": {"path": "/var/lib/plumbline/otel-agent", "type": "DirectoryOrCreate"}},
    ]
    mounts = {mount["name"]: (mount["mountPath"], mount.get("readOnly")) for mount in container(AGENT)["volumeMounts"]}
    assert (mounts["pod-logs"], mounts["queue"]) == (("/var/log/pods", True), ("/var/lib/otelcol", None))
    assert (found["securityContext"]["runAsUser"], found["automountServiceAccountToken"]) == (0, False)
    assert container(AGENT)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(found)


def test_two_agents_never_share_a_node_and_its_files() -> None:
    strategy = built()[AGENT]["spec"]["updateStrategy"]
    assert strategy == {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%", "maxSurge": 0}}


def test_command_lines_name_files_that_are_mounted_and_the_gates() -> None:
    gate = "--feature-gates=ottl.set.allowNil,stanza.synchronousLogEmitter"
    first, second = "--config=/etc/otelcol/collector.yaml", "--config=/etc/otelcol-debug/debug.yaml"
    assert container(AGENT)["args"] == [first, second, gate]
    assert container(GATEWAY)["args"] == [first, gate]
    for role, given in ((AGENT, ("agent-config", "agent-debug-info")), (GATEWAY, ("gateway-config",))):
        mounts = {mount["name"]: mount["mountPath"] for mount in container(role)["volumeMounts"]}
        volumes = {v["configMap"]["name"]: mounts[v["name"]] for v in pod(role)["volumes"] if "configMap" in v}
        files = [
            f"{volumes[m['metadata']['name']]}/{key}" for m in (built()[name] for name in given) for key in m["data"]
        ]
        assert [word.removeprefix("--config=") for word in container(role)["args"][:-1]] == files


def test_workloads_reach_the_agent_of_their_own_node_alone() -> None:
    found = built()["agent-service"]["spec"]
    assert found["internalTrafficPolicy"] == "Local"
    assert {port["name"]: port["port"] for port in found["ports"]} == {"otlp-grpc": 4317, "otlp-http": 4318}
    assert found["selector"] == {"app.kubernetes.io/name": "otel-agent", "app.kubernetes.io/instance": "obs"}
    assert "internalTrafficPolicy" not in built()["gateway-service"]["spec"]


def rules(role: str, given: OtelCollectorArgs = ARGS) -> dict[int, list[Any]]:
    """Port → who may reach it, and nothing may be opened twice."""
    found: dict[int, list[Any]] = {}
    for rule in built(given)[role]["spec"]["ingress"]:
        for port in rule["ports"]:
            assert found.setdefault(port["port"], rule["from"]) is rule["from"]
    return found


def namespaces(*names: str) -> list[Any]:
    return [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}}} for name in names]


def test_every_pod_may_send_and_the_own_namespace_alone_may_scrape() -> None:
    anybody: list[Any] = [{"namespaceSelector": {}}]
    own: list[Any] = [{"podSelector": {}}]
    assert rules("gateway-network-policy") == {8888: own, 8889: own, 4317: anybody, 4318: anybody}
    assert rules("agent-network-policy") == {8888: namespaces("obs"), 4317: anybody, 4318: anybody}


def test_named_namespaces_may_send_beside_the_stack_and_its_agents() -> None:
    given, senders = args(receive_from=("team-b", "team-a")), namespaces("obs", "obs-node", "team-a", "team-b")
    for role in ("gateway-network-policy", "agent-network-policy"):
        assert (rules(role, given)[4317], rules(role, given)[4318]) == (senders, senders)
        pods = built(given)[role]["spec"]["podSelector"]["matchLabels"]
        assert pods["app.kubernetes.io/name"] == built(given)[role]["metadata"]["name"]
    assert not [role for role in built(args(network_policies=False)) if "policy" in role]


def test_each_replica_has_a_claim_that_is_kept_and_no_other_mounts() -> None:
    found = built(THREE)
    claims = [found[f"gateway-queue-{replica}"]["metadata"] for replica in range(3)]
    assert [meta["name"] for meta in claims] == [f"otel-gateway-queue-{replica}" for replica in range(3)]
    assert {(m["annotations"]["plumbline/retain"], m["labels"]["plumbline/stack"]) for m in claims} == {
        ("true", "local")
    }
    selectors = []
    for replica, name in enumerate(("otel-gateway", "otel-gateway-1", "otel-gateway-2")):
        one = found[f"gateway-stateful-set-{replica}"]
        assert (one["metadata"]["name"], one["spec"]["replicas"]) == (name, 1)
        claim = {"name": "queue", "persistentVolumeClaim": {"claimName": f"otel-gateway-queue-{replica}"}}
        assert claim in one["spec"]["template"]["spec"]["volumes"]
        selector = one["spec"]["selector"]["matchLabels"]
        assert selector.items() <= one["spec"]["template"]["metadata"]["labels"].items()
        assert found["gateway-service"]["spec"]["selector"].items() <= selector.items()
        selectors.append(selector)
    assert len({tuple(sorted(selector.items())) for selector in selectors}) == 3, "one would take another's pod"


def test_gateway_is_nobody_and_has_time_to_decide_and_to_flush() -> None:
    assert pod(GATEWAY)["securityContext"]["runAsUser"] == 65534
    assert pod(GATEWAY)["terminationGracePeriodSeconds"] == 40  # ten that a trace may wait, and thirty
    slow = args(sampling=replace(ARGS.sampling, decision_wait_seconds=60))
    assert pod(GATEWAY, slow)["terminationGracePeriodSeconds"] == 90


def test_every_variable_of_the_configurations_is_in_their_pods() -> None:
    for role, text in ((AGENT, render_agent(PAID)), (GATEWAY, render_gateway(PAID))):
        used = set(re.findall(r"\$\{env:(\w+)", "".join(text.files.values())))
        assert used, "nothing is looked at"
        assert used <= {variable["name"] for variable in container(role, PAID)["env"]}
    node = {"name": "K8S_NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
    assert node in container(AGENT)["env"]


@pytest.mark.parametrize("given", [ARGS, THREE, PAID, args(logs=None, traces=None)])
def test_the_program_accepts_the_files_of_the_pods_as_they_are_started(
    given: OtelCollectorArgs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in container(GATEWAY, given)["env"]:
        monkeypatch.setenv(variable["name"], variable.get("value", "value"))
    for role, mounted in ((AGENT, ("agent-config", "agent-debug-info")), (GATEWAY, ("gateway-config",))):
        words = container(role, given)["args"]
        for name, word in zip(mounted, words, strict=False):
            path = tmp_path / word.removeprefix("--config=/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(built(given)[name]["data"][path.name], encoding="utf-8")
        moved = [word.replace("--config=/", f"--config={tmp_path}/") for word in words]
        command = [require("otelcol-contrib"), "validate", *moved]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr


def test_secret_headers_come_from_the_secret_and_stand_in_no_config_map() -> None:
    env = {variable["name"]: variable.get("valueFrom") for variable in container(GATEWAY, PAID)["env"]}
    headers = yaml.safe_load(built(PAID)["gateway-config"]["data"]["collector.yaml"])["exporters"]["otlp_grpc/traces"]
    for header, reference in headers["headers"].items():
        variable = reference.removeprefix("${env:").removesuffix("}")
        assert env[variable] == {"secretKeyRef": {"name": "vendor", "key": header}}
    assert set(headers["headers"]) == {"api-key", "x-dataset"}


@pytest.mark.parametrize("memory", [64, 100, 256, 300, 1000, 4096, 65536])
def test_limiter_refuses_before_the_runtime_strains_and_the_kernel_kills(memory: int) -> None:
    """Above the container's limit it cannot be: it is made from it."""
    given = args(
        agent=replace(ARGS.agent, memory_bytes=memory * MIB),
        gateway=replace(ARGS.gateway, memory_bytes=memory * MIB),
    )
    for rendered in (render_agent(given), render_gateway(given)):
        limiter = yaml.safe_load(rendered.files["collector.yaml"])["processors"]["memory_limiter"]
        runtime = memory * MIB * 80 // 100
        assert 0 < limiter["spike_limit_mib"] < limiter["limit_mib"]
        assert limiter["limit_mib"] * MIB < runtime < memory * MIB


def test_runtime_is_told_of_four_fifths_of_the_container() -> None:
    told = {"name": "GOMEMLIMIT", "value": "214748364B"}  # of 256 MiB
    assert told in container(AGENT)["env"]
    assert {"name": "GOMEMLIMIT", "value": "429496729B"} in container(GATEWAY)["env"]  # of 512 MiB


def test_a_changed_configuration_restarts_its_own_pods_and_no_others() -> None:
    def revisions(given: OtelCollectorArgs) -> list[str]:
        templates = (built(given)[role]["spec"]["template"] for role in (AGENT, GATEWAY))
        return [str(found["metadata"]["annotations"]["plumbline/config-revision"]) for found in templates]

    before, after = revisions(ARGS), revisions(args(sampling=replace(ARGS.sampling, keep_percent=2.0)))
    assert before == [render_agent(ARGS).revision, render_gateway(ARGS).revision]
    assert (before[0], before[1]) == (after[0], before[1])
    assert before[1] != after[1]


def test_what_is_read_once_cannot_be_changed_and_is_mounted_by_its_revision() -> None:
    for given in (ARGS, THREE):
        found = built(given)
        for role, template in (("agent-config", AGENT), ("gateway-config", GATEWAY)):
            config = found[role]
            assert config["immutable"] is True
            assert {"name": "config", "configMap": {"name": config["metadata"]["name"]}} in pod(template, given)[
                "volumes"
            ]
    assert "immutable" not in built()["agent-debug-info"], "windows are written into it"


def test_health_is_asked_for_life_and_start_alone() -> None:
    for role in (AGENT, GATEWAY):
        for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
            assert container(role)[kind]["httpGet"] == {"path": "/", "port": "health"}
        assert {port["name"]: port["containerPort"] for port in container(role)["ports"]}["health"] == 13133


def test_only_an_agent_that_asks_the_api_server_has_rights_there() -> None:
    assert not [m for m in built().values() if m["kind"].startswith("ClusterRole")]
    found = built(ASKING)
    assert found["agent-cluster-role"]["rules"] == [
        {"apiGroups": [""], "resources": ["pods", "namespaces"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": ["apps"], "resources": ["replicasets"], "verbs": ["get", "list", "watch"]},
    ]
    assert found["agent-cluster-role-binding"]["subjects"] == [
        {"kind": "ServiceAccount", "name": "otel-agent", "namespace": "obs-node"}
    ]
    assert found["agent-cluster-role"]["metadata"]["name"] == "obs-otel-agent"
    assert pod(AGENT, ASKING)["automountServiceAccountToken"] is True


def test_debug_windows_are_kept_and_another_level_has_another_object() -> None:
    """What somebody wrote would else hold on to the old level for ever."""
    found = built()["agent-debug-info"]
    assert found["metadata"]["annotations"] == {
        "plumbline/written-by-others": 'data,metadata.annotations["plumbline/config-revision"]',
        "plumbline/config-revision": no_windows(ARGS).revision,
    }
    assert list(found["data"]) == ["debug.yaml"]
    louder = args(lowest_level="WARN")
    assert built(louder)["agent-debug-warn"]["metadata"]["name"] == "otel-debug-warn"
    assert "agent-debug-info" not in built(louder)
    assert {"name": "debug", "configMap": {"name": "otel-debug-warn"}} in pod(AGENT, louder)["volumes"]


def test_what_others_write_is_registered_so(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    def made(logical: str, opts: pulumi.ResourceOptions, **_: object) -> None:
        seen[logical] = opts.ignore_changes

    monkeypatch.setitem(kube.KINDS, ("v1", "ConfigMap"), made)
    for role in ("agent-debug-info", "agent-config"):
        kube.register(role, built()[role], pulumi.ResourceOptions())
    written = ["data", 'metadata.annotations["plumbline/config-revision"]']
    assert seen == {"agent-debug-info": written, "agent-config": None}


def test_component_restarts_one_replica_after_another_and_agents_last() -> None:
    recorded = record(lambda: OtelCollector("otel-collector", THREE))
    registered = {r.name: r.inputs for r in recorded.resources if r.type.startswith("kubernetes:")}
    assert taken_uids(registered.values()) == {
        "otel-agent": "uid of otel-collector-agent-config, uid of otel-collector-agent-debug-info",
        **dict.fromkeys(("otel-gateway", "otel-gateway-1", "otel-gateway-2"), "uid of otel-collector-gateway-config"),
    }
    assert registered == {f"otel-collector-{role}": m for role, m in built(THREE).items()}
    sets = [f"otel-collector-gateway-stateful-set-{replica}" for replica in range(3)]
    for before, after in zip(sets, [*sets[1:], "otel-collector-agent-daemon-set"], strict=True):
        assert before in recorded.named(after).depends_on
    first = recorded.named(sets[0]).depends_on
    assert {"otel-collector-gateway-queue-0", "otel-collector-gateway-config"} <= set(first)
    assert {r.name for r in recorded.resources if r.retained} == {f"otel-collector-gateway-queue-{n}" for n in range(3)}
    assert recorded.outputs["otel-collector"] == {
        *("agent_revision", "gateway_revision", "agent_service", "gateway_service")
    }


def test_the_example_is_accepted() -> None:
    validate(ARGS)
