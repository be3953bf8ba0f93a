"""The object store: what its settings, identities and manifests decide."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pulumi
import pytest
from pydantic import ValidationError

from components.errors import DeployError
from components.images import ImagePin
from components.object_store.args import Bucket, ObjectStoreArgs
from components.object_store.component import ObjectStore
from components.object_store.identities import render, secrets
from components.object_store.manifests import manifests
from components.object_store.options import arguments, buckets_script, volume_count, volume_size_mb
from components.policy import violations
from components.prometheus.args import Resources
from stacks.object_store import ObjectStore as Section
from stacks.object_store import object_store_args
from tests.offline.components.pulumi_mocks import record
from tests.offline.stacks.examples import settings

if TYPE_CHECKING:
    from pathlib import Path

GIB = 2**30
ARGS = ObjectStoreArgs(
    stack="local",
    namespace="plumbline",
    image=ImagePin(reference="plumbline.local/object-store:4.48-0123abcd"),
    volume="10Gi",
    volume_bytes=10 * GIB,
    storage_class=None,
    resources=Resources(cpu_request="50m", memory_request="256Mi", memory_limit="1Gi"),
    network_policies=True,
    buckets=(
        Bucket(name="swanlab-private", owner="swanlab"),
        Bucket(name="swanlab-public", owner="swanlab", public_read=True),
    ),
)
KEYS = {"admin": "a" * 32, "swanlab": "b" * 32}


def identities(*buckets: Bucket, **keys: str) -> dict[str, Any]:
    listed = json.loads(render(buckets, keys))["identities"]
    return {found["name"]: found for found in listed}


def pod(args: ObjectStoreArgs = ARGS) -> dict[str, Any]:
    found: dict[str, Any] = manifests(args)["stateful-set"]["spec"]["template"]
    return found


def test_no_rule_is_broken_but_that_a_node_port_is_open() -> None:
    found = violations(manifests(ARGS).values())
    record(lambda: found.extend(violations(secrets(ARGS, pulumi.Output.secret("r" * 32)).values())))
    assert found == []
    open_to_nodes = violations(manifests(replace(ARGS, node_port=30833)).values())
    assert all(line.startswith("Service/plumbline/object-store: is of type NodePort") for line in open_to_nodes)


def test_anonymous_reads_public_buckets_and_does_nothing_else() -> None:
    found = identities(*ARGS.buckets, **KEYS)
    assert found["anonymous"] == {"name": "anonymous", "actions": ["Read:swanlab-public"]}
    assert "anonymous" not in identities(ARGS.buckets[0], **KEYS)


def test_an_owner_is_held_to_its_buckets_and_only_the_administrator_is_not() -> None:
    found = identities(*ARGS.buckets, Bucket(name="traces", owner="tempo"), **KEYS, tempo="c" * 32)
    assert found["tempo"]["actions"] == ["Read:traces", "Write:traces", "List:traces", "Tagging:traces"]
    assert found["tempo"]["credentials"] == [{"accessKey": "tempo", "secretKey": "c" * 32}]
    assert len(found["swanlab"]["actions"]) == 8
    assert [name for name, of in found.items() if "Admin" in of["actions"]] == ["admin"]


def test_only_s3_and_metrics_leave_the_loopback() -> None:
    flags = dict(word.partition("=")[::2] for word in arguments(ARGS))
    assert (flags["-ip"], flags["-ip.bind"]) == ("127.0.0.1", "127.0.0.1")
    assert {name for name, value in flags.items() if value == "0.0.0.0"} == {"-s3.ip.bind", "-metricsIp"}  # noqa: S104  # what is asserted
    assert (flags["-master.telemetry"], flags["-s3.iam"], flags["-s3.autoCreateBucket"]) == ("false", "false", "false")


def test_policy_opens_s3_to_every_pod_and_metrics_to_the_own_namespace() -> None:
    metrics, s3 = manifests(ARGS)["network-policy"]["spec"]["ingress"]
    assert metrics == {"from": [{"podSelector": {}}], "ports": [{"port": 9327, "protocol": "TCP"}]}
    assert s3 == {"from": [{"namespaceSelector": {}}], "ports": [{"port": 8333, "protocol": "TCP"}]}
    outside = manifests(replace(ARGS, node_port=30833))["network-policy"]["spec"]["ingress"][1]
    assert outside == {"ports": [{"port": 8333, "protocol": "TCP"}]}


def test_node_port_is_on_the_service_and_not_on_the_headless_one() -> None:
    found = manifests(replace(ARGS, node_port=30833))
    assert (found["service"]["spec"]["type"], found["service"]["spec"]["ports"][0]["nodePort"]) == ("NodePort", 30833)
    assert (found["service-headless"]["spec"]["type"], found["service-headless"]["spec"]["clusterIP"]) == (
        "ClusterIP",
        "None",
    )


def test_claim_is_retained_and_volumes_leave_a_tenth_of_it() -> None:
    meta = manifests(ARGS)["data"]["metadata"]
    assert (meta["annotations"]["plumbline/retain"], meta["labels"]["plumbline/stack"]) == ("true", "local")
    for size in (2 * GIB, 10 * GIB, 1024 * GIB):
        assert 0.85 * size < volume_count(size) * volume_size_mb(size) * 2**20 <= 0.9 * size


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (replace(ARGS, volume="500Mi", volume_bytes=500 * 2**20), "too small for 2 buckets; accepted: 747Mi or more"),
        (replace(ARGS, buckets=()), "no bucket is named"),
        (replace(ARGS, buckets=(*ARGS.buckets, ARGS.buckets[0])), "swanlab-private is listed more than once"),
        (replace(ARGS, buckets=(Bucket(name="abc", owner="admin"),)), "owner `admin`"),
        (replace(ARGS, buckets=(Bucket(name="abc", owner="anonymous"),)), "owner `anonymous`"),
        (replace(ARGS, network_policies=False), "network.policies true"),
    ],
)
def test_what_cannot_work_is_refused(args: ObjectStoreArgs, said: str) -> None:
    with pytest.raises(DeployError) as found:
        manifests(args)
    assert said in str(found.value)


def test_smallest_accepted_volume_is_the_one_that_the_message_names() -> None:
    assert manifests(replace(ARGS, volume="747Mi", volume_bytes=747 * 2**20))


def test_raised_generation_restarts_the_pod() -> None:
    before, after = pod()["metadata"]["annotations"], pod(replace(ARGS, generation=2))["metadata"]["annotations"]
    assert before != after


def test_script_gives_up_with_the_reason(tmp_path: Path) -> None:
    fake = tmp_path / "weed"
    fake.write_text("#!/bin/sh\necho no master >&2\nexit 1\n", encoding="utf-8")
    fake.chmod(0o755)
    done = subprocess.run(
        ["/bin/sh", "-c", buckets_script(ARGS.buckets, seconds=1)],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, "no master" in done.stderr) == (1, True)


def test_component_keeps_keys_secret_and_starts_the_pod_last() -> None:
    recorded = record(lambda: ObjectStore("object-store", ARGS, pulumi.Output.secret("r" * 32)))
    for role, key in (("keys", "swanlab-secret-key"), ("identities", "s3.json")):
        told = recorded.named(f"object-store-{role}").inputs["stringData"]
        assert key in told["value"]
        assert key not in told, "not wrapped as a secret"
    last = recorded.named("object-store-stateful-set")
    assert {"object-store-data", "object-store-identities", "object-store-keys"} <= set(last.depends_on)
    assert {r.name for r in recorded.resources if r.retained} == {"object-store-data"}
    assert recorded.outputs["object-store"] == {"service_name"}


def test_settings_become_arguments() -> None:
    wanted = Section.model_validate_json(
        json.dumps({"mode": "managed", "volume": "2Gi", "buckets": [{"name": "media", "public_read": True}]})
    )
    args = object_store_args(settings("prod"), wanted, {"object-store": ARGS.image})
    assert args.buckets == (Bucket(name="media", owner="media", public_read=True),)
    assert (args.volume_bytes, args.node_port, args.generation) == (2 * GIB, None, 1)


@pytest.mark.parametrize(
    "wrong",
    [{"node_port": 8333}, {"generation": 0}, {"buckets": [{"name": "ab"}]}, {"buckets": [{"name": "Upper"}]}, {"x": 1}],
)
def test_wrong_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Section.model_validate_json(json.dumps(wrong))
