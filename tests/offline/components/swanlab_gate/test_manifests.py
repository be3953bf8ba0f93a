"""The gate: what its manifests decide, and that the program takes the command line that they write."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from components.images import ImagePin
from components.objects import identity
from components.policy import violations
from components.prometheus.args import Resources
from components.secrets import Existing
from components.swanlab_gate.args import SwanlabGateArgs
from components.swanlab_gate.component import SwanlabGate
from components.swanlab_gate.manifests import arguments, manifests
from components.swanlab_gate.parts import Stores, parts
from gate.model import KINDS
from gate.settings import parse
from signals.yamltext import dump
from tests.offline.components.pulumi_mocks import record

RELEASE = "swanlab-self-hosted"
ARGS = SwanlabGateArgs(
    namespace="plumbline",
    swanlab_namespace="plumbline-swanlab",
    image=ImagePin(reference="plumbline.local/swanlab-gate:1-0123abcd"),
    parts=parts(RELEASE, Stores.of_chart(RELEASE)),
    licence_url=f"http://{RELEASE}-server:3000",
    api_key=Existing(name="swanlab-api-key", key="api-key"),
    resources=Resources(cpu_request="10m", memory_request="48Mi", memory_limit="128Mi"),
    network_policies=True,
)
GOLDEN = Path(__file__).with_name("golden.yaml")


def pod(args: SwanlabGateArgs = ARGS) -> dict[str, Any]:
    found: dict[str, Any] = manifests(args)["deployment"]["spec"]["template"]["spec"]
    return found


def test_golden_manifests_are_current() -> None:
    """After a wanted change: the failing assertion shows the new text, which replaces the file."""
    shown = "".join(f"---\n{dump(m)}" for m in sorted(manifests(ARGS).values(), key=identity))
    assert GOLDEN.read_text(encoding="utf-8") == shown
    assert len(list(yaml.safe_load_all(shown))) == 3


def test_no_rule_is_broken() -> None:
    assert violations(manifests(ARGS).values()) == []


def test_program_takes_the_command_line() -> None:
    settings = parse(arguments(ARGS))
    assert [(p.name, p.kind, p.address, p.body) for p in settings.parts] == [
        (p.name, p.kind, p.address, p.body) for p in ARGS.parts
    ]
    # A bare port is asked only of a store of somebody else.
    assert {part.kind for part in settings.parts} == set(KINDS) - {"tcp"}
    assert settings.key_file == Path("/etc/swanlab-api-key/api-key")


def test_every_part_of_the_chart_is_asked_where_it_answers() -> None:
    asked = {part.name: part.address for part in ARGS.parts}
    assert asked == {
        "postgres": "swanlab-self-hosted-postgres:5432",
        "redis": "swanlab-self-hosted-redis:6379",
        "clickhouse": "http://swanlab-self-hosted-clickhouse:8123/ping",
        "s3": "http://swanlab-self-hosted-s3:9000/minio/health/live",
        "vector": "http://swanlab-self-hosted-vector:8686/",
        "server": "http://swanlab-self-hosted-server:3000/api",
        "auth": "http://swanlab-self-hosted-auth:3000/api/auth/health",
        "house": "http://swanlab-self-hosted-house:3000/api/house/health",
        "next": "http://swanlab-self-hosted-next/",
        "cloud": "http://swanlab-self-hosted-cloud/",
        "gateway": "http://swanlab-self-hosted/",
        "gateway-api": "http://swanlab-self-hosted/api",
        "gateway-internal": "http://swanlab-self-hosted/api/internal",
        "gateway-house-internal": "http://swanlab-self-hosted/api/house/internal",
    }


def test_store_of_somebody_else_is_asked_by_its_port_where_no_page_is_known() -> None:
    outside = replace(Stores.of_chart(RELEASE), s3="s3.example.com:443", postgres="db.example.com:5432")
    found = {part.name: part for part in parts(RELEASE, outside)}
    assert (found["s3"].kind, found["s3"].address) == ("tcp", "s3.example.com:443")
    assert found["postgres"].address == "db.example.com:5432"


def test_key_is_a_file_that_may_come_later_and_no_variable() -> None:
    (volume,) = pod()["volumes"]
    assert (volume["secret"]["secretName"], volume["secret"]["optional"]) == ("swanlab-api-key", True)
    assert "env" not in pod()["containers"][0]


def test_readiness_is_that_of_swanlab_and_liveness_is_its_own() -> None:
    container = pod()["containers"][0]
    assert container["readinessProbe"]["httpGet"]["path"] == "/ready"
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"


def test_stack_alone_reaches_it() -> None:
    policy = manifests(ARGS)["network-policy"]
    (origin,) = policy["spec"]["ingress"][0]["from"]
    assert policy["metadata"]["namespace"] == "plumbline-swanlab"
    assert origin["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "plumbline"}
    assert "network-policy" not in manifests(replace(ARGS, network_policies=False))


def test_component_registers_the_deployment_last() -> None:
    recorded = record(lambda: SwanlabGate("swanlab-gate", ARGS))
    last = recorded.named("swanlab-gate-deployment")
    assert {"swanlab-gate-service", "swanlab-gate-network-policy"} <= set(last.depends_on)
    assert recorded.outputs["swanlab-gate"] == {"service_name"}
