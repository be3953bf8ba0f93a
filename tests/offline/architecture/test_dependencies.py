"""One package set: every dependency pinned with its reason, and a lock that follows from it."""

from __future__ import annotations

import re
import tomllib

import pytest

from cli.engine import ROOT

PYPROJECT = (ROOT / "pyproject.toml").read_text()
LOCK = (ROOT / "requirements.lock").read_text()


def canonical(name: str) -> str:
    """A package's name as PEP 503 spells it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def direct() -> dict[str, str]:
    """Direct dependency → pinned version, the tools of developers included."""
    project = tomllib.loads(PYPROJECT)["project"]
    items = [*project["dependencies"], *(i for extra in project["optional-dependencies"].values() for i in extra)]
    return {canonical(item.partition("==")[0]): item.partition("==")[2] for item in items}


def locked(text: str) -> dict[str, tuple[str, str]]:
    """Package → version and the rest of its entry in a lock."""
    entries = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.M)
    found = {}
    for entry in filter(None, entries):
        head = re.match(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?==(\S+)", entry)
        assert head is not None, f"not pinned: {entry.splitlines()[0]}"
        found[canonical(head[1])] = (head[2], entry[head.end() :])
    return found


def test_every_dependency_is_pinned_exactly() -> None:
    assert {name: version for name, version in direct().items() if not re.fullmatch(r"(\d+!)?\d[\w.]*", version)} == {}


def test_every_dependency_has_a_reason() -> None:
    lines = [line for line in PYPROJECT.splitlines() if re.match(r'\s+"[\w.-]+==', line)]
    assert len(lines) == len(direct())
    assert [line for line in lines if not re.search(r'",\s+# \S+ \S+', line)] == []


def test_lock_has_every_dependency_at_its_version() -> None:
    found = locked(LOCK)
    assert {name: found.get(name, ("missing", ""))[0] for name in direct()} == direct()


def test_lock_has_no_dependency_that_the_project_dropped() -> None:
    ours = {name for name, (_, rest) in locked(LOCK).items() if "plumbline" in rest}
    assert ours == set(direct())


def test_lock_has_a_hash_for_every_package() -> None:
    assert [
        name for name, (_, rest) in locked(LOCK).items() if not re.search(r"--hash=sha256:[0-9a-f]{64}", rest)
    ] == []


def test_lock_names_no_index() -> None:
    assert re.findall(r"^.*(?:--(?:extra-)?index-url|--find-links|https?://).*$", LOCK, re.M) == []


def test_entry_without_a_pin_is_seen() -> None:
    with pytest.raises(AssertionError, match="not pinned: requests>=2"):
        locked("requests>=2\n")
