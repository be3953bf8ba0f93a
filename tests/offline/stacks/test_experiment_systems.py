"""The object store, SwanLab and its gate as systems: when they exist, in which order, and what is promised of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pulumi
import pytest

from components.errors import DeployError
from components.secrets import derive
from stacks import systems as makers
from stacks.bundle import deploy, plan
from stacks.cluster import Access
from stacks.experiment_systems import has_gate
from stacks.provider import kubernetes_provider
from stacks.systems import components, roles, systems
from tests.offline.components.pulumi_mocks import Recording, record
from tests.offline.stacks.examples import BUILT, ROOT_SECRET, existing, settings, write_images
from tests.offline.stacks.swanlab_examples import ELSEWHERE, PRIVATE, PUBLIC

if TYPE_CHECKING:
    from pathlib import Path

    from stacks.contract import Contract
    from stacks.system import System

MONITORING = ("prometheus", "alertmanager", "pushgateway", "kube-state-metrics", "node-exporter", "dcgm-exporter")
STATELESS = (
    *("swanlab-gateway", "swanlab-identify", "swanlab-helper", "swanlab-vector"),
    *("swanlab-server", "swanlab-auth", "swanlab-house", "swanlab-cloud", "swanlab-next"),
)
DATABASES = ("swanlab-postgres", "swanlab-redis", "swanlab-clickhouse")
MEDIA = ("swanlab-s3", "swanlab-mc")
MANAGED: dict[str, Any] = {"mode": "managed"}
GATE: dict[str, Any] = {"gate_image": "registry.example.org/gate:7"}
SDK: dict[str, Any] = {"sdk_image": "registry.example.org/sdk:0.8.4"}
STORE: dict[str, Any] = {"mode": "managed", "buckets": [{"name": "media"}]}
OFF: dict[str, Any] = {"mode": "off"}
ALONE = dict.fromkeys(("recovery", "otel_collector", "logs", "traces", "grafana"), OFF)
"""What these stacks have beside experiments."""


@pytest.mark.parametrize(
    ("stack", "lab", "store", "wanted"),
    [
        ("staging", OFF, OFF, ()),
        ("staging", OFF | GATE | SDK, OFF, ()),
        ("staging", OFF, STORE, ("object-store",)),
        ("staging", MANAGED, OFF, (*STATELESS, *DATABASES, *MEDIA)),
        ("staging", MANAGED | GATE | SDK, STORE, ("object-store", *STATELESS, *DATABASES, *MEDIA)),
        ("staging", MANAGED | {"stores": ELSEWHERE}, OFF, STATELESS),
        ("local", {}, {}, ("object-store", "swanlab-gate", *STATELESS, *DATABASES, "swanlab-sdk")),
        ("local", {"stores": {}}, OFF, ("swanlab-gate", *STATELESS, *DATABASES, *MEDIA, "swanlab-sdk")),
        ("local", OFF, {}, ("object-store",)),
        ("local", OFF, OFF, ()),
    ],
)
def test_images_that_must_be_found_follow_from_both_modes(
    stack: str, lab: dict[str, Any], store: dict[str, Any], wanted: tuple[str, ...]
) -> None:
    assert roles(settings(stack, None, swanlab=lab, object_store=store, **ALONE)) == (*MONITORING, *wanted)


@pytest.mark.parametrize(
    ("stack", "lab", "store", "wanted"),
    [
        ("staging", OFF | GATE, OFF, ()),
        ("staging", MANAGED, OFF, ("swanlab",)),
        ("staging", MANAGED | GATE, OFF, ("swanlab", "swanlab-gate")),
        ("staging", MANAGED | GATE, STORE, ("object-store", "swanlab", "swanlab-gate")),
        ("local", {}, {}, ("object-store", "swanlab", "swanlab-gate")),
        ("local", OFF, {}, ("object-store",)),
    ],
)
def test_store_comes_before_swanlab_and_the_gate_after_it(
    stack: str, lab: dict[str, Any], store: dict[str, Any], wanted: tuple[str, ...]
) -> None:
    assert components(settings(stack, None, swanlab=lab, object_store=store, **ALONE)) == (*MONITORING, *wanted)


@pytest.mark.parametrize(
    ("stack", "lab", "there"),
    [("local", {}, True), ("staging", MANAGED, False), ("staging", MANAGED | GATE, True)],
)
def test_gate_is_there_where_its_image_is(stack: str, lab: dict[str, Any], *, there: bool) -> None:
    found = settings(stack, None, swanlab=lab)
    assert has_gate(found) is there
    assert ("swanlab-gate" in components(found)) is there


def upstream(**sections: dict[str, Any]) -> Contract:
    return plan(settings("staging", None, **sections)).contract


def test_images_of_ours_are_those_that_an_upstream_stack_names() -> None:
    found = upstream(swanlab=MANAGED | GATE | SDK)
    (workload,) = found.components["swanlab-gate"].workloads
    assert [image.model_dump() for image in workload.images] == [
        {"container": "gate", "reference": "registry.example.org/gate:7", "image_id": None}
    ]
    assert found.components["swanlab-gate"].namespace == "plumbline-swanlab"
    assert found.components["swanlab"].tier == "live"
    assert found.experiments is not None
    assert found.experiments.sdk_image == "registry.example.org/sdk:0.8.4"


def test_gate_is_found_beside_the_swanlab_that_it_watches() -> None:
    asked = upstream(swanlab=MANAGED | GATE).components["swanlab"].endpoints["gate"]
    assert (asked.service, asked.namespace, asked.port) == ("swanlab-gate", "plumbline-swanlab", 8080)
    without = upstream(swanlab=MANAGED)
    assert "gate" not in without.components["swanlab"].endpoints
    assert "swanlab-gate" not in without.components
    assert without.experiments is not None
    assert without.experiments.sdk_image is None


def test_contract_promises_experiments_and_buckets_where_they_are_alone(tmp_path: Path) -> None:
    found = upstream()
    assert (found.experiments, found.object_store) == (None, None)
    own = plan(settings("local", write_images(tmp_path / "images.json"))).contract
    assert own.experiments is not None
    assert own.experiments.sdk_image == BUILT["swanlab-sdk"].reference
    assert own.experiments.stores["s3"].mode == "external"
    assert own.experiments.host == "http://swanlab-self-hosted.plumbline-swanlab.svc"


def test_object_store_is_promised_with_its_endpoint_and_each_bucket_with_its_owners_key() -> None:
    buckets = [{"name": "media", "owner": "team"}, {"name": "open", "public_read": True}]
    found = upstream(object_store={"mode": "managed", "volume": "40Gi", "buckets": buckets})
    component = found.components["object-store"]
    assert component.endpoints["http"].model_dump() == {
        "service": "object-store",
        "namespace": None,
        "port": 8333,
        "scheme": "http",
        "url": None,
    }
    assert [claim.model_dump() for claim in component.claims] == [
        {"name": "object-store-data", "size": "40Gi", "mounted_at": "/data"}
    ]
    assert found.object_store is not None
    at = {"namespace": "plumbline", "name": "object-store-keys"}
    assert [bucket.model_dump() for bucket in found.object_store.buckets] == [
        {
            "name": "media",
            "owner": "team",
            "access": {**at, "key": "team-access-key"},
            "secret": {**at, "key": "team-secret-key"},
            "public_read": False,
        },
        {
            "name": "open",
            "owner": "open",
            "access": {**at, "key": "open-access-key"},
            "secret": {**at, "key": "open-secret-key"},
            "public_read": True,
        },
    ]


def named(found: tuple[System, ...]) -> dict[str, System]:
    return {system.name: system for system in found}


def test_swanlab_waits_for_the_object_store_that_it_uses_and_for_no_other() -> None:
    assert named(systems(settings("local"), BUILT))["swanlab"].after == ("object-store",)
    assert named(systems(settings("local"), BUILT))["swanlab-gate"].after == ("swanlab",)
    theirs = settings("local", None, swanlab={"stores": {"s3": ELSEWHERE["s3"]}})
    assert named(systems(theirs, BUILT))["swanlab"].after == ()
    charts = settings("local", None, swanlab={"stores": {}}, object_store=OFF)
    assert named(systems(charts, BUILT))["swanlab"].after == ()


def test_nothing_waits_for_what_comes_later_or_is_not_there() -> None:
    """The registration would fail with neither a reason nor a way out."""
    for found in (settings("local"), existing("local"), settings("staging", None, swanlab=MANAGED | GATE)):
        there: list[str] = []
        for system in systems(found, BUILT):
            assert set(system.after) <= set(there), system.name
            there.append(system.name)


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """Stack local, registered with an engine that only records; promtool and amtool are asked elsewhere. Only read."""
    directory = tmp_path_factory.mktemp("local")
    found = settings("local", write_images(directory / "images.json"))
    where = Access(kubeconfig=directory / "config", context="plumbline")
    with pytest.MonkeyPatch.context() as monkeypatch:
        for linter in ("lint_prometheus", "lint_alertmanager"):
            monkeypatch.setattr(makers, linter, lambda *_: None)
        return record(lambda: deploy(found, kubernetes_provider(found, where)))


def test_gate_is_registered_after_swanlab_whose_namespace_it_lies_in(deployed: Recording) -> None:
    names = [resource.name for resource in deployed.resources]
    assert names.index("object-store") < names.index("swanlab") < names.index("swanlab-gate")
    # What waits for a component waits for what it made as well: the engine is told both.
    assert {"swanlab-namespace", "swanlab-release"} <= set(deployed.named("swanlab-gate-deployment").depends_on) | set(
        deployed.named("swanlab-gate").depends_on
    )
    assert deployed.named("swanlab-namespace").parent == "swanlab"


def plain(value: object) -> Any:  # noqa: ANN401  # whatever the engine was given
    """With the marks of secrets taken off."""
    if pulumi.runtime.rpc.is_rpc_secret(value):
        return plain(pulumi.runtime.rpc.unwrap_rpc_secret(value))
    return {key: plain(item) for key, item in value.items()} if isinstance(value, dict) else value


def held(deployed: Recording, namespace: str, name: str) -> dict[str, str]:
    """What a Secret holds."""
    for one in deployed.of_type(":Secret"):
        meta = plain(one.inputs["metadata"])
        if (meta["namespace"], meta["name"]) == (namespace, name):
            return cast("dict[str, str]", plain(one.inputs["stringData"]))
    raise AssertionError(f"no Secret {namespace}/{name}")


def test_swanlab_without_a_secret_of_its_own_has_the_key_of_its_buckets_owner(deployed: Recording) -> None:
    """The contract names the Secret of the store, SwanLab's pods read another: both must open the same buckets."""
    keys = held(deployed, "plumbline", "object-store-keys")
    assert keys["swanlab-secret-key"] == derive(ROOT_SECRET, "object-store-swanlab", 1)
    assert held(deployed, "plumbline-swanlab", "swanlab-s3") == {
        "accessKey": keys["swanlab-access-key"],
        "secretKey": keys["swanlab-secret-key"],
    }


def test_neither_root_nor_password_is_seen_outside_of_secrets(deployed: Recording) -> None:
    """Whatever an engine stores or shows of an input that is not marked."""
    shown = repr([_unmarked(resource.inputs) for resource in deployed.resources])
    keys = held(deployed, "plumbline", "object-store-keys")
    assert ROOT_SECRET not in shown
    assert keys["swanlab-secret-key"] not in shown
    assert "object-store-keys" in shown


def _unmarked(value: object) -> object:
    if pulumi.runtime.rpc.is_rpc_secret(value):
        return "[secret]"
    if isinstance(value, dict):
        return {key: _unmarked(item) for key, item in value.items()}
    return [_unmarked(item) for item in value] if isinstance(value, list) else value


def test_stack_without_a_root_secret_is_refused_before_anything_is_registered() -> None:
    for section in ({"swanlab": MANAGED}, {"object_store": STORE}):
        found = settings("kind", None, **section)
        judged = {system.name: system.lint for system in plan(found).systems}
        with pytest.raises(DeployError, match="stack kind derives passwords and has no root secret"):
            judged[next(iter(section)).replace("_", "-")]()


def test_gate_asks_stores_where_they_are() -> None:
    """Elsewhere: host and port of the settings. Of the chart: its Services, MinIO by its own health route."""
    words = gate_words(MANAGED | GATE | {"stores": ELSEWHERE})
    assert "--part=postgres=postgres,pg.example.org:5432" in words
    assert "--part=redis=redis,redis.example.org:6379" in words
    assert "--part=clickhouse=body,http://ch.example.org:8123/ping,Ok." in words
    assert "--part=s3=tcp,s3.example.org:443" in words
    own = gate_words(MANAGED | GATE)
    assert "--part=postgres=postgres,swanlab-self-hosted-postgres:5432" in own
    assert "--part=s3=http,http://swanlab-self-hosted-s3:9000/minio/health/live" in own


def gate_words(lab: dict[str, Any]) -> list[str]:
    found = named(plan(settings("staging", None, swanlab=lab)).systems)["swanlab-gate"]
    (container,) = found.manifests["deployment"]["spec"]["template"]["spec"]["containers"]
    return list(container["args"])


def test_private_endpoint_is_what_the_gate_asks_of_somebody_elses_s3() -> None:
    inside = {**ELSEWHERE["s3"], "private": {**PRIVATE, "endpoint": "s3.inside.example.org", "port": 9000}}
    words = gate_words(MANAGED | GATE | {"stores": {"s3": inside | {"public": PUBLIC}}})
    assert "--part=s3=tcp,s3.inside.example.org:9000" in words
