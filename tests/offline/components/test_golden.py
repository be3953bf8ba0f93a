"""The committed golden files are what the code renders now."""

from __future__ import annotations

import difflib
from typing import Any

import pytest

from components.objects import identity
from components.policy import violations
from tests.offline.components.golden import GOLDEN, manifests, path, rendered
from tests.offline.stacks.examples import STACKS


@pytest.mark.parametrize("stack", STACKS)
def test_golden_files_are_current(stack: str) -> None:
    old, new = path(stack).read_text(encoding="utf-8").splitlines(), rendered(stack).splitlines()
    diff = "\n".join(difflib.unified_diff(old, new, "committed", "rendered", n=2, lineterm=""))
    assert not diff, f"if this is wanted: python -m tests.offline.components.golden --write\n{diff}"


def test_there_is_a_golden_file_per_stack_and_no_other() -> None:
    assert {found.stem for found in GOLDEN.iterdir()} == set(STACKS)


@pytest.mark.parametrize("stack", STACKS)
def test_golden_manifests_keep_every_rule(stack: str) -> None:
    assert violations(manifests(stack)) == []


@pytest.mark.parametrize("stack", STACKS)
def test_no_two_objects_share_an_identity(stack: str) -> None:
    names = [identity(manifest) for manifest in manifests(stack)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("stack", STACKS)
def test_everything_namespaced_lies_in_the_stacks_namespace(stack: str) -> None:
    cluster_scoped = {"Namespace", "ClusterRole", "ClusterRoleBinding"}
    found: list[Any] = [m for m in manifests(stack) if m["kind"] not in cluster_scoped]
    assert {manifest["metadata"]["namespace"] for manifest in found} == {"plumbline"}
