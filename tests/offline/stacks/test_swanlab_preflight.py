"""What is asked of the cluster before SwanLab is changed, and how each wrong answer is refused."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from components.errors import DeployError
from components.swanlab.args import Bucket, Environment, OwnStore
from components.swanlab.manifests import places
from components.swanlab.names import place
from stacks.cluster import ForbiddenError, LiveClaim
from stacks.swanlab_endpoints import Answers
from stacks.swanlab_preflight import check_swanlab
from tests.offline.components.swanlab.examples import elsewhere, local, whole

if TYPE_CHECKING:
    from datetime import datetime

    from components.swanlab.args import SwanlabArgs

HERE = "/api/v1/namespaces/plumbline-swanlab"
LOGINS = {
    "pg-login": {
        "username": "u",
        "password": "canary",
        "primaryUrl": "postgresql://u:canary@pg.example.org:5432/app",
        "replicaUrl": "postgresql://u:canary@pg.example.org:5432/app",
    },
    "redis-login": {"url": "redis://:canary@redis.example.org:6379/2"},
    "ch-login": {"username": "u", "password": "canary"},
    "s3-login": {"accessKey": "u", "secretKey": "canary"},
    "registry-login": {".dockerconfigjson": "{}"},
}


ALL_ANSWER = Answers(faults=(), unasked=())


class Cluster:
    """A cluster that holds what a test puts there."""

    def __init__(self) -> None:
        self.lists: dict[str, list[dict[str, Any]]] = {}
        self.secrets: dict[str, dict[str, str]] = {}
        self.live: dict[str, LiveClaim] = {}
        self.namespaces = {"kube-system", "training", "plumbline-sandbox"}
        self.marked: dict[str, tuple[str, ...]] = {}
        self.hidden = False
        self.releases: list[dict[str, Any]] = []

    def namespace_uid(self, name: str) -> str:
        if name not in self.namespaces:
            raise DeployError(f"no namespace {name}")
        return "uid"

    def claim(self, namespace: str, name: str) -> LiveClaim | None:
        assert namespace == "plumbline-swanlab"
        return self.live.get(name)

    def marked_claims(self, label: dict[str, str], name: str) -> tuple[str, ...]:
        assert label.keys() == {"plumbline/stack"}
        return self.marked.get(name, ())

    def secret_keys(self, namespace: str, name: str) -> frozenset[str] | None:
        assert namespace == "plumbline-swanlab"
        return frozenset(self.secrets[name]) if name in self.secrets else None

    def listing(self, path: str) -> list[dict[str, Any]]:
        if "/secrets?labelSelector=" in path:
            if self.hidden:
                raise ForbiddenError("refused")
            return self.releases
        if "/secrets?" in path:
            if self.hidden:
                raise ForbiddenError("refused")
            name = path.rpartition("%3D")[2]
            data = {key: base64.b64encode(text.encode()).decode() for key, text in self.secrets.get(name, {}).items()}
            return [{"metadata": {"name": name}, "data": data}] if name in self.secrets else []
        return self.lists.get(path.partition("?")[0], [])

    def schemas(self, version: str) -> dict[str, dict[str, Any]] | None:
        raise AssertionError(f"asked for schemas of {version}")

    def clock(self) -> datetime | None:
        raise AssertionError("asked what time it is")

    def with_claim(
        self, name: str, stack: str = "prod", generation: int | None = None, phase: str = "Bound"
    ) -> Cluster:
        annotations = {} if generation is None else {"plumbline/generation": str(generation)}
        meta = {"name": name, "labels": {"plumbline/stack": stack}, "annotations": annotations}
        self.lists.setdefault(f"{HERE}/persistentvolumeclaims", []).append(
            {"metadata": meta, "status": {"phase": phase}}
        )
        return self

    def with_places(self, args: SwanlabArgs) -> Cluster:
        """As this deployment left it, over whatever `pulumi destroy` took since."""
        self.lists[f"{HERE}/configmaps"] = [places(args)]
        return self

    def with_buffer(self, size: str, storage_class: str | None) -> Cluster:
        spec: dict[str, Any] = {"resources": {"requests": {"storage": size}}}
        spec |= {"storageClassName": storage_class} if storage_class else {}
        found = {
            "metadata": {"name": "swanlab-self-hosted-vector"},
            "spec": {"volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": spec}]},
        }
        self.lists["/apis/apps/v1/namespaces/plumbline-swanlab/statefulsets"] = [found]
        return self

    def with_release(self, status: str) -> Cluster:
        name, labels = "sh.helm.release.v1.swanlab-self-hosted.v2", {"owner": "helm", "status": status}
        self.releases = [{"metadata": {"name": name, "labels": labels}}]
        return self

    def with_postgres(self, ready: int) -> Cluster:
        path = "/apis/apps/v1/namespaces/plumbline-swanlab/deployments"
        found = {"metadata": {"name": "swanlab-self-hosted-postgres"}, "status": {"readyReplicas": ready}}
        self.lists[path] = [found]
        return self


def told(cluster: Cluster, args: SwanlabArgs, answers: Answers = ALL_ANSWER) -> list[str]:
    """Warnings; raises DeployError like the check."""
    warnings: list[str] = []
    check_swanlab(cluster, args, warnings.append, lambda _: answers)
    return warnings


def refused(cluster: Cluster, args: SwanlabArgs, answers: Answers = ALL_ANSWER) -> list[str]:
    with pytest.raises(DeployError) as caught:
        told(cluster, args, answers)
    assert "canary" not in str(caught.value)
    first, *faults = str(caught.value).splitlines()
    assert first == "SwanLab cannot be deployed like this; nothing was changed:"
    return faults


def with_logins() -> Cluster:
    found = Cluster()
    found.secrets = {name: dict(content) for name, content in LOGINS.items()}
    return found


def of_generation(number: int) -> SwanlabArgs:
    return replace(whole(), postgres=OwnStore(volume="100Gi", generation=number))


def test_fresh_cluster_is_accepted() -> None:
    assert told(Cluster(), local()) == []
    assert told(with_logins(), whole()) == []


def test_all_stores_elsewhere_are_accepted_with_their_secrets() -> None:
    assert told(with_logins(), elsewhere()) == []


def test_second_run_over_its_own_claims_is_accepted() -> None:
    cluster = (
        with_logins().with_claim("swanlab-postgres-pvc", generation=2).with_claim("swanlab-clickhouse-pvc", "prod", 3)
    )
    assert told(cluster.with_places(whole()).with_buffer("60Gi", "fast").with_release("deployed"), whole()) == []
    assert told(with_logins().with_places(elsewhere()), elsewhere()) == []


@pytest.mark.parametrize(
    ("store", "claim", "command"),
    [
        ("postgres", "swanlab-postgres-pvc", "pg_dump"),
        ("redis", "swanlab-redis-pvc", "redis-cli"),
        ("clickhouse", "swanlab-clickhouse-pvc", "BACKUP DATABASE app"),
        ("s3", "swanlab-minio-pvc", "rclone sync"),
    ],
)
def test_change_to_external_over_data_is_refused_with_how_to_move_it(store: str, claim: str, command: str) -> None:
    faults = refused(with_logins().with_claim(claim), elsewhere())
    assert len(faults) == 1
    assert f"plumbline:swanlab.stores.{store}.mode is `external`" in faults[0]
    assert command in faults[0]
    assert f"label pvc {claim} plumbline/stack-" in faults[0]


def test_claim_without_data_or_of_another_stack_is_not_in_the_way() -> None:
    for phase in ("Pending", "Lost"):
        assert told(with_logins().with_claim("swanlab-postgres-pvc", phase=phase), elsewhere()) == []
    assert told(with_logins().with_claim("swanlab-postgres-pvc", stack="staging"), elsewhere()) == []


@pytest.mark.parametrize(
    ("store", "old", "command"),
    [
        ("postgres", "pg.example.org:5432/app", "pg_restore"),
        ("clickhouse", "ch.example.org:8123/app", "RESTORE DATABASE app"),
    ],
)
def test_change_to_chart_over_data_elsewhere_is_refused(store: str, old: str, command: str) -> None:
    """The claims are absent, as they are after a destroy: where the data is outlives the stack."""
    before = replace(whole(), **{store: getattr(elsewhere(), store)})
    faults = refused(with_logins().with_places(before), whole())
    assert len(faults) == 1
    setting = f"plumbline:swanlab.stores.{store}"
    assert f"{setting}.mode is `chart`, and the stack is deployed with `external` at {old}" in faults[0]
    assert command in faults[0]
    assert faults[0].endswith(f"pulumi config set --path '{setting}.moved_from' '{old}'")
    assert told(with_logins().with_places(before), replace(whole(), moved_from={store: old})) == []


def test_change_to_chart_is_accepted_once_the_data_is_on_the_claim() -> None:
    before = replace(whole(), clickhouse=elsewhere().clickhouse)
    cluster = with_logins().with_places(before).with_claim("swanlab-clickhouse-pvc", generation=3)
    assert told(cluster, whole()) == []


def changed(store: str, **keys: Any) -> SwanlabArgs:  # noqa: ANN401  # any field of the store
    return replace(elsewhere(), **{store: replace(getattr(elsewhere(), store), **keys)})


def bucket(part: str, **keys: Any) -> Bucket:  # noqa: ANN401  # any field of a bucket
    found: Bucket = replace(getattr(elsewhere().s3, part), **keys)
    return found


@pytest.mark.parametrize(
    ("store", "before"),
    [
        ("postgres", changed("postgres", host="old.example.org")),
        ("postgres", changed("postgres", port=5433)),
        ("postgres", changed("postgres", database="old")),
        ("redis", changed("redis", database=3)),
        ("clickhouse", changed("clickhouse", host="old.example.org")),
        ("s3", changed("s3", private=bucket("private", endpoint="old.example.org"))),
        ("s3", changed("s3", private=bucket("private", bucket="old"))),
        ("s3", changed("s3", public=bucket("public", bucket="old"))),
        ("s3", replace(elsewhere(), s3=local().s3)),
    ],
)
def test_store_at_another_place_is_refused_until_the_move_is_acknowledged(store: str, before: SwanlabArgs) -> None:
    old, new = (place(store, args.stores[store]) for args in (before, elsewhere()))
    cluster = with_logins().with_places(before)
    faults = refused(cluster, elsewhere())
    assert len(faults) == 1
    assert f"plumbline:swanlab.stores.{store} is at {new}, and the stack is deployed with {old}" in faults[0]
    assert faults[0].endswith(f"pulumi config set --path 'plumbline:swanlab.stores.{store}.moved_from' '{old}'")
    assert told(cluster, replace(elsewhere(), moved_from={store: old})) == []
    assert refused(cluster, replace(elsewhere(), moved_from={store: "elsewhere:1/app"})) == faults


def test_other_login_or_public_address_of_the_same_store_is_no_move() -> None:
    before = changed("s3", public=bucket("public", endpoint="old.example.org", domain="https://old.example.org"))
    assert told(with_logins().with_places(before), elsewhere()) == []
    with_other_login = changed("postgres", **{"secret": "old-login"})
    assert told(with_logins().with_places(with_other_login), elsewhere()) == []


def test_claim_that_would_shrink_is_refused() -> None:
    cluster = with_logins()
    cluster.live["data-swanlab-self-hosted-vector-1"] = LiveClaim(size="80Gi", storage_class="fast", expandable=True)
    assert "a claim cannot shrink" in refused(cluster, whole())[0]


@pytest.mark.parametrize(
    ("size", "storage_class", "shown"),
    [
        ("40Gi", "fast", "40Gi of StorageClass fast"),
        ("60Gi", "slow", "60Gi of StorageClass slow"),
        ("60Gi", None, "60Gi of the default StorageClass"),
    ],
)
def test_template_that_kubernetes_would_not_change_is_refused(size: str, storage_class: str | None, shown: str) -> None:
    faults = refused(with_logins().with_buffer(size, storage_class), whole())
    assert len(faults) == 1
    assert (
        "plumbline:swanlab.buffer.volume is 60Gi of StorageClass fast, and StatefulSet plumbline-swanlab/" in faults[0]
    )
    assert f"makes claims of {shown}, which it cannot change" in faults[0]
    assert faults[0].endswith("delete statefulset swanlab-self-hosted-vector --cascade=orphan")
    assert told(with_logins().with_buffer("61440Mi", "fast"), whole()) == []


@pytest.mark.parametrize("status", ["pending-install", "pending-upgrade", "pending-rollback"])
def test_release_that_a_killed_deployment_left_is_refused(status: str) -> None:
    faults = refused(with_logins().with_release(status), whole())
    assert len(faults) == 1
    assert f"release plumbline-swanlab/swanlab-self-hosted is {status}" in faults[0]
    command = "kubectl -n plumbline-swanlab delete secret sh.helm.release.v1.swanlab-self-hosted.v2"
    assert faults[0].endswith(command)
    assert told(with_logins().with_release("failed"), whole()) == []


def test_data_in_another_namespace_is_refused() -> None:
    cluster = with_logins()
    cluster.marked["swanlab-clickhouse-pvc"] = ("old-swanlab",)
    faults = refused(cluster, whole())
    assert "has data in claim old-swanlab/swanlab-clickhouse-pvc" in faults[0]


@pytest.mark.parametrize(("known", "wanted", "fix"), [(1, 3, "2"), (3, 1, "3"), (None, 4, "2")])
def test_generation_that_skips_or_falls_is_refused(known: int | None, wanted: int, fix: str) -> None:
    cluster = with_logins().with_claim("swanlab-postgres-pvc", generation=known).with_postgres(1)
    faults = refused(cluster, of_generation(wanted))
    assert len(faults) == 1
    assert faults[0].endswith(f"fix: pulumi config set --path 'plumbline:swanlab.stores.postgres.generation' {fix}")


@pytest.mark.parametrize(
    ("store", "claim", "known"), [("clickhouse", "swanlab-clickhouse-pvc", 4), ("s3", "swanlab-minio-pvc", 2)]
)
def test_generation_of_every_store_only_rises(store: str, claim: str, known: int) -> None:
    """Of `whole` ClickHouse has generation 3 and S3 has 1."""
    faults = refused(with_logins().with_claim(claim, generation=known), whole())
    assert len(faults) == 1
    assert "a lower one brings back a password that was replaced" in faults[0]
    assert faults[0].endswith(f"pulumi config set --path 'plumbline:swanlab.stores.{store}.generation' {known}")
    assert told(with_logins().with_claim(claim, generation=1), whole()) == []


def test_next_generation_needs_a_postgresql_that_runs() -> None:
    cluster = with_logins().with_claim("swanlab-postgres-pvc", generation=2)
    assert "no PostgreSQL runs that could be told" in refused(cluster, of_generation(3))[0]
    assert "no PostgreSQL runs that could be told" in refused(cluster.with_postgres(0), of_generation(3))[0]
    assert told(cluster.with_postgres(1), of_generation(3)) == []


def test_same_generation_needs_no_postgresql_that_runs() -> None:
    assert told(with_logins().with_claim("swanlab-postgres-pvc", generation=3), of_generation(3)) == []


def test_fewer_buffers_than_hold_points_are_refused() -> None:
    cluster = with_logins().with_claim("data-swanlab-self-hosted-vector-2")
    faults = refused(cluster, whole())
    assert "buffer.replicas is 2, and data-swanlab-self-hosted-vector-2 may hold points" in faults[0]
    assert "accepted: 3" in faults[0]
    assert told(with_logins().with_claim("data-swanlab-self-hosted-vector-1"), whole()) == []


def test_secret_that_is_missing_or_incomplete_is_refused_with_its_keys() -> None:
    cluster = with_logins()
    del cluster.secrets["pg-login"], cluster.secrets["s3-login"]["secretKey"], cluster.secrets["registry-login"]
    faults = refused(cluster, elsewhere())
    assert len(faults) == 3
    assert "Secret plumbline-swanlab/pg-login is missing" in faults[0]
    assert "--from-file=replicaUrl=<file>" in faults[0]
    assert "Secret plumbline-swanlab/s3-login has no key secretKey" in faults[1]
    assert "create secret docker-registry registry-login" in faults[2]


def test_address_in_a_secret_must_be_that_of_the_settings() -> None:
    cluster = with_logins()
    cluster.secrets["pg-login"]["replicaUrl"] = "postgresql://u:canary@other.example.org:5432/app"
    cluster.secrets["redis-login"]["url"] = "redis://:canary@redis.example.org:6379/0"
    faults = refused(cluster, elsewhere())
    assert len(faults) == 2
    assert "host is `pg.example.org` in the settings and `other.example.org` in the Secret of postgres" in faults[0]
    assert "key replicaUrl of Secret plumbline-swanlab/pg-login" in faults[0]
    assert "database is `2` in the settings and `0` in the Secret of redis" in faults[1]


def test_address_in_a_secret_must_be_one() -> None:
    cluster = with_logins()
    for text in ("canary", "redis://redis.example.org:canary/2"):
        cluster.secrets["redis-login"]["url"] = text
        assert "key url of Secret plumbline-swanlab/redis-login is not an address" in refused(cluster, elsewhere())[0]


def test_secret_that_may_not_be_read_is_told_and_not_passed_over() -> None:
    cluster = with_logins()
    cluster.hidden = True
    warnings = told(cluster, elsewhere())
    assert len([line for line in warnings if "was not compared with the settings" in line]) == 3
    assert "Secrets of plumbline-swanlab may not be listed" in warnings[0]


def test_namespace_for_the_environment_must_be_there() -> None:
    wanted = (Environment(namespace="nowhere"), Environment(namespace="plumbline"), Environment(namespace="training"))
    faults = refused(with_logins(), replace(whole(), environment=wanted))
    assert len(faults) == 1
    assert "namespace nowhere, which plumbline:swanlab.environment_in names, is missing" in faults[0]


def test_answers_of_stores_elsewhere_are_faults_or_warnings() -> None:
    assert refused(with_logins(), elsewhere(), Answers(faults=("PostgreSQL x cannot be reached",), unasked=())) == [
        "- PostgreSQL x cannot be reached"
    ]
    assert told(with_logins(), elsewhere(), Answers(faults=(), unasked=("not asked",))) == ["not asked"]


def test_all_faults_are_told_at_once() -> None:
    cluster = Cluster().with_claim("swanlab-postgres-pvc")
    assert len(refused(cluster, elsewhere(), Answers(faults=("x",), unasked=()))) == 7
