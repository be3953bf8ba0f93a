"""From settings to the arguments of SwanLab and to what the contract promises of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from components.errors import DeployError
from components.images import ImagePin
from components.secrets import Generated
from components.swanlab.args import ExternalClickHouse, ExternalPostgres, ExternalRedis, ExternalS3, OwnStore, StoreKeys
from components.swanlab.lint import lint
from stacks import swanlab_arguments
from stacks.swanlab_arguments import component, experiments, roles, swanlab_args
from stacks.swanlab_relations import broken
from tests.offline.components.swanlab.examples import PINS
from tests.offline.stacks.examples import settings
from tests.offline.stacks.swanlab_examples import BUCKETS, ELSEWHERE, PRIVATE, PUBLIC, section, with_swanlab

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "versions.toml"
    path.write_text('[charts.swanlab]\nrepository = "https://charts.example.org"\nversion = "0.6.2"\n')
    monkeypatch.setattr(swanlab_arguments, "VERSIONS", path)
    return path


def chart_at(path: Path, postgres: str) -> str:
    path.mkdir()
    (path / "Chart.yaml").write_text("name: self-hosted\n")
    (path / "values.yaml").write_text(f"dependencies:\n  postgres:\n    {postgres}\n")
    return str(path)


def test_chart_is_the_pinned_one() -> None:
    chart = swanlab_args(with_swanlab(), PINS).chart
    assert (chart.repository, chart.version, chart.path) == ("https://charts.example.org", "0.6.2", None)
    assert chart.takes_secrets is False


def test_stack_of_the_embedded_cluster_keeps_every_rule_with_its_own_chart() -> None:
    wanted = settings("local")
    args = swanlab_args(wanted, PINS)
    lint(args)
    assert broken(wanted) == []
    assert args.chart.takes_secrets is True
    assert isinstance(args.s3, ExternalS3)
    assert isinstance(args.s3.credentials, StoreKeys)


def test_chart_of_a_site_is_asked_whether_it_takes_secrets(tmp_path: Path) -> None:
    new = chart_at(tmp_path / "new", "existingSecret: ''")
    old = chart_at(tmp_path / "old", "password: ''")
    assert swanlab_args(with_swanlab(chart={"path": new}), PINS).chart.takes_secrets is True
    chart = swanlab_args(with_swanlab(chart={"path": old}), PINS).chart
    assert (chart.takes_secrets, chart.path, chart.repository) == (False, old, None)


def test_chart_that_is_nowhere_pinned_is_told(versions: Path) -> None:
    versions.write_text("[images]\n")
    with pytest.raises(DeployError, match=r"accepted: a table \[charts.swanlab\]"):
        swanlab_args(with_swanlab(), PINS)


def test_stores_of_its_own() -> None:
    found = swanlab_args(with_swanlab(stores={"postgres": {"volume": "200Gi", "generation": 3}}), PINS)
    assert found.postgres == OwnStore(volume="200Gi", generation=3)
    assert set(found.own) == {"postgres", "redis", "clickhouse", "s3"}
    assert (found.instance, found.namespace) == ("plumbline", "plumbline-swanlab")
    assert found.host == "http://swanlab-self-hosted.plumbline-swanlab.svc"
    assert found.durable is True


def test_stores_elsewhere() -> None:
    found = swanlab_args(with_swanlab(stores=ELSEWHERE), PINS)
    assert found.postgres == ExternalPostgres(host="pg.example.org", port=5432, database="app", secret=name("pg"))
    assert found.redis == ExternalRedis(host="redis.example.org", port=6379, database=0, secret=name("redis"))
    assert isinstance(found.clickhouse, ExternalClickHouse)
    assert isinstance(found.s3, ExternalS3)
    assert found.s3.credentials == "s3-login"
    assert found.own == {}


def name(store: str) -> str:
    return f"{store}-login"


def test_acknowledged_moves_are_passed_on() -> None:
    stores = {"postgres": {"moved_from": "old.example.org:5432/app"}, "redis": ELSEWHERE["redis"]}
    assert swanlab_args(with_swanlab(stores=stores), PINS).moved_from == {"postgres": "old.example.org:5432/app"}


def test_keys_of_the_stacks_own_object_store_are_its_owners() -> None:
    stores = {"s3": {"mode": "external", "public": PUBLIC, "private": PRIVATE}}
    wanted = with_swanlab(stores=stores, store={"mode": "managed", "buckets": BUCKETS, "generation": 4})
    found = swanlab_args(wanted, PINS).s3
    assert isinstance(found, ExternalS3)
    keys = StoreKeys(access_key="swanlab", secret_key=Generated(role="object-store-swanlab", generation=4))
    assert found.credentials == keys


def test_images_are_asked_for_what_runs() -> None:
    assert roles(section(mode="off")) == ()
    assert len(roles(section())) == 14
    assert set(roles(section())) - set(roles(section(stores=ELSEWHERE))) == {
        "swanlab-postgres",
        "swanlab-redis",
        "swanlab-clickhouse",
        "swanlab-s3",
        "swanlab-mc",
    }


def test_contract_promises_each_pod_claim_and_service() -> None:
    found = component(swanlab_args(with_swanlab(), PINS))
    workloads = {(w.kind, w.name): w.replicas for w in found.workloads}
    assert workloads[("Deployment", "swanlab-self-hosted")] == 2
    assert workloads[("Deployment", "swanlab-self-hosted-server")] == 3
    assert workloads[("Deployment", "swanlab-self-hosted-postgres")] == 1
    assert workloads[("StatefulSet", "swanlab-self-hosted-vector")] == 2
    assert len(workloads) == 11
    assert {claim.name: claim.size for claim in found.claims} == {
        "swanlab-postgres-pvc": "100Gi",
        "swanlab-redis-pvc": "50Gi",
        "swanlab-clickhouse-pvc": "1000Gi",
        "swanlab-minio-pvc": "1000Gi",
        "data-swanlab-self-hosted-vector-0": "60Gi",
        "data-swanlab-self-hosted-vector-1": "60Gi",
    }
    ports = {name: (e.service, e.port, e.namespace) for name, e in found.endpoints.items()}
    assert ports["http"] == ("swanlab-self-hosted", 80, "plumbline-swanlab")
    assert ports["clickhouse"] == ("swanlab-self-hosted-clickhouse", 8123, "plumbline-swanlab")
    assert found.tier == "live"


def test_gateway_is_asked_where_people_get_in_and_else_through_a_forward() -> None:
    public = component(swanlab_args(with_swanlab(public_host="https://swanlab.example.org"), PINS))
    assert public.endpoints["http"].url == "https://swanlab.example.org"
    assert {endpoint.url for name, endpoint in public.endpoints.items() if name != "http"} == {None}
    assert component(swanlab_args(with_swanlab(), PINS)).endpoints["http"].url is None


def test_public_bucket_of_somebody_elses_s3_is_told_by_its_address() -> None:
    def told(**public: object) -> str | None:
        s3 = {**ELSEWHERE["s3"], "public": {**ELSEWHERE["s3"]["public"], **public}}
        return experiments(with_swanlab(stores={"s3": s3}), PINS).public_bucket

    here = {"bucket": "media", "endpoint": "s3.example.org", "port": 9000, "ssl": False, "path_style": True}
    assert told(**here) == "http://s3.example.org:9000/media"
    assert told(**here | {"ssl": True, "path_style": False}) == "https://media.s3.example.org:9000"
    assert told(**here | {"endpoint": "minio.storage.svc"}) is None
    assert experiments(with_swanlab(), PINS).public_bucket is None
    s3, store = {**ELSEWHERE["s3"], "secret": None}, {"mode": "managed", "buckets": BUCKETS}
    assert experiments(with_swanlab(stores={"s3": s3}, store=store), PINS).public_bucket is None


def test_one_stand_in_makes_the_whole_simulated() -> None:
    images = {**PINS, "swanlab-house": ImagePin(reference="r/house:1", stand_in=True)}
    assert component(swanlab_args(with_swanlab(), images)).tier == "simulated"


def test_contract_says_where_experiments_are_kept_and_how_to_log_in() -> None:
    wanted = with_swanlab(stores={"redis": ELSEWHERE["redis"]}, public_host="https://swanlab.example.org")
    found = experiments(wanted, PINS)
    assert {name: (store.mode, store.claims, store.place) for name, store in found.stores.items()} == {
        "postgres": ("chart", ("swanlab-postgres-pvc",), "swanlab-postgres-pvc"),
        "redis": ("external", (), "redis.example.org:6379/0"),
        "clickhouse": ("chart", ("swanlab-clickhouse-pvc",), "swanlab-clickhouse-pvc"),
        "s3": ("chart", ("swanlab-minio-pvc",), "swanlab-minio-pvc"),
        "buffer": ("chart", ("data-swanlab-self-hosted-vector-0", "data-swanlab-self-hosted-vector-1"), ""),
    }
    assert found.login.model_dump() == {"namespace": "plumbline-swanlab", "name": "swanlab-api-key", "key": "api-key"}
    assert (found.sdk, found.public_host, found.sdk_image) == ("0.8.4", "https://swanlab.example.org", None)
    assert found.body_limit == 67_108_864


def test_image_of_the_sdk_is_the_built_one_or_the_one_that_settings_name() -> None:
    built = {**PINS, "swanlab-sdk": ImagePin(reference="r.example.org/sdk:1")}
    assert experiments(with_swanlab(), built).sdk_image == "r.example.org/sdk:1"
    named = with_swanlab(sdk_image="r.example.org/sdk:2")
    assert experiments(named, PINS).sdk_image == "r.example.org/sdk:2"
