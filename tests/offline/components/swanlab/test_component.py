"""What is registered with the engine: in which order, with which secrets, and what outlives the stack."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pulumi
import pytest

from components.secrets import derive, fingerprint
from components.swanlab.args import Chart, OwnStore, SwanlabArgs
from components.swanlab.component import Swanlab
from components.swanlab.values import values
from tests.offline.components.pulumi_mocks import Recording, record
from tests.offline.components.swanlab.examples import elsewhere, local, whole

ROOT = "0123456789abcdef" * 4


def registered(args: SwanlabArgs) -> Recording:
    return record(lambda: Swanlab("swanlab", args, pulumi.Output.from_input(ROOT)))


def plain(value: Any) -> Any:  # noqa: ANN401  # whatever the engine was given
    """What the engine was given, with the marks of secrets taken off."""
    if pulumi.runtime.rpc.is_rpc_secret(value):
        return plain(pulumi.runtime.rpc.unwrap_rpc_secret(value))
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def secrets(found: Recording) -> dict[str, dict[str, str]]:
    """Name of each Secret → what it holds."""
    made = found.of_type(":Secret")
    return {plain(one.inputs["metadata"])["name"]: plain(one.inputs["stringData"]) for one in made}


def test_release_is_pinned_and_waits_for_everything_it_needs() -> None:
    found = registered(local())
    release = found.named("swanlab-release")
    assert release.type == "kubernetes:helm.sh/v3:Release"
    assert release.inputs["name"] == "swanlab-self-hosted"
    assert release.inputs["namespace"] == "plumbline-swanlab"
    assert release.inputs["chart"] == "/charts/self-hosted"
    needed = {one.name for one in found.resources if one.parent == "swanlab"} - {"swanlab-release"}
    assert set(release.depends_on) == needed
    assert {"swanlab-namespace", "swanlab-claim-postgres", "swanlab-secret-s3", "swanlab-network-internal"} <= needed


def test_official_chart_comes_from_its_repository_at_its_version() -> None:
    inputs = registered(whole()).named("swanlab-release").inputs
    assert (inputs["chart"], inputs["version"]) == ("self-hosted", "0.6.2")
    assert inputs["repositoryOpts"] == {"repo": "https://charts.example.org"}


def test_everything_lies_in_the_namespace_that_comes_first() -> None:
    found = registered(local())
    others = [one for one in found.resources if one.parent == "swanlab" and one.name != "swanlab-namespace"]
    assert all("swanlab-namespace" in one.depends_on for one in others)
    assert len(others) > 10


def test_namespace_claims_and_places_outlive_the_stack_and_nothing_else() -> None:
    found = registered(whole())
    kept = {one.name for one in found.resources if one.retained}
    stores = {f"swanlab-claim-{store}" for store in ("postgres", "redis", "clickhouse", "s3")}
    buffers = {"swanlab-claim-buffer-0", "swanlab-claim-buffer-1"}
    assert kept == {"swanlab-namespace", "swanlab-places"} | buffers | stores


def test_rotation_comes_between_the_secrets_and_the_release() -> None:
    found = registered(whole())
    job = found.named("swanlab-postgres-rotation")
    assert {"swanlab-secret-postgres", "swanlab-secret-rotation", "swanlab-rotation-script"} <= set(job.depends_on)
    assert "swanlab-postgres-rotation" in found.named("swanlab-release").depends_on
    assert plain(job.inputs["metadata"])["name"] == "swanlab-postgres-rotation-2"


def test_first_generation_rotates_nothing() -> None:
    names = {one.name for one in registered(local()).resources}
    assert not {name for name in names if "rotation" in name}


def test_passwords_are_derived_by_role_and_generation() -> None:
    found = secrets(registered(whole()))
    password = derive(ROOT, "swanlab-postgres", 2)
    url = f"postgresql://swanlab:{password}@swanlab-self-hosted-postgres:5432/app"
    assert found["swanlab-postgres"] == {
        "username": "swanlab",
        "password": password,
        "primaryUrl": url,
        "replicaUrl": url,
    }
    assert found["swanlab-redis"] == {"url": "redis://swanlab-self-hosted-redis:6379/0"}
    assert found["swanlab-clickhouse"] == {"username": "swanlab", "password": derive(ROOT, "swanlab-clickhouse", 3)}
    assert found["swanlab-s3"] == {"accessKey": "swanlab", "secretKey": derive(ROOT, "swanlab-s3", 1)}
    assert found["swanlab-postgres-rotation"] == {"previous": derive(ROOT, "swanlab-postgres", 1)}


def test_job_of_a_later_generation_knows_every_password_before_it() -> None:
    args = replace(whole(), postgres=OwnStore(volume="1Gi", generation=4))
    known = secrets(registered(args))["swanlab-postgres-rotation"]["previous"]
    assert known.split(" ") == [derive(ROOT, "swanlab-postgres", number) for number in (3, 2, 1)]


def test_claims_whose_data_knows_passwords_say_of_which_root_secret() -> None:
    found = registered(whole())
    told = {
        one.name: plain(one.inputs["metadata"])["annotations"].get("plumbline/root") for one in found.of_type("Claim")
    }
    of_root = fingerprint(ROOT)
    assert told == {
        **{f"swanlab-claim-{store}": of_root for store in ("postgres", "clickhouse", "s3")},
        **dict.fromkeys(("swanlab-claim-redis", "swanlab-claim-buffer-0", "swanlab-claim-buffer-1")),
    }
    metadata = found.named("swanlab-claim-postgres").inputs["metadata"]
    assert not pulumi.runtime.rpc.is_rpc_secret(metadata["annotations"]["plumbline/root"])


def test_keys_of_the_stacks_own_object_store_are_its_own() -> None:
    found = secrets(registered(local()))
    assert found["swanlab-s3"] == {"accessKey": "swanlab", "secretKey": derive(ROOT, "object-store-swanlab", 1)}


def test_stores_elsewhere_get_no_secret_and_no_claim_from_us() -> None:
    found = registered(elsewhere())
    assert secrets(found) == {}
    assert {one.name for one in found.resources if one.retained} == {
        "swanlab-namespace",
        "swanlab-places",
        "swanlab-claim-buffer-0",
        "swanlab-claim-buffer-1",
    }


def test_values_hold_no_secret_where_the_chart_takes_one() -> None:
    given = registered(local()).named("swanlab-release").inputs["values"]
    assert not pulumi.runtime.rpc.is_rpc_secret(given)
    assert plain(given) == values(local())


def test_passwords_in_values_are_secrets_of_the_engine() -> None:
    given = registered(whole()).named("swanlab-release").inputs["values"]
    assert pulumi.runtime.rpc.is_rpc_secret(given)
    stores = plain(given)["dependencies"]
    assert stores["postgres"]["password"] == derive(ROOT, "swanlab-postgres", 2)
    assert stores["clickhouse"]["username"] == "swanlab"
    assert stores["s3"]["secretKey"] == derive(ROOT, "swanlab-s3", 1)
    assert "url" not in stores["redis"]


@pytest.mark.parametrize("takes", [True, False])
def test_no_password_is_outside_of_secrets_and_secret_values(*, takes: bool) -> None:
    chart = Chart(version="0.6.2", path="/charts/self-hosted", takes_secrets=takes)
    args = replace(whole(), chart=chart, postgres=OwnStore(volume="1Gi", generation=3))
    canaries = [derive(ROOT, f"swanlab-{store}", g) for store in ("postgres", "clickhouse", "s3") for g in (1, 2, 3)]
    for one in registered(args).resources:
        visible = {key: value for key, value in one.inputs.items() if not pulumi.runtime.rpc.is_rpc_secret(value)}
        assert [canary for canary in canaries if canary in str(visible)] == [], one.name


def test_secrets_are_made_in_swanlabs_namespace() -> None:
    made = registered(whole()).of_type(":Secret")
    assert {plain(one.inputs["metadata"])["namespace"] for one in made} == {"plumbline-swanlab"}


def test_component_tells_where_it_is_reached() -> None:
    assert registered(local()).outputs["swanlab"] == {"service_name", "namespace"}
