"""The settings of SwanLab: defaults, what a key refuses, and what no two keys may say together."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from stacks.swanlab import Swanlab
from stacks.swanlab_relations import broken
from tests.offline.stacks.swanlab_examples import BUCKETS, ELSEWHERE, PRIVATE, PUBLIC, section, with_swanlab

MANAGED = {"mode": "managed", "buckets": BUCKETS}
S3_OF_OURS = {"mode": "external", "public": PUBLIC, "private": PRIVATE}


def test_off_unless_asked_for() -> None:
    assert Swanlab().mode == "off"
    assert broken(with_swanlab(mode="off", host="http://x/y", buffer={"volume": "1Gi"})) == []


def test_defaults_of_a_durable_stack_are_consistent() -> None:
    wanted = section()
    assert (wanted.sdk, wanted.buffer.replicas, wanted.buffer.volume) == ("0.8.4", 2, "60Gi")
    assert (wanted.api_key.name, wanted.api_key.key) == ("swanlab-api-key", "api-key")
    assert broken(with_swanlab()) == []


def test_stores_elsewhere_are_consistent() -> None:
    assert broken(with_swanlab(stores=ELSEWHERE)) == []
    assert broken(with_swanlab(stores={"s3": S3_OF_OURS}, store=MANAGED)) == []


@pytest.mark.parametrize(
    "keys",
    [
        {"host": "swanlab.example.org"},
        {"host": "http://user:canary@swanlab.example.org"},
        {"sdk": "0.8"},
        {"stores": {"postgres": {"volume": "100G"}}},
        {"stores": {"postgres": {"volume": "0Gi"}}},
        {"stores": {"postgres": {"generation": 0}}},
        {"stores": {"postgres": {"ephemeral": True}}},
        {"stores": {"postgres": {"mode": "ephemeral"}}},
        {"stores": {"postgres": {"host": "pg.example.org:5432"}}},
        {"stores": {"postgres": {"host": "postgresql://pg.example.org"}}},
        {"stores": {"redis": {"database": 16}}},
        {"stores": {"redis": {"generation": 2}}},
        {"buffer": {"replicas": 0}},
        {"replicas": {"postgres": 2}},
        {"chart": {"version": "0.7.0"}},
    ],
)
def test_key_or_value_is_refused(keys: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        section(**keys)


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"host": "http://gateway.example.org/swanlab"}, "plumbline:swanlab.host is `http://gateway.example.org/swanlab`"),
    ({"public_host": "https://example.org/"}, "'plumbline:swanlab.public_host' https://example.org"),
    ({"buffer": {"max_size": "20Gi"}}, "max_size 20Gi times 3 does not fit into plumbline:swanlab.buffer.volume 60Gi"),
    (
        {"buffer": {"volume": "59Gi", "max_size": "1Gi"}},
        "buffer.volume is 59Gi on a durable stack; accepted: at least 60Gi",
    ),
    ({"buffer": {"replicas": 1}}, "buffer.replicas is 1; accepted: 2"),
    ({"buffer": {"replicas": 3}}, "buffer.replicas is 3; accepted: 2"),
    ({"stores": {"postgres": {"mode": "external", "host": "pg"}}}, "stores.postgres.mode is `external` and secret is"),
    ({"stores": {"redis": {"mode": "external"}}}, "stores.redis.mode is `external` and host and secret are missing"),
    ({"stores": {"clickhouse": {"host": "ch"}}}, "stores.clickhouse.mode is `chart`, and host of another one is named"),
    ({"stores": {"clickhouse": {**ELSEWHERE["clickhouse"], "database": "x"}}}, "clickhouse.database is `x`"),
    ({"stores": {"s3": {"mode": "external", "public": PUBLIC}}}, "s3.mode is `external` and private is missing"),
    ({"stores": {"s3": {"public": PUBLIC}}}, "s3.mode is `chart`, and public of another one would not be used"),
    ({"stores": {"s3": {**ELSEWHERE["s3"], "private": PUBLIC}}}, "are both `swanlab-public`: everybody could read"),
    (
        {"stores": {"s3": {**ELSEWHERE["s3"], "public": {**PUBLIC, "domain": "http://m.example.org"}}}},
        "public.domain' https://m.example.org",
    ),
    (
        {
            "stores": {"s3": {**ELSEWHERE["s3"], "public": {**PUBLIC, "endpoint": "s.x.svc"}}},
            "public_host": "https://e.org",
        },
        "s3.public.endpoint is `s.x.svc`, which only pods reach",
    ),
    ({"stores": {"s3": S3_OF_OURS}}, "s3.mode is `external` without a secret, and plumbline:object_store.mode `off`"),
    ({"ingress": {"body_limit": "1Mi"}}, "ingress.body_limit is 1Mi"),
    ({"ingress": {"read_timeout": "30s"}}, "ingress.read_timeout is 30s"),
    ({"environment_in": [{"namespace": "a"}, {"namespace": "a"}]}, "environment_in names a 2 times"),
    ({"licence": {"egress": "none"}}, "licence.egress is `none`"),
]


@pytest.mark.parametrize(("keys", "message"), FAULTS)
def test_relation_is_refused_with_what_to_do(keys: dict[str, Any], message: str) -> None:
    found = broken(with_swanlab(**keys))
    assert len(found) == 1, found
    assert message in found[0]
    assert "accepted:" in found[0]
    assert "fix:" in found[0]


@pytest.mark.parametrize(
    ("buckets", "message"),
    [
        ([BUCKETS[0]], "plumbline:object_store.buckets has no swanlab-public"),
        ([{"name": "swanlab-private"}, BUCKETS[1]], "have the owners swanlab and swanlab-private"),
        ([{**BUCKETS[0], "public_read": True}, BUCKETS[1]], "lets everybody read swanlab-private"),
        ([BUCKETS[0], {**BUCKETS[1], "public_read": False}], "lets nobody read swanlab-public without a key"),
    ],
)
def test_object_store_of_the_stack_must_have_both_buckets_for_one_key(buckets: list[Any], message: str) -> None:
    found = broken(with_swanlab(stores={"s3": S3_OF_OURS}, store={"mode": "managed", "buckets": buckets}))
    assert len(found) == 1, found
    assert message in found[0]


def test_all_faults_are_told_at_once() -> None:
    keys: dict[str, Any] = {"host": "http://x/y", "buffer": {"replicas": 5}, "stores": {"redis": {"mode": "external"}}}
    assert len(broken(with_swanlab(**keys))) == 3


def test_stack_to_try_things_on_may_be_small_and_without_a_way_out() -> None:
    keys: dict[str, Any] = {
        "buffer": {"replicas": 1, "volume": "1Gi", "max_size": "256Mi"},
        "licence": {"egress": "none"},
    }
    assert broken(with_swanlab("local", **keys)) == []


@pytest.mark.parametrize("key", ["sdk_image", "gate_image"])
def test_images_of_ours_are_built_where_all_are(key: str) -> None:
    keys: dict[str, Any] = {"buffer": {"replicas": 1}, key: "r.example.org/ours:1"}
    assert broken(with_swanlab("staging", **(keys | {"buffer": {}}))) == []
    (fault,) = broken(with_swanlab("local", **keys))
    assert f"plumbline:swanlab.{key} is for upstream images" in fault
    assert "that image is built here; accepted: one of both; fix: pulumi config rm --path" in fault


OURS = {**PRIVATE, "endpoint": "object-store.plumbline.svc", "port": 8333, "ssl": False}


def with_private(**keys: object) -> list[str]:
    s3 = {**S3_OF_OURS, "private": {**OURS, **keys}}
    return broken(with_swanlab(stores={"s3": s3}, store=MANAGED))


@pytest.mark.parametrize(
    "endpoint",
    ["object-store.plumbline", "object-store.plumbline.svc", "object-store.plumbline.svc.cluster.local", "s3.corp.org"],
)
def test_object_store_of_the_stack_may_be_called_by_each_of_its_names(endpoint: str) -> None:
    assert with_private(endpoint=endpoint) == []


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"endpoint": "object-store.metrics.svc"}, "the object store of this stack is `object-store.plumbline.svc`"),
        ({"port": 443}, "private.port is 443, and the object store of this stack is spoken to with 8333"),
        ({"ssl": True}, "private.ssl is true, and the object store of this stack is spoken to with false"),
        ({"path_style": False}, "private.path_style is false, and the object store of this stack is spoken to with"),
    ],
)
def test_object_store_of_the_stack_is_spoken_to_as_it_is_deployed(keys: dict[str, Any], message: str) -> None:
    (fault,) = with_private(**keys)
    assert message in fault
    assert "accepted: " in fault
    assert "fix: pulumi config set --path 'plumbline:swanlab.stores.s3.private." in fault


def test_store_of_somebody_else_is_spoken_to_as_its_owner_says() -> None:
    theirs = {**ELSEWHERE["s3"], "private": {**PRIVATE, "endpoint": "object-store.metrics.svc", "port": 80}}
    assert broken(with_swanlab(stores={"s3": theirs})) == []
