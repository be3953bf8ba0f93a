"""Pods run files that nobody changed: the files' hash, that they cannot be changed, and for which pods were made."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from components.fixed_config import OWN_REVISION, fixed_config_map, render, volume
from smoke.judge.fixed_config import fixed, mounted, revision

FILES = render("collector.yaml", f"revision: {OWN_REVISION}\nlimit: 1\n")
NAME = f"thing-config-{FILES.revision}"


def config_map() -> dict[str, Any]:
    """As it is in the cluster."""
    made = copy.deepcopy(fixed_config_map("thing-config", "obs", {}, FILES))
    made["metadata"]["uid"] = "one"
    return made


def pod(uid: str = "one") -> dict[str, Any]:
    """One that was made for it."""
    meta = {"name": "thing-0", "annotations": {"plumbline/config-uid": uid}}
    return {"metadata": meta, "spec": {"volumes": [{"name": "queue"}, volume("thing-config", FILES.revision)]}}


def told(pods: list[dict[str, Any]], found: dict[str, Any] | None, expected: str = FILES.revision) -> str:
    """What is wrong."""
    return "\n".join(map(str, fixed("gateway", pods, {NAME: found}, expected)))


def test_smoke_counts_as_components_do() -> None:
    assert revision(FILES.files, FILES.revision) == FILES.revision


def test_what_is_as_rendered_is_in_order() -> None:
    assert mounted(pod()) == NAME
    assert told([pod(), pod()], config_map()) == ""


@pytest.mark.parametrize(
    ("old", "new"), [("limit: 1", "limit: 2"), (f"revision: {FILES.revision}", "revision: r000000000000")]
)
def test_a_changed_file_is_red_whether_or_not_it_says_the_promised_revision(old: str, new: str) -> None:
    found = config_map()
    found["data"]["collector.yaml"] = found["data"]["collector.yaml"].replace(old, new)
    said = told([pod()], found)
    assert f"ConfigMap {NAME}: seen files of revision r" in said
    assert f"expected of revision {FILES.revision}" in said


def test_another_file_beside_it_is_red() -> None:
    found = config_map()
    found["data"]["more.yaml"] = ""
    assert "files of revision" in told([pod()], found)


def test_what_can_be_changed_is_red() -> None:
    found = config_map()
    del found["immutable"]
    assert told([pod()], found) == f"ConfigMap {NAME}: seen can be changed; expected immutable: true"


def test_a_pod_that_is_older_than_its_config_map_is_red() -> None:
    """Somebody deleted it, and made another of the same name and content: nobody knows what the pod has read."""
    said = told([pod(), pod("another")], config_map())
    assert said.count("somebody made again; expected made for the one that is there") == 1
    unmarked = pod()
    del unmarked["metadata"]["annotations"]
    assert "somebody made again" in told([unmarked], config_map())


def test_a_missing_config_map_is_red() -> None:
    said = told([pod()], None)
    assert f"ConfigMap {NAME}: seen missing; expected revision {FILES.revision}" in said
    assert f"gateway, pod thing-0: seen configured by {NAME}; expected by one that is there" in said


def test_pods_that_mount_none_or_another_are_red() -> None:
    bare = pod()
    bare["spec"]["volumes"] = None
    assert "seen configured by no ConfigMap" in told([bare], config_map())
    said = told([pod()], config_map(), "r000000000000")
    assert "expected of revision r000000000000" in said
