"""What recovery's manifests decide: who may do what, who is reached by whom, and what bounds a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pulumi
import pytest

from components.grafana import names as grafana
from components.objects import identity
from components.policy import violations
from components.policy_exceptions import EXCEPTIONS
from components.recovery.component import Recovery
from components.recovery.manifests import manifests
from components.secrets import derive
from recovery.arguments import parse
from tests.offline.components.pulumi_mocks import Recording, record
from tests.offline.components.recovery.examples import elsewhere, local, with_grafana

JOBS = {
    **{"create": "plumbline-swanlab", "verify": "plumbline-recovery", "prune": "plumbline-recovery"},
    "restore": "plumbline-swanlab",
}
ROOT = "r" * 32
STORES = ("postgres", "clickhouse", "redis", "alertmanager")
LIVE_SECRETS = {"swanlab-postgres", "swanlab-clickhouse", "swanlab-redis", "swanlab-s3", "swanlab-api-key"}


def cron_job(command: str) -> dict[str, Any]:
    found: dict[str, Any] = manifests(local())[f"cron-job-{command}"]
    return found


def pod(command: str) -> dict[str, Any]:
    found: dict[str, Any] = cron_job(command)["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    return found


def secrets_of(command: str) -> set[str]:
    """Names of Secrets that a pod sees, as files or as variables."""
    spec = pod(command)
    containers = (*spec.get("initContainers", ()), *spec["containers"])
    variables = [v for c in containers for v in c.get("env", ()) if "valueFrom" in v]
    return {volume["secret"]["secretName"] for volume in spec["volumes"] if "secret" in volume} | {
        variable["valueFrom"]["secretKeyRef"]["name"] for variable in variables
    }


@pytest.mark.parametrize("args", [local(), elsewhere(), with_grafana()], ids=["local", "elsewhere", "grafana"])
def test_no_rule_is_broken_and_no_identity_is_there_twice(args: Any) -> None:  # noqa: ANN401  # arguments of recovery
    found = list(manifests(args).values())
    assert violations(found) == []
    names = [identity(manifest) for manifest in found]
    assert len(names) == len(set(names))


def test_exception_for_its_jobs_lets_nothing_else_pass() -> None:
    (door,) = [exception for exception in EXCEPTIONS if exception.kind == "CronJob"]
    assert (door.rule, door.complaint) == ("has_probes", "container recovery has no readinessProbe")


@pytest.mark.parametrize(
    ("command", "words"),
    [("create", ["create", "--mode", "online"]), ("verify", ["verify", "--latest"]), ("prune", ["prune"])],
)
def test_program_takes_the_command_line(command: str, words: list[str]) -> None:
    (container,) = pod(command)["containers"]
    assert container["args"] == ["--config", "/etc/recovery/config.json", *words]
    assert parse(container["args"]).word == command


@pytest.mark.parametrize(("command", "namespace"), JOBS.items())
def test_runs_do_not_overlap_and_one_that_hangs_ends(command: str, namespace: str) -> None:
    found = cron_job(command)
    assert (found["metadata"]["name"], found["metadata"]["namespace"]) == (f"recovery-{command}", namespace)
    spec, job = found["spec"], found["spec"]["jobTemplate"]["spec"]
    assert (spec["concurrencyPolicy"], spec["timeZone"]) == ("Forbid", "Etc/UTC")
    assert spec["startingDeadlineSeconds"] == 600
    assert (job["backoffLimit"], job["activeDeadlineSeconds"]) == (2, 86400)
    assert job["template"]["spec"]["restartPolicy"] == "OnFailure"


def test_schedules_are_those_of_the_settings() -> None:
    assert {command: cron_job(command)["spec"]["schedule"] for command in JOBS} == {
        "create": "15 */6 * * *",
        "verify": "45 */12 * * *",
        "prune": "40 4 * * *",
        "restore": "0 0 1 1 *",
    }
    assert [command for command in JOBS if cron_job(command)["spec"].get("suspend")] == ["restore"]


def test_creating_pod_can_write_and_read_points_and_not_delete_them() -> None:
    """It tries both accounts before each point, and asks for a chunk before it sends it."""
    accounts = {"recovery-writer", "recovery-reader", "recovery-pruner"}
    assert secrets_of("create") & accounts == accounts - {"recovery-pruner"}


@pytest.mark.parametrize("command", ["verify", "prune"])
def test_pods_of_its_own_namespace_hold_no_credential_of_a_live_store_and_no_token(command: str) -> None:
    assert not secrets_of(command) & LIVE_SECRETS
    assert pod(command)["automountServiceAccountToken"] is False
    assert "serviceAccountName" not in pod(command)


def test_restoring_pod_reads_points_and_writes_none() -> None:
    assert secrets_of("restore") & {"recovery-writer", "recovery-reader", "recovery-pruner"} == {"recovery-reader"}
    (container,) = pod("restore")["containers"]
    assert container["args"] == ["--config", "/etc/recovery/restore.json", "list"]
    assert parse(container["args"]).word == "list"


def test_nobody_but_the_one_that_prunes_can_delete() -> None:
    assert [command for command in JOBS if "recovery-pruner" in secrets_of(command)] == ["prune"]


def test_no_main_container_has_a_variable() -> None:
    assert [c for command in JOBS for c in pod(command)["containers"] if "env" in c] == []


def test_account_scales_workloads_of_swanlabs_namespace_and_reads_no_secret() -> None:
    found = manifests(local())
    assert {found[role]["metadata"]["namespace"] for role in ("service-account", "role", "role-binding")} == {
        "plumbline-swanlab"
    }
    allowed = {
        (group, resource, verb)
        for rule in found["role"]["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    assert allowed == {
        *(("apps", kind, verb) for kind in ("deployments", "statefulsets") for verb in ("get", "list", "patch")),
        *(("apps", f"{kind}/scale", verb) for kind in ("deployments", "statefulsets") for verb in ("get", "patch")),
        ("", "pods", "list"),
        ("autoscaling", "horizontalpodautoscalers", "list"),
    }
    assert pod("create")["serviceAccountName"] == "recovery-create"


def test_scratch_stores_start_first_and_answer_before_the_verification_begins() -> None:
    sidecars = pod("verify")["initContainers"]
    assert tuple(container["name"] for container in sidecars) == STORES
    assert {container["restartPolicy"] for container in sidecars} == {"Always"}
    assert all("startupProbe" in container for container in sidecars)


def test_scratch_stores_keep_their_data_as_long_as_the_pod_lives() -> None:
    volumes = {volume["name"]: volume for volume in pod("verify")["volumes"]}
    sizes = {
        name: volume["ephemeral"]["volumeClaimTemplate"]["spec"]["resources"]["requests"]["storage"]
        for name, volume in volumes.items()
        if "ephemeral" in volume
    }
    assert sizes == {"postgres-data": "1Gi", "clickhouse-data": "2Gi", "redis-data": "256Mi"}
    assert not [name for name, volume in volumes.items() if "persistentVolumeClaim" in volume]
    assert cron_job("verify")["spec"]["jobTemplate"]["spec"]["ttlSecondsAfterFinished"] == 900


def test_namespace_is_kept_restricted_and_bounded() -> None:
    found = manifests(local())
    meta = found["namespace"]["metadata"]
    assert meta["name"] == "plumbline-recovery"
    assert meta["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    assert meta["annotations"]["plumbline/retain"] == "true"
    hard = found["quota"]["spec"]["hard"]
    # Two verifications of 1Gi, 2Gi and 256Mi, and the 4Gi of the store.
    assert (hard["requests.storage"], hard["persistentvolumeclaims"]) == (f"{2 * (1024 + 2048 + 256) + 4096}Mi", "7")
    # Twice 512Mi, 2Gi, 256Mi, 128Mi and 1Gi; three pods of 1Gi; the store during an update, twice 1Gi and 128Mi.
    assert hard["limits.memory"] == f"{2 * (512 + 2048 + 256 + 128 + 1024) + 3 * 1024 + 2 * (1024 + 128)}Mi"
    assert hard["pods"] == "5"


def test_nothing_reaches_its_pods_but_the_store_by_s3() -> None:
    found = manifests(local())
    assert found["network-default-deny"]["metadata"]["namespace"] == "plumbline-recovery"
    assert found["network-default-deny"]["spec"] == {"podSelector": {}, "policyTypes": ["Ingress"]}
    policies = [m for m in found.values() if m["kind"] == "NetworkPolicy"]
    here = [m for m in policies if m["metadata"]["namespace"] == "plumbline-recovery"]
    assert sorted(m["metadata"]["name"] for m in here) == ["default-deny-ingress", "recovery-store"]
    (rule,) = found["store-network-policy"]["spec"]["ingress"]
    assert rule["ports"] == [{"port": 8333, "protocol": "TCP"}]
    assert rule["from"] == [
        {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "plumbline-swanlab"}},
            "podSelector": {
                "matchLabels": {
                    "app.kubernetes.io/name": f"recovery-{command}",
                    "app.kubernetes.io/instance": "plumbline",
                }
            },
        }
        for command in ("create", "restore")
    ] + [{"podSelector": {}}]


def test_creating_pods_alone_are_let_in_to_what_they_read() -> None:
    found = manifests(local())
    labels = [
        cron_job(command)["spec"]["jobTemplate"]["spec"]["template"]["metadata"]["labels"]
        for command in ("create", "restore")
    ]
    opened = {}
    for role in ("network-stores", "network-buffer", "network-alertmanager"):
        (rule,) = found[role]["spec"]["ingress"]
        for source, own in zip(rule["from"], labels, strict=True):
            assert source["podSelector"]["matchLabels"].items() <= own.items()
        opened[found[role]["metadata"]["namespace"], role] = [port["port"] for port in rule["ports"]]
    assert opened == {
        ("plumbline-swanlab", "network-stores"): [5432, 6379, 8123, 9000],
        ("plumbline-swanlab", "network-buffer"): [9090],
        ("plumbline", "network-alertmanager"): [9093],
    }


def test_grafana_is_reached_by_pods_beside_the_live_stores_alone() -> None:
    policy = manifests(with_grafana())["network-grafana"]
    assert policy["metadata"]["namespace"] == "plumbline"
    assert policy["spec"]["podSelector"]["matchLabels"] == grafana.selector("plumbline")
    (rule,) = policy["spec"]["ingress"]
    assert [port["port"] for port in rule["ports"]] == [3000]
    assert rule["from"] == manifests(local())["network-alertmanager"]["spec"]["ingress"][0]["from"]


def test_scratch_grafana_is_empty_and_hidden_and_its_room_is_in_the_quota() -> None:
    found = manifests(with_grafana())
    spec = found["cron-job-verify"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = [one for one in spec["initContainers"] if one["name"] == "grafana"]
    env = {one["name"]: one for one in container["env"]}
    assert env["GF_SECURITY_ADMIN_USER"]["value"] == "admin"
    assert env["GF_SECURITY_ADMIN_PASSWORD"]["valueFrom"]["secretKeyRef"] == {
        "name": "recovery-scratch",
        "key": "password",
    }
    assert (env["GF_SERVER_HTTP_ADDR"]["value"], env["GF_SERVER_HTTP_PORT"]["value"]) == ("127.0.0.1", "3000")
    assert container["startupProbe"]["exec"]["command"][-1] == "http://127.0.0.1:3000/api/health"
    assert container["securityContext"]["runAsUser"] == 472
    assert {mount["mountPath"] for mount in container["volumeMounts"]} == {"/var/lib/grafana", "/tmp"}  # noqa: S108  # of the pod
    secrets = {volume["secret"]["secretName"] for volume in spec["volumes"] if "secret" in volume}
    assert not [name for name in secrets if "grafana" in name], "no credential of the live one"
    more = {
        name: int(args_["quota"]["spec"]["hard"]["limits.memory"].removesuffix("Mi"))
        for name, args_ in (("with", found), ("without", manifests(local())))
    }
    assert more["with"] - more["without"] == 2 * 512


@pytest.mark.parametrize(
    ("generation", "secret", "there"),
    [(1, None, True), (3, None, True), (1, {"name": "grafana-login", "key": "password"}, False)],
)
def test_a_derived_password_of_grafana_is_put_beside_the_pods_that_ask_it(
    generation: int, secret: dict[str, str] | None, *, there: bool
) -> None:
    args = with_grafana(admin={"generation": generation, "secret": secret})
    found = record(lambda: Recovery("recovery", args, pulumi.Output.secret(ROOT)))
    assert ("recovery-secret-grafana" in {resource.name for resource in found.resources}) == there
    if there:
        meta = found.named("recovery-secret-grafana").inputs["metadata"]
        assert (meta["namespace"], meta["name"]) == ("plumbline-swanlab", "recovery-grafana")
        derived = derive(ROOT, "grafana-admin", generation)
        assert plain(found, "recovery-secret-grafana") == {"password": derived}, "the one that Grafana was given"


def test_cluster_without_policies_gets_none() -> None:
    args = replace(elsewhere(), network_policies=False)
    assert not [role for role, m in manifests(args).items() if m["kind"] == "NetworkPolicy"]


def test_bucket_elsewhere_means_no_store_here() -> None:
    assert {m["kind"] for m in manifests(elsewhere()).values()} & {"StatefulSet", "PersistentVolumeClaim"} == set()


def deployed(*, own: bool = True) -> Recording:
    args = local() if own else elsewhere()
    return record(lambda: Recovery("recovery", args, pulumi.Output.secret(ROOT)))


def test_points_are_due_behind_everything_that_they_need() -> None:
    found = deployed()
    names = {resource.name for resource in found.resources} - {"recovery"}
    jobs = {f"recovery-cron-job-{command}" for command in JOBS}
    for name in jobs:
        assert set(found.named(name).depends_on) == names - jobs
    assert found.named("recovery-namespace").retained
    assert found.named("recovery-store-data").retained


def plain(found: Recording, name: str) -> dict[str, str]:
    values: dict[str, Any] = found.named(name).inputs["stringData"]
    values = values.get("value", values)
    return {key: value["value"] if isinstance(value, dict) else value for key, value in values.items()}


def test_secrets_are_derived_and_each_is_where_it_is_mounted() -> None:
    found = deployed()
    secrets = [r for r in found.resources if r.type.endswith(":Secret")]
    there = {(r.inputs["metadata"]["namespace"], r.inputs["metadata"]["name"]) for r in secrets}
    assert there == {
        ("plumbline-swanlab", "recovery-signing"),
        ("plumbline-swanlab", "recovery-writer"),
        ("plumbline-swanlab", "recovery-reader"),
        *(
            ("plumbline-recovery", f"recovery-{name}")
            for name in ("signing", "scratch", "writer", "reader", "pruner", "store-admin", "store-identities")
        ),
    }
    for command, namespace in JOBS.items():
        assert {(namespace, name) for name in secrets_of(command) - LIVE_SECRETS} <= there


def test_accounts_have_keys_of_their_own_and_none_is_one_of_the_first_store() -> None:
    found = deployed()
    keys = {name: plain(found, f"recovery-secret-{name}") for name in ("writer", "reader", "pruner", "store-admin")}
    assert keys["writer"] == {
        "accessKey": "recovery-writer",
        "secretKey": derive(ROOT, "recovery-store-recovery-writer", 1),
    }
    values = {entry["secretKey"] for entry in keys.values()}
    assert len(values) == 4
    assert derive(ROOT, "object-store-admin", 1) not in values
    assert plain(found, "recovery-secret-writer") == plain(found, "recovery-secret-writer-create")
    assert plain(found, "recovery-secret-signing") == plain(found, "recovery-secret-signing-create")
    assert plain(found, "recovery-secret-signing") == {"key": derive(ROOT, "recovery-signing", 1)}


def test_accounts_of_somebody_elses_bucket_are_not_made() -> None:
    found = deployed(own=False)
    names = {r.inputs["metadata"]["name"] for r in found.resources if r.type.endswith(":Secret")}
    assert names == {"recovery-signing", "recovery-scratch"}
