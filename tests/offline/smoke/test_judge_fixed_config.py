"""Pods run files that nobody changed: what they are started with, what lies there, and for which they were made."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from components.fixed_config import OWN_REVISION, fixed_config_map, render, revision_of, volume
from smoke.judge.fixed_config import fixed, mounted, revision
from stacks.contract import Collector, Endpoint

FILES = render("collector.yaml", f"revision: {OWN_REVISION}\nlimit: 1\n")
DEBUG = {"debug.yaml": "a: 1\n"}
NAME = f"thing-config-{FILES.revision}"
FIRST = revision_of(DEBUG)
ARGUMENTS = ("--config=/etc/otelcol/collector.yaml", "--config=/etc/debug/debug.yaml", "--feature-gates=a")
PROMISED = Collector(
    namespace="obs",
    kind="DaemonSet",
    name="thing",
    revision=FILES.revision,
    arguments=ARGUMENTS,
    debug_revision=FIRST,
    otlp=Endpoint(service="thing", port=4318),
    metrics_port=8888,
)

Json = dict[str, Any]


def config_maps() -> dict[str, Json | None]:
    """As they are in the cluster."""
    made = copy.deepcopy(fixed_config_map("thing-config", "obs", {}, FILES))
    made["metadata"]["uid"] = "one"
    meta = {"name": "debug", "uid": "two", "annotations": {"plumbline/config-revision": FIRST}}
    return {NAME: made, "debug": {"metadata": meta, "data": dict(DEBUG)}}


def pod(**annotations: str) -> Json:
    """One that was made for them."""
    own = {"plumbline/config-uid": "one", "plumbline/debug-uid": "two"}
    own |= {f"plumbline/{name.replace('_', '-')}": value for name, value in annotations.items()}
    mounts = [{"name": "config", "mountPath": "/etc/otelcol"}, {"name": "debug", "mountPath": "/etc/debug/"}]
    container = {"name": "thing", "args": [*ARGUMENTS], "volumeMounts": mounts}
    volumes = [
        {"name": "queue"},
        volume("thing-config", FILES.revision),
        {"name": "debug", "configMap": {"name": "debug"}},
    ]
    return {
        "metadata": {"name": "thing-0", "annotations": own},
        "spec": {"containers": [container], "volumes": volumes},
    }


def told(pods: list[Json], found: dict[str, Json | None], **promised: object) -> str:
    """What is wrong."""
    return "\n".join(map(str, fixed("agent", pods, found, "thing", PROMISED.model_copy(update=promised))))


def config(found: dict[str, Json | None]) -> Json:
    """The first."""
    made = found[NAME]
    assert made is not None
    return made


def debug(found: dict[str, Json | None]) -> Json:
    """The second."""
    made = found["debug"]
    assert made is not None
    return made


def test_smoke_counts_as_components_do() -> None:
    assert revision(FILES.files, FILES.revision) == FILES.revision
    assert revision(DEBUG) == FIRST


def test_what_is_as_rendered_is_in_order() -> None:
    assert mounted(pod(), "thing") == (NAME, "debug")
    assert told([pod(), pod()], config_maps()) == ""


@pytest.mark.parametrize(
    ("old", "new"), [("limit: 1", "limit: 2"), (f"revision: {FILES.revision}", "revision: r000000000000")]
)
def test_a_changed_file_is_red_whether_or_not_it_says_the_promised_revision(old: str, new: str) -> None:
    found = config_maps()
    data = config(found)["data"]
    data["collector.yaml"] = data["collector.yaml"].replace(old, new)
    said = told([pod()], found)
    assert f"ConfigMap {NAME}: seen files of revision r" in said
    assert f"expected of revision {FILES.revision}" in said


def test_another_file_beside_it_is_red() -> None:
    found = config_maps()
    config(found)["data"]["more.yaml"] = ""
    assert "files of revision" in told([pod()], found)


def test_what_can_be_changed_is_red() -> None:
    found = config_maps()
    del config(found)["immutable"]
    assert told([pod()], found) == f"ConfigMap {NAME}: seen can be changed; expected immutable: true"


@pytest.mark.parametrize(("annotation", "name"), [("config_uid", NAME), ("debug_uid", "debug")])
def test_a_pod_that_is_older_than_its_config_map_is_red(annotation: str, name: str) -> None:
    """Somebody deleted it, and made another of the same name and content: nobody knows what the pod has read."""
    said = told([pod(), pod(**{annotation: "another"})], config_maps())
    assert said.count(f"made for another ConfigMap {name} than the one that is there") == 1
    unmarked = pod()
    del unmarked["metadata"]["annotations"]
    assert f"made for another ConfigMap {name} than" in told([unmarked], config_maps())


def test_a_missing_config_map_is_red() -> None:
    assert f"ConfigMap {NAME}: seen missing; expected revision {FILES.revision}" in told(
        [pod()], {**config_maps(), NAME: None}
    )
    said = told([pod()], {**config_maps(), "debug": None})
    assert "agent, pod thing-0: seen its second file is of debug; expected of one that is there" in said


def test_pods_that_mount_none_or_another_are_red() -> None:
    bare = pod()
    bare["spec"]["volumes"] = None
    assert "seen configured by no ConfigMap; expected ConfigMap …-" in told([bare], config_maps())
    other = pod()
    other["spec"]["volumes"][1] = volume("evil", "r000000000000")
    said = told([other], config_maps())
    assert f"seen configured by evil-r000000000000; expected ConfigMap …-{FILES.revision}" in said
    assert "somebody made again" not in said


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("--config=/etc/evil/collector.yaml", *ARGUMENTS[1:]),
        (*ARGUMENTS, "--config=/etc/evil/more.yaml"),
        (*ARGUMENTS, "--set=processors::filter::x=y"),
        ARGUMENTS[::-1],
    ],
)
def test_a_program_that_is_started_otherwise_is_red(args: tuple[str, ...]) -> None:
    """What it mounts besides, and does not read, is no proof."""
    other = pod()
    other["spec"]["containers"][0]["args"] = [*args]
    assert "agent, pod thing-0: seen started with" in told([other], config_maps())
    assert f"expected {' '.join(ARGUMENTS)}" in told([other], config_maps())


def test_another_program_in_front_is_red() -> None:
    other = pod()
    other["spec"]["containers"][0]["command"] = ["/bin/evil"]
    assert "seen started with /bin/evil --config" in told([other], config_maps())


@pytest.mark.parametrize(
    "mount",
    [
        {"name": "evil", "mountPath": "/etc/otelcol/collector.yaml", "subPath": "collector.yaml"},
        {"name": "evil", "mountPath": "/etc/otelcol/collector.yaml"},
        {"name": "config", "mountPath": "/etc/otelcol/collector.yaml", "subPath": "collector.yaml"},
    ],
)
def test_a_file_that_is_laid_over_the_promised_one_is_red(mount: Json) -> None:
    other = pod()
    other["spec"]["containers"][0]["volumeMounts"].append(mount)
    other["spec"]["volumes"].append({"name": "evil", "emptyDir": {}})
    assert "seen configured by no ConfigMap" in told([other], config_maps())


def test_a_second_file_that_somebody_else_wrote_is_red() -> None:
    found = config_maps()
    debug(found)["data"]["debug.yaml"] = "a: 2\n"
    other = revision_of({"debug.yaml": "a: 2\n"})
    assert (
        told([pod()], found)
        == f"ConfigMap debug: seen revision {other}, by hand; expected revision {FIRST}, as it was written last"
    )


def test_a_second_file_that_the_word_wrote_is_in_order_once_the_pod_was_started_for_it() -> None:
    found = config_maps()
    debug(found)["data"]["debug.yaml"] = "a: 2\n"
    other = revision_of({"debug.yaml": "a: 2\n"})
    debug(found)["metadata"]["annotations"]["plumbline/config-revision"] = other
    assert told([pod(debug_revision=f"debug-{other}")], found) == ""
    late = f"agent, pod thing-0: seen started for revision {FIRST} of ConfigMap debug; expected revision {other}"
    assert told([pod()], found) == late
    # Written for another lowest level, whose ConfigMap is gone.
    assert told([pod(debug_revision=f"debug-warn-{other}")], found) == late


def test_a_second_file_that_nobody_wrote_yet_needs_no_note() -> None:
    found = config_maps()
    del debug(found)["metadata"]["annotations"]
    assert told([pod()], found) == ""


def test_a_contract_that_promises_no_arguments_is_of_another_release() -> None:
    assert "seen started with --config=" in told([pod()], config_maps(), arguments=())
