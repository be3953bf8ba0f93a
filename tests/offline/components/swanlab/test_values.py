"""The values that the chart is given, against the keys of the vendor's chart and what each store needs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from components.images import ImagePin
from components.secrets import Generated
from components.swanlab.args import ExternalS3, OwnStore, StoreKeys
from components.swanlab.finding import Context, at
from components.swanlab.lint_keys import unknown_keys
from components.swanlab.names import IMAGES, STORES
from components.swanlab.values import roles, values
from tests.offline.components.swanlab.examples import KNOWN, PRIVATE, PUBLIC, elsewhere, local, whole

CANARY = "canary-of-a-password"


def generations(found: dict[str, Any]) -> dict[str, dict[str, str]]:
    programs = {f"service.{name}": pod for name, pod in found["service"].items()}
    programs |= {f"dependencies.{name}": pod for name, pod in found["dependencies"].items()}
    programs |= {"vector": found["vector"], "gateway": found["gateway"]}
    return {name: pod["customPodAnnotations"] for name, pod in programs.items() if pod["customPodAnnotations"]}


def test_every_key_is_one_of_the_vendors_chart() -> None:
    for args in (whole(), elsewhere()):
        assert list(unknown_keys(values(args), Context(durable=True, known=KNOWN))) == []


def test_secret_of_a_store_of_its_own_is_named_only_to_a_chart_that_takes_one() -> None:
    assert at(values(local()), "dependencies.postgres.existingSecret") == "swanlab-postgres"
    assert at(values(whole()), "dependencies.postgres.existingSecret") is None


def test_passwords_are_added_to_a_chart_that_takes_no_secret() -> None:
    found = values(whole(), {"clickhouse": {"password": CANARY}})
    assert found["dependencies"]["clickhouse"]["password"] == CANARY
    assert CANARY not in str(values(whole()))


def test_stores_of_its_own_are_on_the_claims_of_the_stack() -> None:
    found = values(whole())
    assert {name: at(found, f"dependencies.{name}.persistence.existingClaim") for name in STORES} == {
        "postgres": "swanlab-postgres-pvc",
        "redis": "swanlab-redis-pvc",
        "clickhouse": "swanlab-clickhouse-pvc",
        "s3": "swanlab-minio-pvc",
    }
    assert at(found, "dependencies.redis.persistence.aof.enabled") is True
    assert all(at(found, f"integrations.{name}.enabled") is False for name in STORES)


def test_stores_elsewhere_are_named_with_their_secrets() -> None:
    found = values(elsewhere())
    assert found["dependencies"] == {}
    assert found["integrations"]["postgres"] == {
        "enabled": True,
        "host": "pg.example.org",
        "port": 5432,
        "database": "app",
        "existingSecret": "pg-login",
    }
    assert found["integrations"]["redis"]["database"] == 2
    assert found["integrations"]["clickhouse"]["httpPort"] == 8123
    assert found["integrations"]["s3"]["public"]["domain"] == "https://media.example.org"
    assert found["integrations"]["s3"]["existingSecret"] == "s3-login"
    assert "domain" not in found["integrations"]["s3"]["private"]


def test_buffer_is_counted_in_bytes() -> None:
    assert values(whole())["vector"]["sinks"] == {"bufferMaxSize": 10_737_418_240}


def test_public_address_is_told_to_people_and_the_services_where_there_is_none() -> None:
    assert at(values(whole()), "global.settings.host") == "https://swanlab.example.org"
    assert at(values(local()), "global.settings.host") == "http://swanlab-self-hosted.plumbline-swanlab.svc"


@pytest.mark.parametrize(
    ("reference", "repository", "tag"),
    [
        ("r.example.org:5000/a/server:v3.1.1", "r.example.org:5000/a/server", "v3.1.1"),
        ("r.example.org/server:v3.1.1@sha256:" + "0" * 64, "r.example.org/server", "v3.1.1@sha256:" + "0" * 64),
        ("r.example.org:5000/server@sha256:" + "0" * 64, "r.example.org:5000/server@sha256", "0" * 64),
    ],
)
def test_repository_and_tag_are_the_reference_when_joined(reference: str, repository: str, tag: str) -> None:
    args = replace(whole(), images={**whole().images, "swanlab-server": ImagePin(reference=reference)})
    image = values(args)["service"]["server"]["image"]
    assert (image["repository"], image["tag"]) == (repository, tag)
    assert f"{image['repository']}:{image['tag']}" == reference


def test_every_role_has_a_place_and_stores_elsewhere_need_no_image() -> None:
    assert len(IMAGES) == 14
    assert set(roles(dict.fromkeys(STORES, True))) == set(IMAGES)
    absent = {"swanlab-postgres", "swanlab-redis", "swanlab-clickhouse", "swanlab-s3", "swanlab-mc"}
    assert set(roles(dict.fromkeys(STORES, False))) == set(IMAGES) - absent


def test_a_raised_generation_restarts_who_reads_it_and_nobody_else() -> None:
    before, after = values(whole()), values(replace(whole(), clickhouse=OwnStore(volume="1000Gi", generation=4)))
    changed = {name for name, found in generations(after).items() if generations(before)[name] != found}
    assert changed == {"service.server", "service.house", "vector", "dependencies.clickhouse"}
    args = replace(whole(), postgres=OwnStore(volume="100Gi", generation=3))
    changed = {name for name, found in generations(values(args)).items() if generations(before)[name] != found}
    assert changed == {"service.server", "service.house"}


def test_a_raised_generation_of_the_object_store_restarts_the_servers() -> None:
    keys = StoreKeys(access_key="swanlab", secret_key=Generated(role="object-store-swanlab", generation=5))
    args = replace(local(), s3=ExternalS3(public=PUBLIC, private=PRIVATE, credentials=keys))
    assert generations(values(args))["service.house"]["plumbline/generation-s3"] == "5"


def test_every_pod_runs_unprivileged_with_requests_and_limits() -> None:
    found = values(whole())
    pods = [*found["service"].values(), *found["dependencies"].values(), found["gateway"], found["vector"]]
    assert len(pods) == 11
    for pod in pods:
        assert pod["securityContext"] == {"enabled": True}
        assert pod["resources"]["requests"].keys() == {"cpu", "memory"}
        assert "memory" in pod["resources"]["limits"]
