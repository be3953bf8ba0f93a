"""Files that a program reads once: named by their hash, and unchangeable."""

from __future__ import annotations

import hashlib

import pytest
import yaml

from components.errors import DeployError
from components.fixed_config import OWN_REVISION, fixed_config_map, render, revision_of, volume


def test_the_revision_is_the_hash_of_the_file_with_the_word_in_its_place() -> None:
    found = render("a.yaml", f"says: {OWN_REVISION}\n")
    expected = "r" + hashlib.sha256(b"a.yaml\0says: revision-of-this-file\n\0").hexdigest()[:12]
    assert found.revision == expected
    assert found.files == {"a.yaml": f"says: {expected}\n"}


def test_whoever_has_the_file_can_work_the_revision_out() -> None:
    found = render("a.yaml", f"says: {OWN_REVISION}\nlimit: 1\n")
    (text,) = found.files.values()
    assert revision_of({"a.yaml": text.replace(found.revision, OWN_REVISION)}) == found.revision
    changed = text.replace("limit: 1", "limit: 2").replace(found.revision, OWN_REVISION)
    assert revision_of({"a.yaml": changed}) != found.revision


def test_no_revision_is_a_number_to_yaml() -> None:
    """`12e456789012` is one to some readers, `123456789012` to all."""
    for number in range(5000):
        text = render("a.yaml", f"says: {OWN_REVISION}\nnumber: {number}\n").files["a.yaml"]
        said = yaml.safe_load(text)["says"]
        assert isinstance(said, str)
        assert said[0] == "r"


def test_more_than_a_config_map_takes_is_refused_before_anything_changes() -> None:
    fixed_config_map("thing-config", "obs", {}, render("a.yaml", "é" * 2**19))
    with pytest.raises(DeployError, match=r"a\.yaml of 1048577 bytes; accepted are 1048576"):
        fixed_config_map("thing-config", "obs", {}, render("a.yaml", "é" * 2**19 + "x"))


def test_the_config_map_has_its_revision_in_its_name_and_cannot_be_changed() -> None:
    found = render("a.yaml", "a: 1\n")
    made = fixed_config_map("thing-config", "obs", {"app": "thing"}, found)
    assert made == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": f"thing-config-{found.revision}", "labels": {"app": "thing"}, "namespace": "obs"},
        "data": {"a.yaml": "a: 1\n"},
        "immutable": True,
    }
    mounted = {"name": "config", "configMap": {"name": f"thing-config-{found.revision}"}}
    assert volume("thing-config", found.revision) == mounted
