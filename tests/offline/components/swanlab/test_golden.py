"""The committed golden files of SwanLab are what the code renders now, and keep every rule."""

from __future__ import annotations

import difflib

import pytest

from components.objects import identity
from components.policy import violations
from components.swanlab.manifests import manifests
from tests.offline.components.swanlab.golden import GOLDEN, NAMES, path, rendered

ACCEPTED = (
    "Namespace/plumbline-swanlab: lets in pods of level baseline; "
    "accepted: pod-security.kubernetes.io/enforce restricted",
    "Job/plumbline-swanlab/swanlab-postgres-rotation-2: container rotate has no readinessProbe",
)
"""What components/policy_exceptions.py lets pass: containers of the chart prepare volumes as root, and a Job that ends
has nobody who waits until it is ready."""


@pytest.mark.parametrize("name", NAMES)
def test_golden_files_are_current(name: str) -> None:
    old, new = path(name).read_text(encoding="utf-8").splitlines(), rendered(name).splitlines()
    diff = "\n".join(difflib.unified_diff(old, new, "committed", "rendered", n=2, lineterm=""))
    assert not diff, f"if this is wanted: python -m tests.offline.components.swanlab.golden --write\n{diff}"


def test_there_is_a_golden_file_per_example_and_no_other() -> None:
    assert {found.stem for found in GOLDEN.iterdir()} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_manifests_keep_every_rule(name: str) -> None:
    assert set(violations(manifests(NAMES[name]()).values())) <= set(ACCEPTED)


@pytest.mark.parametrize("name", NAMES)
def test_no_two_objects_share_an_identity(name: str) -> None:
    names = [identity(manifest) for manifest in manifests(NAMES[name]()).values()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", NAMES)
def test_no_secret_is_in_a_golden_file(name: str) -> None:
    assert "stringData" not in path(name).read_text(encoding="utf-8")
