"""Settings that are right one by one and cannot work together."""

from __future__ import annotations

from typing import Any

import pytest

from components.errors import DeployError
from stacks.settings import parse
from tests.offline.stacks.examples import as_pulumi_has_it, completed, settings, stack_file


def refusal(stack: str, config: dict[str, Any]) -> str:
    with pytest.raises(DeployError) as caught:
        parse(stack, as_pulumi_has_it(config))
    return str(caught.value)


def prometheus_refusal(**values: object) -> str:
    config = completed("kind")
    return refusal("kind", {**config, "plumbline:prometheus": {**config["plumbline:prometheus"], **values}})


def test_retention_by_size_above_four_fifths_of_the_volume_is_refused_with_the_most() -> None:
    message = prometheus_refusal(retention_size="9GB", volume="10Gi")
    assert (
        "retention_size 9GB (9663676416 bytes) is 90% of plumbline:prometheus.volume 10Gi (10737418240 bytes)"
        in message
    )
    assert "accepted: at most 80 %, here 8192MB" in message


def test_retention_by_size_of_exactly_four_fifths_is_accepted() -> None:
    assert settings("kind", prometheus={"retention_size": "8GB", "volume": "10Gi"})


def test_decimal_volumes_are_compared_in_bytes() -> None:
    """8GB is 8 589 934 592 bytes, 10G is 10 000 000 000: 85.9 %, though the digits say 80."""
    assert "is 86% of" in prometheus_refusal(retention_size="8GB", volume="10G")


@pytest.mark.parametrize("size", ["1B", "99MB"])
def test_retention_by_size_that_holds_nothing_is_refused(size: str) -> None:
    assert f"retention_size {size} holds no block of storage" in prometheus_refusal(retention_size=size)


def test_the_least_retention_by_size_is_accepted() -> None:
    assert settings("kind", prometheus={"retention_size": "100MB"})


@pytest.mark.parametrize("interval", ["1ms", "4s", "121s", "1h"])
def test_interval_that_rules_are_not_made_for_is_refused(interval: str) -> None:
    message = prometheus_refusal(scrape_interval=interval, scrape_timeout="1ms")
    assert f"plumbline:prometheus.scrape_interval {interval} is not one that the rules are made for" in message
    assert "accepted: 5s to 2m" in message


@pytest.mark.parametrize("interval", ["5s", "2m"])
def test_intervals_at_the_bounds_are_accepted(interval: str) -> None:
    assert settings("kind", prometheus={"scrape_interval": interval, "scrape_timeout": "5s"})


def test_timeout_longer_than_interval_is_refused() -> None:
    message = prometheus_refusal(scrape_interval="15s", scrape_timeout="1m")
    assert "scrape_timeout 1m is longer than plumbline:prometheus.scrape_interval 15s" in message


def test_timeout_equal_to_interval_is_accepted() -> None:
    assert settings("kind", prometheus={"scrape_interval": "15s", "scrape_timeout": "15s"})


def test_retention_below_two_hours_is_refused() -> None:
    assert "accepted: at least 2h" in prometheus_refusal(retention="119m")


def test_retention_of_two_hours_is_accepted() -> None:
    assert settings("kind", prometheus={"retention": "2h"})


def test_request_above_limit_is_refused() -> None:
    resources = {"requests": {"memory": "2Gi"}, "limits": {"memory": "1Gi"}}
    assert "resources.requests.memory 2Gi is more than limits.memory 1Gi" in prometheus_refusal(resources=resources)


def test_processor_request_above_limit_is_refused() -> None:
    resources = {"requests": {"cpu": "1"}, "limits": {"cpu": "500m"}}
    assert "resources.requests.cpu 1 is more than limits.cpu 500m" in prometheus_refusal(resources=resources)


def test_stores_with_one_name_are_refused() -> None:
    stores = [{"name": "a", "url": "https://x"}, {"name": "a", "url": "https://y"}]
    assert "has 2 stores named `a`" in prometheus_refusal(remote_write=stores)


@pytest.mark.parametrize("stack", ["staging", "prod"])
def test_durable_stack_must_name_its_cluster(stack: str) -> None:
    message = refusal(stack, stack_file(stack))
    assert "missing setting plumbline:cluster.uid: a durable stack must name its cluster" in message
    assert f"kubectl --context {stack} get namespace kube-system" in message
    assert "pulumi config set --path 'plumbline:cluster.uid' <uid>" in message


def test_throwaway_stack_may_learn_its_uid_from_the_first_run() -> None:
    assert parse("kind", as_pulumi_has_it(stack_file("kind"))).cluster.uid is None


def test_local_stack_that_was_not_filled_in_says_run_make_up() -> None:
    message = refusal("local", stack_file("local"))
    assert "stack local lacks plumbline:cluster.context and plumbline:images.path: run `make up`" in message


def test_context_is_never_taken_from_the_environment() -> None:
    config = completed("kind")
    del config["plumbline:cluster"]["context"]
    assert "missing setting plumbline:cluster.context: no stack uses whatever context is current" in refusal(
        "kind", config
    )


@pytest.mark.parametrize(
    ("images", "words"),
    [
        ({"source": "upstream", "path": "x"}, "plumbline:images.path is for images that are built here"),
        ({"source": "file", "path": "x", "mirror": "r.example.com"}, "plumbline:images.mirror is for upstream images"),
    ],
)
def test_options_of_the_other_image_source_are_refused(images: dict[str, str], words: str) -> None:
    assert words in refusal("kind", {**completed("kind"), "plumbline:images": images})


BUCKETS = [{"name": "swanlab-private", "owner": "swanlab"}, {"name": "swanlab-public", "owner": "swanlab"}]


@pytest.mark.parametrize(
    ("section", "values", "words"),
    [
        ("object_store", {"mode": "managed"}, "plumbline:object_store.buckets is empty"),
        ("swanlab", {"mode": "managed", "host": "http://x/y"}, "plumbline:swanlab.host is `http://x/y`"),
        (
            "secrets",
            {"root": "x" * 32, "root_file": "/r"},
            "both plumbline:secrets.root and plumbline:secrets.root_file",
        ),
    ],
)
def test_relations_of_each_section_are_asked_when_settings_are_read(
    section: str, values: dict[str, Any], words: str
) -> None:
    assert words in refusal("kind", completed("kind") | {f"plumbline:{section}": values})


def object_store_refusal(**values: object) -> str:
    wanted = {"mode": "managed", "buckets": BUCKETS, **values}
    return refusal("kind", completed("kind") | {"plumbline:object_store": wanted})


def test_object_store_without_buckets_is_refused() -> None:
    message = object_store_refusal(buckets=[])
    assert "plumbline:object_store.mode is `managed` and plumbline:object_store.buckets is empty" in message
    assert (
        "accepted: one bucket or more; fix: pulumi config set --path 'plumbline:object_store.buckets[0].name'"
        in message
    )


def test_bucket_that_is_listed_twice_is_refused() -> None:
    assert "plumbline:object_store.buckets has 2 named swanlab-public" in object_store_refusal(
        buckets=[*BUCKETS, {"name": "swanlab-public", "owner": "other"}]
    )


@pytest.mark.parametrize("bucket", [{"name": "media", "owner": "admin"}, {"name": "anonymous"}])
def test_owner_with_a_name_of_the_stores_own_is_refused(bucket: dict[str, str]) -> None:
    """The administrator opens every bucket, and whoever is anonymous needs no key; a bucket's name is its owner's."""
    owner = bucket.get("owner", bucket["name"])
    message = object_store_refusal(buckets=[*BUCKETS, bucket])
    assert f"plumbline:object_store.buckets has {bucket['name']} with the owner `{owner}`" in message
    assert "accepted: any but `admin` and `anonymous`" in message


def test_object_store_without_network_policies_is_refused() -> None:
    config = completed("kind") | {"plumbline:network": {"policies": False}}
    assert parse("kind", as_pulumi_has_it(config)).network.policies is False
    message = refusal("kind", config | {"plumbline:object_store": {"mode": "managed", "buckets": BUCKETS}})
    assert "plumbline:object_store.mode is `managed` and plumbline:network.policies is false" in message
    assert "fix: pulumi config set --path 'plumbline:network.policies' true" in message


def test_object_store_that_is_off_may_say_what_it_likes() -> None:
    config = completed("kind") | {"plumbline:network": {"policies": False}, "plumbline:object_store": {"mode": "off"}}
    assert parse("kind", as_pulumi_has_it(config)).object_store.buckets == ()


S3 = {"mode": "external", "public": {"bucket": "swanlab-public", "endpoint": "s3.example.org"}}


@pytest.mark.parametrize("store", [None, {"mode": "off"}, {"mode": "managed", "buckets": []}, {"mode": "managed"}])
def test_swanlab_that_relies_on_a_store_which_is_not_there_is_refused_with_words(store: dict[str, Any] | None) -> None:
    s3 = {**S3, "private": {"bucket": "swanlab-private", "endpoint": "s3.example.org"}}
    config = completed("kind") | {"plumbline:swanlab": {"mode": "managed", "stores": {"s3": s3}}}
    message = refusal("kind", config if store is None else config | {"plumbline:object_store": store})
    assert "plumbline:swanlab.stores.s3" in message
    assert "fix: " in message
