"""The committed golden files of Grafana are what the code renders now, and keep the rules."""

from __future__ import annotations

import difflib

import pytest

from components.objects import identity
from components.policy import violations
from tests.offline.components.grafana.golden import GOLDEN, NAMES, found, path, rendered


@pytest.mark.parametrize("name", NAMES)
def test_golden_files_are_current(name: str) -> None:
    old, new = path(name).read_text(encoding="utf-8").splitlines(), rendered(name).splitlines()
    diff = "\n".join(difflib.unified_diff(old, new, "committed", "rendered", n=2, lineterm=""))
    assert not diff, f"if this is wanted: python -m tests.offline.components.grafana.golden --write\n{diff}"


def test_there_is_a_golden_file_per_name_and_no_other() -> None:
    assert {one.stem for one in GOLDEN.iterdir()} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_rule_is_kept(name: str) -> None:
    assert violations(found(name)) == []
    names = [identity(manifest) for manifest in found(name)]
    assert len(names) == len(set(names))
