"""Objects around the release: who may reach whom, what training pods are told, and how a password is rotated."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from components.swanlab.args import Environment
from components.swanlab.manifests import manifests
from components.swanlab.rotation import SCRIPT
from tests.offline.components.swanlab.examples import elsewhere, local, whole

if TYPE_CHECKING:
    from pathlib import Path

GATEWAY = {"app.kubernetes.io/instance": "swanlab-self-hosted", "app.kubernetes.io/service": "gateway"}
CHART = {"app.kubernetes.io/instance": "swanlab-self-hosted"}


def policies(found: dict[str, Any]) -> dict[str, Any]:
    return {m["metadata"]["name"]: m["spec"] for m in found.values() if m["kind"] == "NetworkPolicy"}


def opened(spec: dict[str, Any]) -> set[int | str]:
    return {port["port"] for rule in spec["ingress"] for port in rule.get("ports", ())}


def test_nothing_is_reached_unless_a_policy_says_so() -> None:
    assert policies(manifests(local()))["default-deny-ingress"] == {"podSelector": {}, "policyTypes": ["Ingress"]}


def test_everybody_reaches_the_gateway_and_only_its_public_port() -> None:
    spec = policies(manifests(local()))["swanlab-gateway"]
    assert spec["podSelector"] == {"matchLabels": GATEWAY}
    assert "from" not in spec["ingress"][0]
    assert opened(spec) == {80, "web"}


def test_no_other_policy_lets_everybody_in() -> None:
    found = policies(manifests(whole()))
    closed = {name: spec for name, spec in found.items() if name not in ("swanlab-gateway", "default-deny-ingress")}
    assert len(closed) == 10
    assert all(rule["from"] for spec in closed.values() for rule in spec["ingress"])


def test_pods_of_the_chart_reach_each_other_and_nobody_else_does() -> None:
    spec = policies(manifests(local()))["swanlab-internal"]
    assert spec["podSelector"] == {"matchLabels": CHART}
    assert spec["ingress"] == [{"from": [{"podSelector": {"matchLabels": CHART}}]}]


def test_job_that_makes_buckets_reaches_the_charts_own_object_store() -> None:
    spec = policies(manifests(whole()))["swanlab-s3"]
    assert spec["podSelector"]["matchLabels"]["app.kubernetes.io/service"] == "s3"
    assert (spec["ingress"][0]["from"], opened(spec)) == ([{"podSelector": {}}], {9000})
    assert "swanlab-s3" not in policies(manifests(local()))


def test_metrics_are_open_to_the_namespace_of_prometheus_alone() -> None:
    found = policies(manifests(replace(local(), scraped_from="team-monitoring")))
    ports = {name: opened(spec) for name, spec in found.items() if name.startswith("swanlab-metrics-")}
    assert ports["swanlab-metrics-vector"] == {9090}
    assert ports["swanlab-metrics-house"] == {3000}
    source = found["swanlab-metrics-vector"]["ingress"][0]["from"]
    assert source == [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "team-monitoring"}}}]


def test_gate_reaches_what_it_asks() -> None:
    spec = policies(manifests(local()))["swanlab-gate"]
    assert spec["ingress"][0]["from"] == [{"podSelector": {"matchLabels": {"app.kubernetes.io/name": "swanlab-gate"}}}]
    assert {80, 3000, 8686, 5432, 6379, 8123, 9000, 8081} <= opened(spec)


def test_rotation_reaches_postgresql_alone() -> None:
    spec = policies(manifests(whole()))["swanlab-postgres-rotation"]
    assert spec["podSelector"]["matchLabels"]["app.kubernetes.io/service"] == "postgres"
    job = manifests(whole())["postgres-rotation"]
    wanted = spec["ingress"][0]["from"][0]["podSelector"]["matchLabels"]
    assert wanted.items() <= job["spec"]["template"]["metadata"]["labels"].items()
    assert opened(spec) == {5432}


def test_cluster_without_policies_gets_none() -> None:
    assert policies(manifests(replace(local(), network_policies=False))) == {}


def test_namespace_refuses_privileged_pods_and_warns_of_more() -> None:
    found = manifests(local())["namespace"]["metadata"]
    levels = {k.partition("/")[2]: v for k, v in found["labels"].items() if k.startswith("pod-security")}
    assert levels == {"enforce": "baseline", "audit": "restricted", "warn": "restricted"}


def test_claims_are_those_that_the_chart_is_told_and_its_stateful_set_looks_for() -> None:
    found = [m for m in manifests(whole()).values() if m["kind"] == "PersistentVolumeClaim"]
    sizes = {m["metadata"]["name"]: m["spec"]["resources"]["requests"]["storage"] for m in found}
    assert sizes == {
        "swanlab-postgres-pvc": "100Gi",
        "swanlab-redis-pvc": "50Gi",
        "swanlab-clickhouse-pvc": "1000Gi",
        "swanlab-minio-pvc": "1000Gi",
        "data-swanlab-self-hosted-vector-0": "60Gi",
        "data-swanlab-self-hosted-vector-1": "60Gi",
    }
    assert {m["metadata"]["labels"]["plumbline/stack"] for m in found} == {"prod"}
    assert {m["spec"]["storageClassName"] for m in found} == {"fast"}


def test_claim_says_which_password_its_data_knows() -> None:
    found = manifests(whole())
    known = {"postgres": "2", "clickhouse": "3", "s3": "1"}
    for store, generation in known.items():
        assert found[f"claim-{store}"]["metadata"]["annotations"]["plumbline/generation"] == generation
    assert "plumbline/generation" not in found["claim-redis"]["metadata"]["annotations"]


def test_place_of_each_store_is_kept_beside_the_data() -> None:
    found = manifests(elsewhere())["places"]
    assert found["metadata"]["annotations"] == {
        "plumbline/retain": "true",
        "pulumi.com/patchFieldManager": "plumbline",
        "pulumi.com/patchForce": "true",
    }
    assert found["data"] == {
        "postgres": "pg.example.org:5432/app",
        "redis": "redis.example.org:6379/2",
        "clickhouse": "ch.example.org:8123/app",
        "s3": "s3.example.org:443/swanlab-private,swanlab-public",
    }
    assert manifests(local())["places"]["data"] == {
        "postgres": "swanlab-postgres-pvc",
        "redis": "swanlab-redis-pvc",
        "clickhouse": "swanlab-clickhouse-pvc",
        "s3": "object-store.plumbline.svc:8333/swanlab-private,swanlab-public",
    }


def test_training_pods_are_told_where_and_not_the_key() -> None:
    wanted = Environment(namespace="training", project="llm", workspace="team", log_dir="/mnt/logs")
    found = manifests(replace(whole(), environment=(wanted,)))["environment-training"]
    assert found["metadata"]["namespace"] == "training"
    assert found["metadata"]["name"] == "swanlab-environment"
    assert found["data"] == {
        "SWANLAB_API_HOST": "http://swanlab-self-hosted.plumbline-swanlab.svc",
        "SWANLAB_WEB_HOST": "https://swanlab.example.org",
        "NO_PROXY": "swanlab-self-hosted.plumbline-swanlab.svc,.svc,.cluster.local",
        "SWANLAB_PROJ_NAME": "llm",
        "SWANLAB_PROJECT": "llm",
        "SWANLAB_WORKSPACE": "team",
        "SWANLAB_LOG_DIR": "/mnt/logs",
    }


def test_job_takes_passwords_from_secrets_alone() -> None:
    container = manifests(whole())["postgres-rotation"]["spec"]["template"]["spec"]["containers"][0]
    refs = {v["name"]: v["valueFrom"]["secretKeyRef"] for v in container["env"] if "valueFrom" in v}
    assert refs == {
        "PGUSER": {"name": "swanlab-postgres", "key": "username"},
        "PGPASSWORD": {"name": "swanlab-postgres", "key": "password"},
        "PREVIOUS": {"name": "swanlab-postgres-rotation", "key": "previous"},
    }
    assert container["image"] == "registry.example.org/swanlab-postgres:1.0"


def test_postgresql_elsewhere_is_not_rotated_by_us() -> None:
    assert not {role for role in manifests(elsewhere()) if "rotation" in role}


PSQL = """\
#!/bin/sh
statements=$(cat)
known=$(cat "$STATE/known")
if [ "$PGPASSWORD" != "$known" ]; then
  echo "password authentication failed" >&2
  exit 2
fi
case "$statements" in
  *ALTER*) printf %s "$NEW" >"$STATE/known"; printf '%s' "$statements" >"$STATE/statements" ;;
esac
"""


def rotate(directory: Path, known: str, service: str = "10.96.0.9") -> subprocess.CompletedProcess[str]:
    """Run the script against a stand-in for psql that lets in who has the password in the file `known`."""
    programs = {"psql": PSQL, "pg_isready": "#!/bin/sh\nexit 0\n"}
    for name, text in programs.items():
        (directory / name).write_text(text)
        (directory / name).chmod(0o755)
    (directory / "known").write_text(known)
    environment = {
        "PATH": f"{directory}:{os.environ['PATH']}",
        "STATE": str(directory),
        "PGPASSWORD": "new-canary",
        "PREVIOUS": "old-canary older-canary oldest-canary",
        "SWANLAB_SELF_HOSTED_POSTGRES_SERVICE_HOST": service,
    }
    return subprocess.run(
        ["sh", "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=30, check=False, input=""
    )


@pytest.mark.parametrize("known", ["old-canary", "older-canary", "oldest-canary"])
def test_old_password_is_replaced_by_the_new(tmp_path: Path, known: str) -> None:
    """Not only the newest of the old: Jobs of generations between may have failed."""
    done = rotate(tmp_path, known)
    assert (done.returncode, (tmp_path / "known").read_text()) == (0, "new-canary")
    assert "canary" not in (tmp_path / "statements").read_text() + done.stdout + done.stderr


def test_password_that_is_valid_already_is_left(tmp_path: Path) -> None:
    done = rotate(tmp_path, "new-canary")
    assert (done.returncode, done.stdout) == (0, "the new password is valid already\n")
    assert not (tmp_path / "statements").exists()


def test_password_that_is_neither_fails_the_job(tmp_path: Path) -> None:
    done = rotate(tmp_path, "another")
    assert done.returncode == 1
    assert "its data knows another root secret" in done.stderr
    assert (tmp_path / "known").read_text() == "another"


def test_nothing_is_rotated_where_no_postgresql_is_installed(tmp_path: Path) -> None:
    done = rotate(tmp_path, "another", service="")
    assert (done.returncode, done.stdout) == (
        0,
        "no PostgreSQL is installed in this namespace yet: nothing to rotate\n",
    )


@pytest.mark.parametrize("word", ["log_statement TO 'none'", "VERBOSITY terse", "%L"])
def test_script_keeps_the_password_out_of_logs_and_quotes_it(word: str) -> None:
    assert word in SCRIPT
