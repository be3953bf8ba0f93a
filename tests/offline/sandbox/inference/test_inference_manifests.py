"""Objects for a cluster: one Deployment and one Service per role, restricted, with identity from the downward API."""

from __future__ import annotations

from typing import Any

import pytest

from components import policy
from sandbox.workloads.inference import ROLES
from sandbox.workloads.inference.manifests import manifests
from sandbox.workloads.inference.options import parse

IMAGE = "plumbline.local/inference-stand-in:0.33.0-00000000"
ENDPOINT = "http://otel-agent.nodes.svc:4318"


def made(**more: Any) -> list[dict[str, Any]]:  # noqa: ANN401  # what the function takes
    """Objects with everything given that must be."""
    return manifests(IMAGE, namespace="team-a", endpoint=ENDPOINT, **more)


def container(objects: list[dict[str, Any]], role: str) -> dict[str, Any]:
    """The container of a role."""
    (found,) = [o for o in objects if o["kind"] == "Deployment" and o["metadata"]["name"] == f"inference-{role}"]
    (only,) = found["spec"]["template"]["spec"]["containers"]
    return dict(only)


def test_every_role_has_a_deployment_and_a_service() -> None:
    found = [(o["kind"], o["metadata"]["name"], o["metadata"]["namespace"]) for o in made()]
    assert found == [
        (kind, f"inference-{role}", "team-a")
        for role in ("gateway", "router", "prefill", "decode", "retrieval")
        for kind in ("Deployment", "Service")
    ]


def test_services_find_their_pods() -> None:
    objects = made()
    for deployment, service in zip(objects[::2], objects[1::2], strict=True):
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        assert service["spec"]["selector"].items() <= labels.items()
        assert deployment["spec"]["selector"]["matchLabels"] == service["spec"]["selector"]
        assert service["spec"]["ports"] == [{"name": "http", "port": 8000, "targetPort": "http"}]


@pytest.mark.parametrize("role", ROLES)
def test_arguments_are_those_that_the_program_takes(role: str) -> None:
    options = parse(container(made(logs="both"), role)["args"])
    assert (options.role, options.port, options.logs) == (role, 8000, "both")
    addresses = {
        "gateway": {"router": "http://inference-router:8000", "retrieval": "http://inference-retrieval:8000"},
        "router": {"prefill": "http://inference-prefill:8000", "decode": "http://inference-decode:8000"},
    }
    assert {name: found[0] for name, found in options.addresses.items() if found} == addresses.get(role, {})


def test_resource_comes_from_the_downward_api() -> None:
    env = container(made(), "router")["env"]
    fields = {item["name"]: item["valueFrom"]["fieldRef"]["fieldPath"] for item in env if "valueFrom" in item}
    assert fields == {
        "POD_NAME": "metadata.name",
        "POD_NAMESPACE": "metadata.namespace",
        "POD_UID": "metadata.uid",
        "POD_IP": "status.podIP",
        "NODE_NAME": "spec.nodeName",
    }
    plain = {item["name"]: item["value"] for item in env if "value" in item}
    assert plain == {
        "OTEL_EXPORTER_OTLP_ENDPOINT": ENDPOINT,
        "OTEL_RESOURCE_ATTRIBUTES": (
            "service.name=inference-router,service.namespace=inference,"
            "service.instance.id=$(POD_NAMESPACE).$(POD_NAME).inference,k8s.namespace.name=$(POD_NAMESPACE),"
            "k8s.pod.name=$(POD_NAME),k8s.pod.uid=$(POD_UID),k8s.node.name=$(NODE_NAME),k8s.container.name=inference"
        ),
    }
    # What the kubelet fills in must be known before it is used.
    assert [item["name"] for item in env].index("NODE_NAME") < [item["name"] for item in env].index(
        "OTEL_RESOURCE_ATTRIBUTES"
    )


def test_metrics_can_be_left_to_scrapes() -> None:
    assert {"name": "OTEL_METRICS_EXPORTER", "value": "none"} in container(made(metrics=False), "decode")["env"]


def test_identity_is_on_pods_and_in_the_resource() -> None:
    objects = made(identity={"team": "search", "run_id": "run-7"}, resource={"note": "a,b=c d"})
    labels = objects[0]["spec"]["template"]["metadata"]["labels"]
    assert (labels["plumbline.dev/team"], labels["plumbline.dev/run-id"]) == ("search", "run-7")
    text = next(e["value"] for e in container(objects, "gateway")["env"] if e["name"] == "OTEL_RESOURCE_ATTRIBUTES")
    assert text.endswith(",team=search,run_id=run-7,note=a%2Cb%3Dc%20d")


def test_key_that_is_no_identity_is_refused() -> None:
    with pytest.raises(ValueError, match="identity has prompt; accepted are team"):
        made(identity={"prompt": "x"})


def test_decode_alone_has_replicas() -> None:
    found = {o["metadata"]["name"]: o["spec"]["replicas"] for o in made(decode_replicas=3) if o["kind"] == "Deployment"}
    assert found == {
        "inference-gateway": 1,
        "inference-router": 1,
        "inference-prefill": 1,
        "inference-decode": 3,
        "inference-retrieval": 1,
    }


@pytest.mark.parametrize(
    "rule",
    [
        *(policy.image_is_pinned, policy.runs_as_non_root, policy.root_is_read_only, policy.has_no_privileges),
        *(policy.stays_off_the_node, policy.is_not_exposed),
    ],
)
def test_pods_are_restricted(rule: Any) -> None:  # noqa: ANN401  # a rule of the policy
    assert [complaint for manifest in made() for complaint in rule(manifest)] == []
