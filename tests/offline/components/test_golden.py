"""The committed golden files are what the code renders now."""

from __future__ import annotations

import difflib
from typing import Any

import pytest

from components.objects import identity
from components.policy import violations
from tests.offline.components.golden import GOLDEN, NAMES, manifests, path, rendered


@pytest.mark.parametrize("stack", NAMES)
def test_golden_files_are_current(stack: str) -> None:
    old, new = path(stack).read_text(encoding="utf-8").splitlines(), rendered(stack).splitlines()
    diff = "\n".join(difflib.unified_diff(old, new, "committed", "rendered", n=2, lineterm=""))
    assert not diff, f"if this is wanted: python -m tests.offline.components.golden --write\n{diff}"


def test_there_is_a_golden_file_per_stack_and_no_other() -> None:
    assert {found.stem for found in GOLDEN.iterdir()} == set(NAMES)


@pytest.mark.parametrize("stack", NAMES)
def test_golden_manifests_keep_every_rule(stack: str) -> None:
    assert violations(manifests(stack)) == []


@pytest.mark.parametrize("stack", NAMES)
def test_no_two_objects_share_an_identity(stack: str) -> None:
    names = [identity(manifest) for manifest in manifests(stack)]
    assert len(names) == len(set(names))


EXPERIMENTS = {"plumbline-swanlab", "plumbline-recovery"}


@pytest.mark.parametrize("stack", NAMES)
def test_everything_namespaced_lies_in_one_of_the_stacks_namespaces(stack: str) -> None:
    """Node agents in their own, whose pods may mount paths of the node; SwanLab and its restore points in theirs; the
    rest where none may.
    """
    cluster_scoped = {"Namespace", "ClusterRole", "ClusterRoleBinding"}
    found: list[Any] = [m for m in manifests(stack) if m["kind"] not in cluster_scoped]
    there = {manifest["metadata"]["namespace"] for manifest in found}
    assert there == {"plumbline", "plumbline-node"} | (EXPERIMENTS if stack == "local" else set())
    agents = {m["metadata"]["name"] for m in found if m["metadata"]["namespace"] == "plumbline-node" and pod_of(m)}
    collectors = {"otel-agent"} if stack == "local" else set()
    assert agents == {"node-exporter"} | ({"dcgm-exporter"} if stack != "kind" else set()) | collectors


@pytest.mark.parametrize("stack", NAMES)
def test_every_container_is_probed_limited_and_pinned(stack: str) -> None:
    found: list[Any] = manifests(stack)
    containers = [c for manifest in found if (pod := pod_of(manifest)) for c in pod["containers"]]
    assert len(containers) >= 4
    for container in containers:
        assert {"readinessProbe", "livenessProbe"} & container.keys(), container["name"]
        assert "memory" in container["resources"]["limits"], container["name"]
        assert ":" in container["image"].rpartition("/")[2], container["name"]


@pytest.mark.parametrize("stack", NAMES)
def test_nothing_that_is_deployed_holds_a_secret(stack: str) -> None:
    """One kind of Secret has no content here: Kubernetes itself writes the token of an account into it."""
    found: list[Any] = [m for m in manifests(stack) if m["kind"] == "Secret"]
    assert [m for m in found if "data" in m or "stringData" in m] == []


def pod_of(manifest: dict[str, Any]) -> dict[str, Any]:
    """Specification of the pods that a workload makes; empty for anything else."""
    if manifest["kind"] not in ("StatefulSet", "Deployment", "DaemonSet"):
        return {}
    found: dict[str, Any] = manifest["spec"]["template"]["spec"]
    return found
