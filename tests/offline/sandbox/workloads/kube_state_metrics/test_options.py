"""The command line: upstream's flags are understood, all others refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.workloads.kube_state_metrics.families import RESOURCES
from sandbox.workloads.kube_state_metrics.options import OptionError, parse


def test_defaults_are_upstreams() -> None:
    options = parse([])
    assert (options.host, options.port, options.telemetry_host, options.telemetry_port) == ("::", 8080, "::", 8081)
    assert options.resources == tuple(sorted(RESOURCES))
    assert (options.namespaces, options.labels, options.kubeconfig) == ((), {}, None)
    assert options.exposes("kube_pod_info")


def test_everything_given() -> None:
    options = parse(
        [
            *("--port=9080", "--telemetry-port", "9081", "--host=127.0.0.1", "--telemetry-host=127.0.0.2"),
            *("--kubeconfig=/etc/kube", "--resources=pods, nodes,", "--resources=pods", "--namespaces=b,a,b"),
        ]
    )
    assert (options.host, options.port, options.telemetry_host, options.telemetry_port) == (
        *("127.0.0.1", 9080),
        *("127.0.0.2", 9081),
    )
    assert options.kubeconfig == Path("/etc/kube")
    assert options.resources == ("nodes", "pods")
    assert options.namespaces == ("b", "a")


@pytest.mark.parametrize(
    ("flag", "family", "exposed"),
    [
        ("--metric-allowlist=kube_pod_info,kube_node_.*", "kube_node_info", True),
        ("--metric-allowlist=kube_pod_info", "kube_pod_owner", False),
        ("--metric-denylist=^kube_pod_.+$", "kube_pod_owner", False),
        ("--metric-denylist=^kube_pod_(?!owner)", "kube_pod_owner", True),
        ("--metric-denylist=quota", "kube_resourcequota", False),  # upstream's expressions match anywhere, too
    ],
)
def test_families_are_allowed_and_denied(flag: str, family: str, exposed: bool) -> None:  # noqa: FBT001  # a case
    assert parse([flag]).exposes(family) is exposed


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("", {}),
        ("pods=[a,b/c.d]", {"pods": ("a", "b/c.d")}),
        ("pods=[a],namespaces=[plumbline.dev/team]", {"pods": ("a",), "namespaces": ("plumbline.dev/team",)}),
        ("pods=[*], nodes=[]", {"pods": ("*",), "nodes": ()}),
        ("*=[team],pods=[a]", {"namespaces": ("team",), "nodes": ("team",), "pods": ("team",)}),
    ],
)
def test_labels_are_allowed_per_resource(text: str, labels: dict[str, tuple[str, ...]]) -> None:
    assert parse([f"--metric-labels-allowlist={text}"]).labels == labels


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--shard=1"],
            "unrecognized arguments: --shard=1; this stand-in for kube-state-metrics accepts --help, --host",
        ),
        (["--res=pods"], "unrecognized arguments: --res=pods"),
        (["--port=http"], "--port=http is no port; accepted is a number from 0 to 65535"),
        (["--telemetry-port=65536"], "--telemetry-port=65536 is no port"),
        (["--resources=pods,secrets"], "--resources: secrets is not known to this stand-in; accepted are cronjobs, "),
        (["--metric-denylist=a("], "--metric-denylist: a\\( is no regular expression"),
        (["--metric-denylist=a", "--metric-allowlist=b"], "exclude each other: give one of them"),
        (["--metric-labels-allowlist=jobs=[a]"], "has no labels of jobs; accepted are namespaces, nodes, pods and \\*"),
        (["--metric-labels-allowlist=secrets=[a]"], "has no labels of secrets"),
        (["--metric-labels-allowlist=pods"], "cannot be read from character 1; accepted is resource="),
        (["--metric-labels-allowlist=pods=[a],"], "cannot be read from character 1"),
        (["--metric-labels-allowlist=pods=[a]nodes=[b]"], "cannot be read"),
        (["--metric-labels-allowlist=pods=[a],nodes=b"], "cannot be read from character 10"),
    ],
)
def test_what_is_not_understood_is_refused(arguments: list[str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        parse(arguments)
