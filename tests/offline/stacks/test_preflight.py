"""What is asked of the cluster before anything is changed, and how each wrong answer is refused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from components.errors import DeployError
from components.secrets import fingerprint
from stacks.claims import check_claim, check_namespace
from stacks.cluster import Access, LiveClaim
from stacks.identity import check_identity
from stacks.preflight import check_cluster, volumes
from stacks.settings import parse
from tests.offline.stacks.examples import (
    OTHER_UID,
    ROOT_SECRET,
    UID,
    as_pulumi_has_it,
    existing,
    settings,
    stack_file,
    write_images,
)

if TYPE_CHECKING:
    from datetime import datetime

    from tests.offline.stacks.api_server import Server

WHERE = Access(kubeconfig=Path("/k/config"), context="kind-kind")


LISTS = [
    *("list /apis/apps/v1/daemonsets", "list /api/v1/pods", "list /api/v1/nodes"),
    "list /apis/node.k8s.io/v1/runtimeclasses",
]


class Cluster:
    """A cluster with a uid and perhaps a claim, empty otherwise. Remembers what it was asked."""

    def __init__(self, uid: str = UID, claim: LiveClaim | None = None, marked: dict[str, str] | None = None) -> None:
        self.uid, self.live, self.marked, self.asked = uid, claim, marked or {}, list[str]()

    def namespace_uid(self, name: str) -> str:
        self.asked.append(f"namespace {name}")
        return self.uid

    def claim(self, namespace: str, name: str) -> LiveClaim | None:
        self.asked.append(f"claim {namespace}/{name}")
        return self.live

    def marked_claims(self, label: dict[str, str], name: str) -> tuple[str, ...]:
        stack = label["plumbline/stack"]
        self.asked.append(f"claims {name} of stack {stack}")
        return tuple(namespace for namespace, owner in self.marked.items() if owner == stack)

    def secret_keys(self, namespace: str, name: str) -> frozenset[str] | None:
        self.asked.append(f"secret {namespace}/{name}")
        return None

    def listing(self, path: str) -> list[dict[str, Any]]:
        self.asked.append(f"list {path}")
        return []

    def schemas(self, version: str) -> dict[str, dict[str, Any]] | None:
        self.asked.append(f"schemas {version}")
        return None

    def clock(self) -> datetime | None:
        self.asked.append("clock")
        return None


def claim(size: str, storage_class: str | None = "standard", *, expandable: bool | None = True) -> LiveClaim:
    return LiveClaim(size=size, storage_class=storage_class, expandable=expandable)


def refuse_claim(live: LiveClaim, size: str, storage_class: str | None = None) -> str:
    with pytest.raises(DeployError) as caught:
        check_claim(Cluster(claim=live), "plumbline", "prometheus-data", size, storage_class)
    return str(caught.value)


def asked_about(claim_name: str, stack: str) -> list[str]:
    return [f"claims {claim_name} of stack {stack}", f"claim plumbline/{claim_name}"]


def test_right_cluster_is_accepted_and_identified_first() -> None:
    """Stack kind has neither GPUs, nor an Alertmanager, nor a Secret: of those nobody is asked."""
    cluster = Cluster()
    check_cluster(settings("kind"), WHERE, cluster)
    assert cluster.asked == [
        "namespace kube-system",
        *asked_about("prometheus-data", "kind"),
        *asked_about("pushgateway-data", "kind"),
    ]


def test_stack_with_everything_is_asked_about_its_claims_swanlab_and_its_gpus(tmp_path: Path) -> None:
    cluster = Cluster()
    check_cluster(settings("local", write_images(tmp_path / "images.json")), WHERE, cluster)
    metrics = ("prometheus-data", "alertmanager-data", "pushgateway-data", "object-store-data")
    claims = (*metrics, "victoria-logs-data", "jaeger-data", "otel-gateway-queue-0")
    asked = [line for name in claims for line in asked_about(name, "local")]
    stores = ("swanlab-postgres-pvc", "swanlab-redis-pvc", "swanlab-clickhouse-pvc")
    lab = (*stores, "data-swanlab-self-hosted-vector-0")
    assert cluster.asked == [
        "namespace kube-system",
        *asked,
        "list /api/v1/namespaces/plumbline/persistentvolumeclaims",
        "list /api/v1/namespaces/plumbline-swanlab/persistentvolumeclaims",
        "list /api/v1/namespaces/plumbline-swanlab/persistentvolumeclaims",
        "list /api/v1/namespaces/plumbline-swanlab/secrets?labelSelector=owner%3Dhelm%2Cname%3Dswanlab-self-hosted"
        "%2Cstatus%20in%20%28pending-install%2Cpending-upgrade%2Cpending-rollback%29",
        *(f"claims {name} of stack local" for name in lab),
        "list /api/v1/namespaces/plumbline-swanlab/configmaps?fieldSelector=metadata.name%3Dswanlab-stores",
        *(f"claim plumbline-swanlab/{name}" for name in lab),
        "list /apis/apps/v1/namespaces/plumbline-swanlab/statefulsets",
        "claim plumbline-recovery/recovery-store-data",
        "list /api/v1/namespaces/plumbline-recovery/persistentvolumeclaims",
        *LISTS,
    ]


class Remembering(Cluster):
    """A cluster whose claims remember what their data was given."""

    def __init__(self, namespace: str, claim: str, **annotations: str) -> None:
        super().__init__()
        known = {f"plumbline/{key}": value for key, value in annotations.items()}
        meta = {"name": claim, "labels": {"plumbline/stack": "local"}, "annotations": known}
        path = f"/api/v1/namespaces/{namespace}/persistentvolumeclaims"
        self.lists: dict[str, list[dict[str, Any]]] = {path: [{"metadata": meta, "status": {"phase": "Bound"}}]}

    def listing(self, path: str) -> list[dict[str, Any]]:
        return self.lists.get(path, [])


@pytest.mark.parametrize(
    ("namespace", "claim"),
    [("plumbline", "object-store-data"), ("plumbline-swanlab", "swanlab-clickhouse-pvc")],
)
def test_another_root_secret_is_refused_before_anything_changes(tmp_path: Path, namespace: str, claim: str) -> None:
    wanted = settings("local", write_images(tmp_path / "images.json"))
    check_cluster(wanted, WHERE, Remembering(namespace, claim, root=fingerprint(ROOT_SECRET)))
    with pytest.raises(DeployError, match=f"is not the one that the data in {namespace} knows") as caught:
        check_cluster(wanted, WHERE, Remembering(namespace, claim, root=fingerprint("x" * 32)))
    assert "put it back from a copy" in str(caught.value)
    assert "canary" not in str(caught.value)


def test_lowered_generation_of_the_object_store_is_refused(tmp_path: Path) -> None:
    images = write_images(tmp_path / "images.json")
    cluster = Remembering("plumbline", "object-store-data", generation="3")
    with pytest.raises(DeployError, match="generation is 2, and claim plumbline/object-store-data was given 3"):
        check_cluster(settings("local", images, object_store={"generation": 2}), WHERE, cluster)
    for wanted in (3, 5):
        check_cluster(settings("local", images, object_store={"generation": wanted}), WHERE, cluster)


class WithMedia(Cluster):
    """A cluster in which this stack's media are on a claim of SwanLab's chart."""

    def listing(self, path: str) -> list[dict[str, Any]]:
        self.asked.append(f"list {path}")
        meta = {"name": "swanlab-minio-pvc", "labels": {"plumbline/stack": "local"}}
        return [{"metadata": meta, "status": {"phase": "Bound"}}] if path.endswith("persistentvolumeclaims") else []


def test_swanlab_that_would_leave_data_behind_is_refused_before_anything_else_is_asked(tmp_path: Path) -> None:
    cluster = WithMedia()
    with pytest.raises(DeployError, match="SwanLab cannot be deployed like this; nothing was changed") as caught:
        check_cluster(settings("local", write_images(tmp_path / "images.json")), WHERE, cluster)
    assert "claim plumbline-swanlab/swanlab-minio-pvc holds data of this stack" in str(caught.value)
    assert not set(LISTS) & set(cluster.asked)
    off = WithMedia()
    check_cluster(settings("local", swanlab={"mode": "off"}, recovery={"mode": "off"}), WHERE, off)
    assert not [line for line in off.asked if "swanlab" in line]


def test_store_of_swanlab_elsewhere_is_asked_whether_it_answers(server: Server) -> None:
    """A Redis is said to be where an HTTP server is."""
    host, _, port = server.url.removeprefix("http://").partition(":")
    redis = {"mode": "external", "host": host, "port": int(port), "secret": "redis-login"}
    found = settings("kind", swanlab={"mode": "managed", "stores": {"redis": redis}})
    with pytest.raises(DeployError) as caught:
        check_cluster(found, WHERE, Cluster())
    message = str(caught.value)
    assert f"Redis {host}:{port} (plumbline:swanlab.stores.redis) does not answer as a Redis does" in message
    assert "Secret plumbline-swanlab/redis-login is missing" in message


def test_secrets_are_looked_for_before_gpus() -> None:
    cluster = Cluster()
    with pytest.raises(DeployError, match="Secret plumbline/alert-receivers is missing"):
        check_cluster(settings("staging"), WHERE, cluster)
    names = ("alert-receivers", "grafana-login", "grafana-encryption")
    assert cluster.asked[-3:] == [f"secret plumbline/{name}" for name in names]


def test_operator_is_asked_last_and_only_of_a_stack_that_uses_one(tmp_path: Path) -> None:
    cluster = Cluster()
    with pytest.raises(DeployError, match="the cluster does not know"):
        check_cluster(existing("local", write_images(tmp_path / "images.json")), WHERE, cluster)
    assert cluster.asked[-len(LISTS) - 1 :] == [*LISTS, "schemas monitoring.coreos.com/v1"]
    assert "claim plumbline/prometheus-data" not in cluster.asked


def test_each_claim_is_as_large_as_its_own_setting() -> None:
    sizes = {"prometheus": "5Gi", "alertmanager": "3Gi", "object_store": "30Gi"}
    sizes |= {"logs": "60Gi", "traces": "20Gi"}
    queues = {"gateway": {"replicas": 2, "volume": "7Gi"}}
    wanted = settings("local", None, otel_collector=queues, **{name: {"volume": size} for name, size in sizes.items()})
    assert volumes(wanted) == {
        "prometheus-data": "5Gi",
        "alertmanager-data": "3Gi",
        "pushgateway-data": "256Mi",
        "object-store-data": "30Gi",
        "victoria-logs-data": "60Gi",
        "jaeger-data": "20Gi",
        "otel-gateway-queue-0": "7Gi",
        "otel-gateway-queue-1": "7Gi",
    }
    off = settings("kind", pushgateway={"mode": "off"})
    assert volumes(off) == {"prometheus-data": "4Gi"}
    assert set(volumes(existing())) == {"alertmanager-data", "pushgateway-data", "grafana-data"}


def test_wrong_cluster_is_refused_with_both_uids_and_asked_nothing_more() -> None:
    cluster = Cluster(OTHER_UID)
    with pytest.raises(DeployError) as caught:
        check_cluster(settings("kind"), WHERE, cluster)
    message = str(caught.value)
    assert f"wrong cluster: stack kind belongs to uid {UID}" in message
    assert f"context `kind-kind` of /k/config has uid {OTHER_UID}; nothing was changed" in message
    assert cluster.asked == ["namespace kube-system"]


def test_stack_without_a_uid_is_told_the_uid_seen_and_the_line_to_add() -> None:
    unknown = parse("kind", as_pulumi_has_it(stack_file("kind")))
    with pytest.raises(DeployError) as caught:
        check_identity(unknown, WHERE, Cluster())
    message = str(caught.value)
    assert f"has uid {UID}" in message
    assert f"  pulumi config set --path 'plumbline:cluster.uid' {UID} --stack kind\n" in message
    assert message.endswith(f"in stacks/Pulumi.kind.yaml:\n  plumbline:cluster:\n    uid: {UID}")


def test_shrinking_a_claim_is_refused_with_both_sizes() -> None:
    message = refuse_claim(claim("100Gi"), "50Gi")
    assert "claim plumbline/prometheus-data is 100Gi and the settings want 50Gi: a claim cannot shrink" in message


def test_sizes_are_compared_as_bytes_not_as_text() -> None:
    check_claim(Cluster(claim=claim("1024Mi")), "plumbline", "prometheus-data", "1Gi", None)


def test_growth_is_accepted_where_the_class_allows_it() -> None:
    check_claim(Cluster(claim=claim("50Gi")), "plumbline", "prometheus-data", "100Gi", None)


def test_growth_is_left_to_the_server_where_the_class_cannot_be_read() -> None:
    check_claim(Cluster(claim=claim("50Gi", expandable=None)), "plumbline", "prometheus-data", "100Gi", None)


def test_growth_is_refused_where_the_class_forbids_it() -> None:
    message = refuse_claim(claim("50Gi", expandable=False), "100Gi")
    assert "its StorageClass `standard` does not allow growth; accepted: 50Gi" in message


def test_another_storage_class_is_refused_because_it_would_replace_the_claim() -> None:
    message = refuse_claim(claim("50Gi"), "50Gi", "fast")
    assert "is of StorageClass `standard` and plumbline:storage.class_name wants `fast`" in message


def test_changed_namespace_that_would_leave_the_data_behind_is_refused() -> None:
    with pytest.raises(DeployError) as caught:
        check_cluster(settings("kind"), WHERE, Cluster(marked={"metrics": "kind", "other": "local"}))
    message = str(caught.value)
    assert "plumbline:namespace is `plumbline`, but stack kind has its data in claim metrics/prometheus-data" in message
    assert "fix: pulumi config set plumbline:namespace metrics --stack kind." in message
    assert message.endswith("kubectl -n metrics label pvc prometheus-data plumbline/stack-")


@pytest.mark.parametrize(
    ("marked", "live"),
    [
        ({}, None),
        ({"plumbline": "local"}, None),
        ({"metrics": "kind", "plumbline": "kind"}, None),
        ({"metrics": "kind"}, claim("10Gi")),
    ],
    ids=["none", "of another stack", "here too", "here without a label"],
)
def test_data_of_others_and_data_that_is_here_are_no_obstacle(marked: dict[str, str], live: LiveClaim | None) -> None:
    check_namespace(Cluster(claim=live, marked=marked), "kind", "plumbline", "prometheus-data")


def test_no_claim_yet_is_fine() -> None:
    check_claim(Cluster(), "plumbline", "prometheus-data", "1Gi", "fast")
