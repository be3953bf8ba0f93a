"""A configuration that is broken, or that tells the wrong people, is refused before anything is registered."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from components.alertmanager.config import render
from components.alertmanager.lint import PROBES, amtool, complaints, lint
from components.errors import DeployError
from components.rendered import Rendered
from signals.alertmanager_config import CONFIG_FILE
from signals.routing import RECEIVERS
from signals.yamltext import dump
from tests.offline.components.alertmanager_examples import ARGS
from tests.offline.programs import require

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Json = dict[str, Any]


@pytest.fixture(autouse=True)
def _amtool() -> None:
    require("amtool")


def loaded() -> Json:
    found: Json = yaml.safe_load(render(ARGS).files[CONFIG_FILE])
    return found


def changed(change: Callable[[Json], object]) -> Rendered:
    document = loaded()
    change(document)
    return Rendered(files={CONFIG_FILE: dump(document)}, revision="0" * 12)


def routes(route: Json) -> list[Json]:
    return [route, *(found for below in route.get("routes", ()) for found in routes(below))]


def drop_routes_to(name: str) -> Callable[[Json], object]:
    def drop(document: Json) -> None:
        for route in routes(document["route"]):
            route["routes"] = [below for below in route.get("routes", ()) if below.get("receiver") != name]

    return drop


def test_what_is_rendered_passes() -> None:
    lint(ARGS, render(ARGS))


def test_every_receiver_is_probed() -> None:
    assert {receiver for _, accepted in PROBES for receiver in accepted} == set(RECEIVERS)


def test_unknown_key_is_refused_in_the_words_of_amtool() -> None:
    rendered = changed(lambda document: document["route"].update(recevier="P1"))
    with pytest.raises(DeployError, match=r"(?s)`amtool check-config alertmanager\.yml` refuses.*recevier"):
        lint(ARGS, rendered)


def test_undefined_receiver_is_refused_by_name() -> None:
    rendered = changed(lambda document: document["route"]["routes"].append({"receiver": "nobody"}))
    with pytest.raises(DeployError, match=r'undefined receiver "nobody" used in route'):
        lint(ARGS, rendered)


def test_broken_matcher_is_refused() -> None:
    rendered = changed(lambda document: document["route"]["routes"][0].update(matchers=["severity=~'['"]))
    with pytest.raises(DeployError, match=r"`amtool check-config alertmanager\.yml` refuses"):
        lint(ARGS, rendered)


def test_broken_template_in_an_address_is_refused() -> None:
    rendered = changed(lambda document: document["receivers"][2]["webhook_configs"][0].update(url="https://{{ .x"))
    with pytest.raises(DeployError, match="invalid template syntax"):
        lint(ARGS, rendered)


@pytest.mark.parametrize("name", ["P0", "P2", "P3", "watchdog"])
def test_a_severity_whose_route_is_gone_is_named(name: str) -> None:
    with pytest.raises(DeployError, match=rf"no route leads to receiver `{name}`") as caught:
        lint(ARGS, changed(drop_routes_to(name)))
    assert f"accepted is {name}" in str(caught.value)


def test_swapped_receivers_are_seen() -> None:
    def swap(document: Json) -> None:
        names = {"P0": "P3", "P3": "P0"}
        for route in routes(document["route"]):
            route["receiver"] = names.get(route.get("receiver", ""), route.get("receiver"))

    with pytest.raises(
        DeployError,
        match=r"alertname=NodeNotReady, cluster=c, node=n goes to `P3`; accepted is P0",
    ):
        lint(ARGS, changed(swap))


def test_a_root_that_swallows_is_refused() -> None:
    with pytest.raises(DeployError, match=r"the root route tells `P3` of what no other route knows; accepted is P0 or"):
        lint(ARGS, changed(lambda document: document["route"].update(receiver="P3")))


def test_being_told_twice_is_refused() -> None:
    def twice(document: Json) -> None:
        document["route"]["routes"].insert(0, {"receiver": "P1", "matchers": ['severity="P0"'], "continue": True})

    with pytest.raises(DeployError, match=r"severity=P0, alertname=PageProof, proof=1 goes to `P1,P0`"):
        lint(ARGS, changed(twice))


def test_a_receiver_without_integration_is_refused() -> None:
    rendered = changed(lambda document: document["receivers"][3].pop("webhook_configs"))
    with pytest.raises(DeployError, match="receiver `P3` tells nobody"):
        lint(ARGS, rendered)


def test_a_route_that_is_muted_by_the_clock_is_refused() -> None:
    document = loaded()
    document["route"]["routes"][0]["mute_time_intervals"] = ["nights"]
    assert len(found := complaints(document, ARGS.retention)) == 1
    assert "has mute_time_intervals; accepted is a silence" in found[0]


def test_an_inhibition_across_clusters_is_refused() -> None:
    document = loaded()
    source, target = ['severity="P0"'], ['severity="P1"']
    rule = {"source_matchers": source, "target_matchers": target, "equal": ["node"]}
    document["inhibit_rules"] = [rule, {**rule, "equal": ["cluster", "node"]}]
    assert [line.partition(" lets")[0] for line in complaints(document, ARGS.retention)] == ["inhibition rule 1"]


def test_repeating_after_everything_is_forgotten_is_refused() -> None:
    document = loaded()
    document["route"]["routes"][0]["repeat_interval"] = "6d"
    found = complaints(document, "5d")
    assert [line.partition(" repeats")[2] for line in found] == [
        " after 6d, but what was sent is forgotten after 5d; set alertmanager.retention to 6d or more"
    ]


def test_short_retention_is_refused_with_the_setting_to_change() -> None:
    with pytest.raises(DeployError, match=r"set alertmanager\.retention to "):
        lint(replace(ARGS, retention="1s"), render(ARGS))


def test_missing_amtool_names_make_env(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(DeployError, match=r"amtool is not on PATH.*run `make env`"):
        lint(ARGS, render(ARGS))


def test_amtool_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "amtool"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(DeployError, match=r"`amtool check-config` did not finish within 0\.2 s"):
        amtool(["check-config"], tmp_path, timeout=0.2)
